import { PLAN_TOOL } from '../../contracts/model-texts.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { steerOf } from '../run-log/steering.ts'

/** The data of one Server-Sent Event (SSE) of a stream. Fields that are undefined are left out. */
export interface Chunk {
  type: string
  [field: string]: any
}

/** Encodes an event for the clients of one protocol. Streams send the chunks, and threads show the message that the chunks make. */
export type Encode = (event: RunEvent) => Chunk[]

/** Returns the text of one Server-Sent Event. */
export const eventLine = (data: object) => `data: ${JSON.stringify(data)}\n\n`

/** The id of the part with the second version of an answer, which replaces the first version. */
const REVISION_PART = 'revision'
/** The id of the part that holds the plan of a run. */
const PLAN_PART = 'plan'
/** The id of the part that holds the structured answer of a run. */
const OBJECT_PART = 'object'
const BROKE_OFF = 'The answer broke off and is asked for again.'

/**
 * Returns the chunks that report that an attempt at a step broke off and another attempt follows. All open parts are closed, and readers
 * drop the parts since the last `start-step`. Calls are closed with an error and without their input, because chat clients would execute
 * them otherwise.
 */
export const retryChunks = ({ attempt, reason, dropped, open }: EventOf<'retry'>, withIds: boolean): Chunk[] => [
  ...open.map((part) =>
    part.kind === 'call'
      ? { type: 'tool-input-error', toolCallId: part.id, toolName: part.toolName, input: {}, errorText: BROKE_OFF }
      : { type: part.kind === 'text' ? 'text-end' : 'reasoning-end', id: part.id }
  ),
  { type: 'data-retry', data: { attempt, reason, dropped: withIds ? dropped : undefined } },
  { type: 'finish-step' }
]
/** Returns the plan that a call has shown, as a data part of its own. A later plan replaces it. */
export const planChunks = ({ toolName, output }: EventOf<'tool-output'>): Chunk[] =>
  toolName === PLAN_TOOL ? [{ type: 'data-plan', id: PLAN_PART, data: output }] : []
export const stoppedChunks = ({ stopped }: EventOf<'finish'>): Chunk[] =>
  stopped === undefined ? [] : [{ type: 'data-stopped', data: stopped }]
export const objectChunk = ({ object, attempts }: EventOf<'object'>): Chunk =>
  ({ type: 'data-object', id: OBJECT_PART, data: { object, attempts } })

type Shared =
  'step-finish' | 'tool-input-start' | 'tool-input-delta' | 'task' | 'compaction' | 'steer' | 'waiting' | 'notice' | 'analysis' |
  'context' | 'evaluation' | 'revision' | 'message' | 'tool-intent' | 'aside'

/** Encodes an event whose chunks are the same in every protocol. Chat clients show transient parts, but do not keep them. */
export function sharedChunks (event: EventOf<Shared>): Chunk[] {
  switch (event.type) {
    case 'step-finish':
      return [{ type: 'finish-step' }]
    case 'tool-input-start':
      return [{ type: 'tool-input-start', toolCallId: event.toolCallId, toolName: event.toolName }]
    case 'tool-input-delta':
      return [{ type: 'tool-input-delta', toolCallId: event.toolCallId, inputTextDelta: event.delta }]
    case 'task':
      return [{ type: 'data-task', id: event.task.taskId, data: event.task }]
    case 'compaction':
      return [transientChunk('data-compaction', event)]
    case 'waiting':
      return [transientChunk('data-waiting', event)]
    case 'notice':
      return [transientChunk('data-notice', event)]
    // A message of the user is transient while it waits, so that the message is kept only at the place where a step reads it.
    case 'steer': {
      const data = steerOf(event)
      return [{ type: 'data-steer', ...data.state === 'waiting' ? { data, transient: true } : { id: data.id, data } }]
    }
    case 'revision':
      return [{ type: 'data-revision', id: REVISION_PART, data: { text: event.text } }]
    case 'analysis':
    case 'context':
    case 'evaluation':
    case 'message':
    case 'tool-intent':
    case 'aside':
      return []
  }
}

const transientChunk = (name: string, { type, ...data }: RunEvent): Chunk => ({ type: name, data, transient: true })
