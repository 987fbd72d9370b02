import { defineError, type ServiceError } from '../../lib/service-error.ts'
import { ANSWER_TOOL, LATE_OPENING, NOTE_OPENING } from '../../contracts/model-texts.ts'
import { newestStep, newestText, openCalls, type EventOf, type RunEvent } from '../../contracts/run-events.ts'
import type { Problem } from './compile-object-schema.ts'
import { inWords, type ObjectAnswer, type Reading } from './object-answer.ts'

const VALUE_SHOWN = 2_000

const AnswerDoesNotFit = defineError(
  'ERR_OBJECT_INVALID',
  'The model gave no object that fits options.object.schema, in %d attempts: %s. The last one was %s'
)

const TAKEN: Record<string, unknown> = { accepted: true }
const NOT_TAKEN = 'The answer was not taken, because another call of this step did not succeed. Read its result, then call answer again.'
const MISSING = `${NOTE_OPENING} This run has not given its answer to the application yet. Call the tool ${ANSWER_TOOL} now, with the ` +
  'whole object.]'

/** The effect of a step on the structured answer of its run. */
interface TakenStep {
  /** The outcomes of the calls of the tool `answer`. */
  outcomes: RunEvent[]
  /** The structured answer; undefined if the run has not given it yet. */
  answer?: EventOf<'object'>
  /** The message that asks the model for the answer again. */
  retry?: EventOf<'message'>
}

/** Whether an event belongs to a call of the tool `answer`. */
export const isAnswerCall = (event: object): boolean => 'toolName' in event && event.toolName === ANSWER_TOOL

/**
 * Takes the structured answer from the newest step, after all other calls of the step have their outcomes. If one of these calls did not
 * succeed, the answer is not taken. Each answer that does not fit the schema is a failed attempt at the answer, and so is a step that ends
 * the run without an answer that fits. If there are more failed attempts than retries, an earlier fitting answer of the run counts. If
 * there is none, throws AnswerDoesNotFit (ERR_OBJECT_INVALID).
 */
export function takeAnswer (events: readonly RunEvent[], owed: ObjectAnswer, { isLast }: { isLast: boolean }): TakenStep {
  const newest = newestStep(events)
  const given = openCalls(newest).filter(isAnswerCall)
  const others = newest.filter((event) => !isAnswerCall(event))
  const attempts = failedAttempts(events)
  const settle = (end: (call: EventOf<'tool-input'>) => RunEvent): RunEvent[] => given.map(end)

  if (given.length > 0 && !isLast && others.some(isFailure)) {
    return { outcomes: settle(({ toolCallId, toolName }) => ({ type: 'tool-error', toolCallId, toolName, errorText: NOT_TAKEN })) }
  }
  const reading = readStep(newest, given, owed, isWithoutTools(events))
  if (reading !== undefined && 'object' in reading) {
    return {
      outcomes: settle(({ toolCallId, toolName }) => ({ type: 'tool-output', toolCallId, toolName, output: TAKEN })),
      answer: { type: 'object', object: reading.object, attempts: attempts + 1 }
    }
  }
  const isOver = isLast || !others.some(({ type }) => type === 'tool-input' || type === 'tool-input-error')
  const hasTold = newest.some((event) => event.type === 'tool-input-error' && isAnswerCall(event))
  if (!isOver && !hasTold) return { outcomes: [] }
  // The error of an answer that does not fit already counts as a failed attempt.
  const failed = attempts + (hasTold ? 0 : 1)
  if (failed > owed.retries) return earlierAnswer(events, owed, failed) ?? fail(reading, failed)
  return { outcomes: [], ...(!hasTold && { retry: { type: 'message', text: noteOf(reading), isRetry: true } }) }
}

/**
 * Reads the answer of a step; undefined if the step has none. In a run without tools, the text is the answer. In other runs, an object that
 * fits the schema in the text of a step without calls also counts.
 */
function readStep (
  step: readonly RunEvent[],
  given: ReadonlyArray<EventOf<'tool-input'>>,
  owed: ObjectAnswer,
  isText: boolean
): Reading | undefined {
  if (isText) return owed.readText(newestText(step))
  const calls = step.filter((event) => (event.type === 'tool-input' || event.type === 'tool-input-error') && isAnswerCall(event))
  if (!step.some(({ type }) => type === 'tool-input' || type === 'tool-input-error')) return owed.findInText(newestText(step))
  const last = given.at(-1) ?? calls.at(-1)
  return last !== undefined && 'input' in last ? owed.read(last.input) : undefined
}

const isWithoutTools = (events: readonly RunEvent[]): boolean =>
  events.find((event) => event.type === 'context')?.context.tools.length === 0

const isFailure = ({ type }: RunEvent): boolean => type === 'tool-error' || type === 'tool-denied' || type === 'tool-input-error'

/** Counts the steps with an answer that did not fit, and the steps after which the answer was requested again. */
function failedAttempts (events: readonly RunEvent[]): number {
  let count = 0
  let isCounted = false
  for (const event of events) {
    if (event.type === 'step-start') isCounted = false
    const isFailed = (event.type === 'tool-input-error' && isAnswerCall(event)) ||
      (event.type === 'message' && event.isRetry === true && !event.text.startsWith(LATE_OPENING))
    if (!isFailed || isCounted) continue
    isCounted = true
    count++
  }
  return count
}

/**
 * Returns the newest answer of the run that was taken before; undefined if there is none. There can be one if a refinement or a message of
 * the user asked for another answer.
 */
function earlierAnswer (events: readonly RunEvent[], owed: ObjectAnswer, attempts: number): TakenStep | undefined {
  const taken = events.findLast((event) => event.type === 'tool-output' && isAnswerCall(event))
  if (taken?.type !== 'tool-output') return undefined
  const call = events.find((event) => event.type === 'tool-input' && event.toolCallId === taken.toolCallId)
  const reading = call?.type === 'tool-input' ? owed.read(call.input) : undefined
  return reading && 'object' in reading ? { outcomes: [], answer: { type: 'object', object: reading.object, attempts } } : undefined
}

const noteOf = (reading: Reading | undefined): string =>
  reading === undefined || 'object' in reading
    ? MISSING
    : `${NOTE_OPENING} This is not the object that the application needs: ${inWords(reading.problems)}. Write the whole JSON object ` +
      'again, and nothing else.]'

function fail (reading: Reading | undefined, attempts: number): never {
  const { problems, given } = reading !== undefined && 'problems' in reading ? reading : { problems: NO_ANSWER, given: undefined }
  const error: ServiceError = new AnswerDoesNotFit(attempts, inWords(problems), given === undefined ? 'a text.' : shortJson(given))
  error.details = problems
  throw error
}

const NO_ANSWER: Problem[] = [{ path: '/', message: 'the run ended without an object' }]
const shortJson = (value: unknown): string => {
  const text = JSON.stringify(value) ?? ''
  return text.length > VALUE_SHOWN ? `${text.slice(0, VALUE_SHOWN)}…`.toWellFormed() : text
}
