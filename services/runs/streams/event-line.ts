import { PLAN_TOOL } from '../../contracts/model-texts.ts'
import type { EventOf } from '../../contracts/run-events.ts'
import { steerOf } from '../run-log/steering.ts'

/** Returns one event of a Server-Sent Events stream. Fields that are undefined are left out. */
export const eventLine = (data: object) => `data: ${JSON.stringify(data)}\n\n`

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
/** Transient: it is shown, and kept nowhere. */
export const transientLine = ({ type, ...data }: EventOf<'waiting' | 'notice'>) =>
  eventLine({ type: `data-${type}`, data, transient: true })
/** What the user said to the run. While it waits it is transient, so that it stands where a step reads it. */
export function steerLine (event: EventOf<'steer'>) {
  const data = steerOf(event)
  return eventLine({ type: 'data-steer', ...data.state === 'waiting' ? { data, transient: true } : { id: data.id, data } })
}
export const stoppedLine = ({ stopped }: EventOf<'finish'>) =>
  stopped === undefined ? '' : eventLine({ type: 'data-stopped', data: stopped })
/** Renders a compaction, the same in every protocol: clients accept data parts of any name and keep no transient ones. */
export const compactionLine = ({ type, ...data }: EventOf<'compaction'>) => eventLine({ type: 'data-compaction', data, transient: true })
