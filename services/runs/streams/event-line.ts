import { PLAN_TOOL } from '../../contracts/model-texts.ts'
import type { EventOf } from '../../contracts/run-events.ts'
import { steerOf } from '../run-log/steering.ts'

/** Returns one event of a Server-Sent Events stream. Fields that are undefined are left out. */
export const eventLine = (data: object) => `data: ${JSON.stringify(data)}\n\n`

/** The id of the part that holds the version of an answer that took the place of its text. */
export const REVISION_PART = 'revision'
/** The id of the part that holds the plan of a run. */
export const PLAN_PART = 'plan'
const BROKE_OFF = 'The answer broke off and is asked for again.'
/**
 * The try of a step broke off: what is open is closed, and readers drop what came since the last `start-step`. Another one follows. No
 * call of it looks as if it had an input, because chat clients would act on it.
 */
export const retryLine = ({ attempt, reason, dropped, open }: EventOf<'retry'>, withIds: boolean) =>
  open.map((part) =>
    part.kind === 'call'
      ? eventLine({ type: 'tool-input-error', toolCallId: part.id, toolName: part.toolName, input: {}, errorText: BROKE_OFF })
      : eventLine({ type: `${part.kind}-end`, id: part.id })
  ).join('') +
  eventLine({ type: 'data-retry', data: { attempt, reason, dropped: withIds ? dropped : undefined } }) +
  eventLine({ type: 'finish-step' })
/** The plan that a call has shown, as a part of its own: a later one replaces it. */
export const planLine = ({ toolName, output }: EventOf<'tool-output'>) =>
  toolName === PLAN_TOOL ? eventLine({ type: 'data-plan', id: PLAN_PART, data: output }) : ''
export const stoppedLine = ({ stopped }: EventOf<'finish'>) =>
  stopped === undefined ? '' : eventLine({ type: 'data-stopped', data: stopped })

type Shared =
  'step-finish' | 'tool-input-start' | 'tool-input-delta' | 'task' | 'compaction' | 'steer' | 'waiting' | 'notice' | 'analysis' |
  'context' | 'evaluation' | 'revision' | 'message' | 'tool-intent' | 'aside'

/** Renders an event that is the same in every protocol. What is transient is shown, and kept nowhere. */
export function sharedLine (event: EventOf<Shared>): string {
  switch (event.type) {
    case 'step-finish':
      return eventLine({ type: 'finish-step' })
    case 'tool-input-start':
      return eventLine({ type: 'tool-input-start', toolCallId: event.toolCallId, toolName: event.toolName })
    case 'tool-input-delta':
      return eventLine({ type: 'tool-input-delta', toolCallId: event.toolCallId, inputTextDelta: event.delta })
    case 'task':
      return eventLine({ type: 'data-task', id: event.task.taskId, data: event.task })
    case 'compaction':
    case 'waiting':
    case 'notice': {
      const { type, ...data } = event
      return eventLine({ type: `data-${type}`, data, transient: true })
    }
    // What the user said is transient while it waits, so that it stands where a step reads it.
    case 'steer': {
      const data = steerOf(event)
      return eventLine({ type: 'data-steer', ...data.state === 'waiting' ? { data, transient: true } : { id: data.id, data } })
    }
    case 'revision':
      return eventLine({ type: 'data-revision', id: REVISION_PART, data: { text: event.text } })
    case 'analysis':
    case 'context':
    case 'evaluation':
    case 'message':
    case 'tool-intent':
    case 'aside':
      return ''
  }
}
