import type { Stopped } from '../../../schemas/stopped.ts'
import { LATE_OPENING, NOTE_OPENING } from '../../contracts/model-texts.ts'
import { answerEvents, newestStep, type RunEvent } from '../../contracts/run-events.ts'
import type { RunRecord } from '../run-record.ts'

// Reasons to stop a run before its model has finished, the texts about them for model and user, and other notes to the model.

/** The note after a call, or a cycle of calls, that was made three times with the same result. */
export const REPEATED =
  `${NOTE_OPENING} You made the same call three times, or the same few calls in turn, and got the same each time. Do something else, or ` +
  'say what is missing. The run stops if you go on like this.]'
/** The note after an answer without text and calls. */
const EMPTY_ANSWER = `${NOTE_OPENING} Your last answer held no text. Answer now, or go on with the work.]`
const UNREAD_OPENING = `${NOTE_OPENING} Your last answer ended with what looks like a tool call, and it could not be read, so nothing ran`
/** The note after a call that was written as text and cannot be read. */
const unreadCall = (text: string) =>
  `${UNREAD_OPENING}:\n${text}\n\nIf you meant a call, make it again: with the tool calls of your API, or as the end of your answer in ` +
  'this form, with the name of a tool that you have and its arguments as JSON:\n<tool_call>{"name": "…", "arguments": {…}}</tool_call>\n' +
  'Else give your answer again, without it.]'
/** If an answer of the user took longer than this, the model gets a note about it; milliseconds. */
export const LATE_MS = 60 * 60 * 1000
/** Returns the note after a late answer of the user, because the facts and the date might have changed. `now`: epoch milliseconds. */
export function lateAnswer (waitedMs: number, now: number): string {
  const hours = Math.round(waitedMs / LATE_MS)
  const waited = hours < 48 ? `${hours} ${hours === 1 ? 'hour' : 'hours'}` : `${Math.round(hours / 24)} days`
  const time = new Date(now).toString()
  return `${LATE_OPENING} ${waited}. It is now ${time}. What you found before may have changed: look again where it matters.]`
}

const SENTENCES: Record<Exclude<Stopped['reason'], 'failed'>, string> = {
  steps: 'The run has used all its steps. Let it go on, or give it more steps at once.',
  repeating: 'The model made the same calls again and again, with the same results, so the run was stopped. Say what it should do instead.',
  'no-progress': 'None of the calls of the last eight steps could be carried out, so the run was stopped. Say what it should do instead, ' +
    'or choose another model.',
  'looping-text': 'The model wrote the same again and again, so its answer was cut off. Ask in other words, or choose another model.',
  'output-limit': 'The answer is not complete: it reached the greatest length of one answer. Let the run go on, or ask for less at once.',
  empty: 'The model answered nothing, also when it was asked again. Ask in other words, or choose another model.',
  'unread-call': 'The model wrote a tool call that could not be read, also when it was asked again, so nothing was done. Choose another ' +
    'model, or check the chat template of its server.',
  refused: 'The model, or its provider, refused to answer this. Ask in other words, or choose another model.',
  user: 'You stopped the run.',
  interrupted: 'The service ended during this answer. Let the run go on.',
  left: 'The app that read this answer went away, so the run was stopped. Let the run go on.'
}

export const stoppedFor = (reason: keyof typeof SENTENCES): Stopped => ({ reason, text: SENTENCES[reason] })

const CALLS: ReadonlySet<RunEvent['type']> = new Set(['tool-input', 'tool-input-error'])
const hasCalls = (step: readonly RunEvent[]) => step.some(({ type }) => CALLS.has(type))
const hasText = (step: readonly RunEvent[]) => step.some((event) => event.type === 'text-delta' && event.delta.trim() !== '')
const reasonOf = (step: readonly RunEvent[]) => step.findLast((event) => event.type === 'step-finish')?.finishReason

/** Whether the newest step contains neither text nor calls. */
function isEmptyAnswer (events: readonly RunEvent[]): boolean {
  const step = newestStep(events)
  return step[0]?.type === 'step-start' && !hasCalls(step) && !hasText(step)
}

const unreadIn = (step: readonly RunEvent[]): string | undefined => step.findLast((event) => event.type === 'step-finish')?.unreadCall

/**
 * Returns the note that asks the model again after an empty answer or an answer that ended with an unreadable call; undefined for other
 * answers, and if the same note was sent just before.
 */
export function askAgain (events: readonly RunEvent[]): string | undefined {
  const unread = unreadIn(newestStep(events))
  if (unread === undefined && !isEmptyAnswer(events)) return undefined
  const before = events.slice(0, events.findLastIndex(({ type }) => type === 'step-start'))
  const opening = unread === undefined ? EMPTY_ANSWER : UNREAD_OPENING
  if (newestStep(before).some((event) => event.type === 'message' && event.text.startsWith(opening))) return undefined
  return unread === undefined ? EMPTY_ANSWER : unreadCall(unread)
}

/** The number of steps in a row without a call that was valid and allowed to run, after which a run is stopped. */
const FRUITLESS_STEPS = 8

/** Whether the newest FRUITLESS_STEPS steps all made calls, but none of these calls was valid and allowed to run. */
export function isFruitless (events: readonly RunEvent[]): boolean {
  let steps = 0
  let isCalled = false
  const denied = new Set<string>()
  for (let at = events.length - 1; at >= 0 && steps < FRUITLESS_STEPS; at--) {
    const event = events[at]
    if (event.type === 'tool-denied') denied.add(event.toolCallId)
    if (event.type === 'tool-input' && !denied.has(event.toolCallId)) return false
    isCalled ||= CALLS.has(event.type)
    if (event.type !== 'step-start') continue
    if (!isCalled) return false
    steps++
    isCalled = false
  }
  return steps === FRUITLESS_STEPS
}

/** Whether each of the two newest steps was cut off inside a call, because the answer reached its greatest length. */
export function isCutTwice (events: readonly RunEvent[]): boolean {
  const starts = events.flatMap(({ type }, at) => type === 'step-start' ? [at] : []).slice(-2)
  const steps = starts.map((start, n) => events.slice(start, starts[n + 1]))
  return steps.length === 2 && steps.every((step) => reasonOf(step) === 'length' && step.some(({ type }) => type === 'tool-input-error'))
}

/** Returns why a run that ends with these events stopped early; undefined if the model has answered. */
export function stoppedShort ({ steps, maxSteps, endsFor }: RunRecord, all: readonly RunEvent[]): Stopped | undefined {
  const events = answerEvents(all)
  // The first version of an answer is reviewed only if steps are left.
  const isWhole = events === all
  if (isWhole && endsFor !== undefined) return stoppedFor(endsFor)
  if (isWhole && steps > maxSteps) return stoppedFor('steps')
  const step = newestStep(events)
  if (step[0]?.type !== 'step-start') return undefined
  const end = step.findLast((event) => event.type === 'step-finish')
  if (end?.isLooping) return stoppedFor('looping-text')
  const finishReason = end?.finishReason
  if (finishReason === 'length') return stoppedFor('output-limit')
  if (finishReason === 'content-filter') return stoppedFor('refused')
  if (unreadIn(step) !== undefined) return stoppedFor('unread-call')
  return isEmptyAnswer(events) ? stoppedFor('empty') : undefined
}
