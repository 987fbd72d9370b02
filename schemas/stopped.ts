import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'

/** The reason why a run ended before its model said that it was done. */
export const StoppedSchema = Type.Object({
  reason: oneOf([
    'steps', 'repeating', 'no-progress', 'looping-text', 'output-limit', 'empty', 'unread-call', 'refused', 'user', 'interrupted',
    'left', 'failed'
  ], {
    description: 'steps: its steps are used up; repeating: it made the same calls again and again; no-progress: none of ' +
      'its calls in eight steps could be carried out; looping-text: it wrote the same again and again; output-limit: an answer, or the ' +
      'input of a call, was longer than the model may answer; empty: the model said nothing, also when asked again; unread-call: it ' +
      'wrote a tool call as text that cannot be read, also when asked again; refused: the model or its provider refused; user: the ' +
      'user stopped it; interrupted: the service ended; failed: an error ended it (both in messages only); left: its client went away'
  }),
  text: Type.String({ description: 'The same in a sentence for people, with what to do' })
}, { $id: 'Stopped', additionalProperties: false, description: 'Why a run ended before its model said that it was done' })
export type Stopped = Static<typeof StoppedSchema>
