import { abortKind } from '../../lib/abort.ts'
import { type EventOf, reviewIn, type RunEvent } from '../../contracts/run-events.ts'
import { isAnswerCall } from '../answers/take-answer.ts'
import { joinDeltas } from '../run-log/join-deltas.ts'

// A review can ask for a second version of an answer. Readers get nothing of the second version until it is judged.

const VERSION = new Set<RunEvent['type']>([
  'text-start', 'text-delta', 'text-end', 'reasoning-start', 'reasoning-delta', 'reasoning-end'
])
const CALLS = new Set<RunEvent['type']>(['tool-input', 'tool-input-error'])
/** Events of a second version that readers get at once, while they wait. */
const TOLD = new Set<RunEvent['type']>(['waiting', 'notice', 'compaction'])

/** Whether an event of a second version is sent to readers at once. */
export const isToldAtOnce = ({ type }: RunEvent): boolean => TOLD.has(type)

/** Whether a step has calls that are shown to readers. */
const hasShownCalls = (step: readonly RunEvent[]): boolean => step.some((event) => CALLS.has(event.type) && !isAnswerCall(event))

/**
 * Returns the events of a step of a second version, and marks those that are held back from readers. Texts are held back, calls are shown.
 * A step without calls is held back as a whole.
 */
export function heldEvents (step: readonly RunEvent[]): RunEvent[] {
  const isWhole = !hasShownCalls(step)
  const answers = new Set(step.flatMap((event) => event.type === 'tool-input-start' && isAnswerCall(event) ? [event.toolCallId] : []))
  const isOfAnswer = (event: RunEvent) => event.type === 'tool-input-delta' && answers.has(event.toolCallId)
  return joinDeltas(step).map((event) =>
    isOfVersion(event, isWhole) || isOfAnswer(event) ? { ...event, isHeld: true } as RunEvent : event)
}

function isOfVersion (event: RunEvent, isWhole: boolean): boolean {
  return VERSION.has(event.type) || isAnswerCall(event) || (isWhole && (event.type === 'step-start' || event.type === 'step-finish'))
}

/** Returns the end of a step, marked as held back if the beginning of the step is. */
export function endOfStep<E extends RunEvent> (step: readonly RunEvent[], end: E): E {
  return step.some((event) => event.type === 'step-start' && event.isHeld) ? { ...end, isHeld: true } : end
}

/** Whether the reviewed answer remains valid if no second version comes: the review allows it, and no person has ended the run. */
export function mayFirstStand (events: readonly RunEvent[], { aborted, reason }: AbortSignal): boolean {
  const kind = abortKind(reason)
  return reviewIn(events)?.mayStand === true && (!aborted || kind === 'timeout' || kind === 'budget')
}

/** Returns the structured answer of the first version, which was reviewed; undefined if there is none. */
export function firstObject (events: readonly RunEvent[]): EventOf<'object'> | undefined {
  const object = reviewIn(events)?.object
  return object && { type: 'object', ...object }
}
