import type { Protocol } from '../../schemas/agent.ts'
import type { Stopped } from '../../schemas/stopped.ts'
import type { RunFailure } from '../../schemas/task-runs.ts'
import { abortKind, type AbortKind } from '../lib/abort.ts'
import { ServiceError } from '../lib/service-error.ts'
import {
  type ActiveRun,
  createRunLog,
  endsOfCutParts,
  endsOfLiveQuestions,
  failureOf,
  finishOf,
  intentsIn,
  itemsIn,
  type Run,
  steeringIn,
  steerOf,
  stoppedFor,
  stoppedShort,
  type ThreadRun,
  unansweredIn,
  whyEnded,
  withoutCutInputs
} from '../runs/index.ts'
import type { Op } from '../store/index.ts'
import { isBudgetError } from '../usage/index.ts'
import { OUTCOME_UNKNOWN } from '../contracts/model-texts.ts'
import { answerEvents, type EventOf, openCalls, type RunEvent } from '../contracts/run-events.ts'
import { isStoredAnswer, type RawMessage, steerMessage, storedForm, textOf, type ThreadMessage } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { continuedMessage } from './message-import.ts'
import { noTaskNotice } from './no-task-notice.ts'
import type { ConversationAttempt } from './conversation-state.ts'

/** Collaborators of the end of a run. */
export type EndDeps = Pick<AgentDeps, 'runs' | 'threads' | 'answers' | 'conversations' | 'log'>

/**
 * How a run of a conversation ends. `interrupted`: the service ended during the run. `cancelled`: the run's client left, or a newer message
 * superseded the run.
 */
type RunEnd = 'completed' | 'failed' | 'stopped' | 'cancelled' | 'interrupted'

/** What the record of an answer contains in addition to the log of its run. */
interface AnswerEnd {
  /** Events that are stored together with the answer. */
  finalEvents?: readonly RunEvent[]
  /** Events that close the answer and are not stored in the log, because the log might continue. */
  ends?: RunEvent[]
  /** See `StoredAnswer`. */
  isCut?: true
  /** The items that the run waits for. */
  asked?: string[]
}

/** Returns the message that an answer continues, in the form in which threads store it; undefined if the answer is a new message. */
function baseOf (messages: RawMessage[]): ThreadMessage | undefined {
  const last = messages.at(-1)
  if (last === undefined) return undefined
  if (isStoredAnswer(last)) return last.protocol === 'documented' ? undefined : last
  return continuedMessage(messages) === undefined ? undefined : storedForm(last)
}

/** Returns the protocol of an answer. A chat's message that the run continues stays a chat's message, whichever client continues it. */
function protocolOfAnswer (protocol: Protocol, base: ThreadMessage | undefined): Protocol {
  if (protocol !== 'documented' || base === undefined) return protocol
  return isStoredAnswer(base) ? base.protocol : 'ui'
}

/** Returns the operations that store the answer of a run, and the user's messages that no step has read, in the thread. */
export async function recordAnswer (
  { record, log, messages }: Pick<Run<ThreadRun>, 'record' | 'log' | 'messages'>,
  { threads, answers }: Pick<AgentDeps, 'threads' | 'answers'>,
  { finalEvents = [], ends = [], isCut, asked = itemsIn(finalEvents) }: AnswerEnd
): Promise<Op[]> {
  // A rehearsal leaves nothing in the thread.
  if (record.sheet !== undefined) return []
  const { runId, threadId, answerAt } = record
  const base = baseOf(messages)
  const protocol = protocolOfAnswer(record.protocol ?? 'documented', base)
  const events = [...log.events, ...finalEvents, ...ends]
  const answer = await answers.make({
    role: 'assistant',
    run: runId,
    protocol,
    base,
    isCut,
    ends: ends.length > 0 ? ends : undefined
  }, events)
  const unread = steeringIn(events).filter(({ state }) => state === 'unread')
    .map((event) => steerMessage(steerOf(event), protocol !== 'documented'))
  const written = answer === undefined ? unread : [answer, ...unread]
  return threads.appendAnswer(threadId, answerAt, written, asked.length > 0 ? { asked } : {})
}

/**
 * Ends a segment (the part of a run between two waits for a person): stores the answer and the events, and marks the guide (AGENTS.md or
 * CLAUDE.md) of the folder as known. Without `end`, the run then waits. Readers get the final events only when everything before these
 * events is on disk.
 */
export async function endSegment (
  run: Run<ThreadRun>,
  deps: Pick<AgentDeps, 'runs' | 'threads' | 'answers' | 'guides'>,
  { finalEvents, ops = [], end, failure }: { finalEvents: RunEvent[], ops?: Op[], end?: RunEnd, failure?: RunFailure }
) {
  await run.saved
  const { guide } = run.log.events.find((event) => event.type === 'context')?.context ?? {}
  if (guide !== undefined && run.record.sheet === undefined) await deps.guides.markKnown(guide)
  const answer = await recordAnswer(run, deps, { finalEvents })
  await deps.runs.commit(run, { finalEvents, ops: [...ops, ...answer], changes: failure && { failure }, status: end ?? 'pending_approval' })
}

/** The error of a call that had not begun when the service ended. */
const NOT_BEGUN = 'Not carried out: the service ended before this call began.'

/**
 * Returns the events that close everything that was cut in a run. Messages of the user that no step answered become unread. A call that had
 * begun gets an unknown outcome. A call that had not begun stays open if the run continues when the approval of the call is answered again.
 */
export function endsOfCut ({ log: { events }, durable }: Run<ThreadRun>): RunEvent[] {
  const begun = intentsIn(events)
  const cut = openCalls(events).filter(({ toolCallId }) => begun.has(toolCallId) || !durable)
  const outcomes = cut.map(({ toolCallId, toolName }): RunEvent => ({
    type: 'tool-error',
    toolCallId,
    toolName,
    errorText: begun.has(toolCallId) ? OUTCOME_UNKNOWN : NOT_BEGUN
  }))
  return [...endsOfCutParts(events), ...endsOfLiveQuestions(events), ...outcomes, ...unansweredIn(events)]
}

/**
 * Ends a run as interrupted. The thread shows what was done, and the model learns of the cut calls with the user's next message. The run
 * does not continue by itself; see `createCutRuns`.
 */
export async function interrupt (run: Run<ThreadRun>, deps: EndDeps): Promise<void> {
  await run.saved
  const { threadId, runId, sheet } = run.record
  if (sheet !== undefined) return deps.runs.commit(run, { status: 'interrupted' })
  const log = createRunLog(withoutCutInputs(run.log.events))
  const isBegun = log.events.some(({ type }) => type === 'step-start')
  const ends = [...endsOfCut(run), ...isBegun ? [finishOf(run.record, 'other', stoppedFor('interrupted'))] : []]
  const answer = await recordAnswer({ ...run, log }, deps, { ends, isCut: true })
  const conversation = await deps.conversations.get(threadId)
  await deps.runs.commit(run, { ops: [...answer, deps.conversations.asked(conversation, runId)], status: 'interrupted' })
}

/** Ends a run that has answered. `answer` is the structured answer, if the request asked for one. */
export async function finish ({ live }: ConversationAttempt, deps: AgentDeps, answer?: EventOf<'object'>) {
  const { run } = live
  const last = answerEvents(run.log.events).findLast((event) => event.type === 'step-finish')
  // The calls in the step that gave the structured answer are that answer, so such a run did not stop short.
  const stopped = answer === undefined ? stoppedShort(run.record, run.log.events) : undefined
  const isOther = stopped !== undefined && stopped.reason !== 'output-limit' && stopped.reason !== 'refused'
  const finishReason = answer !== undefined || last === undefined ? 'stop' : isOther ? 'other' : last.finishReason
  const end = finishOf(run.record, finishReason, stopped)
  const request = run.messages.findLast(({ role }) => role === 'user')
  const notices = await noTaskNotice(run.log.events, request === undefined ? '' : textOf(request, '\n'), deps.tasks)
  const finalEvents = [...notices, ...answer === undefined ? [] : [answer], end]
  return endSegment(run, deps, { finalEvents, end: 'completed' })
}

/** How a run ends after each kind of abort. After any other abort or failure, the run is `failed`. */
const ENDS: Partial<Record<AbortKind, RunEnd>> = { client: 'cancelled', stop: 'stopped', shutdown: 'interrupted' }
/** Why a run stopped short, for the aborts that leave an answer. */
const STOPPED: Partial<Record<AbortKind, Stopped>> = { client: stoppedFor('left'), stop: stoppedFor('user') }

/**
 * Ends a run that was aborted or failed, with the reason in its stream. A run that continued after an approval keeps its last stored step,
 * so that repeating the same answer continues from there, unless the user or a budget stopped the run, or the run did not give the
 * structured answer that was due. The thread gets the messages of the run in either case, except after a deletion.
 */
export async function endEarly (
  live: ActiveRun,
  error: unknown,
  deps: EndDeps & Pick<AgentDeps, 'guides'>
) {
  const { run } = live
  await live.endSteering()
  const kind = abortKind(error)
  const why = whyEnded(error, run.record.runId, deps.log)
  const end = kind === undefined ? 'failed' : ENDS[kind] ?? 'failed'
  const failure = end === 'failed' ? failureOf(error) : undefined
  const mayGoOn = run.durable && kind !== 'stop' && kind !== 'budget' && !isBudgetError(error) && !isWithoutObject(error)
  const finalEvents: RunEvent[] = [
    ...endsOfLiveQuestions(run.log.events),
    ...unansweredIn(run.log.events),
    why.type === 'error' && !mayGoOn ? { ...why, isEnd: true } : why,
    finishOf(run.record, why.type === 'error' ? 'error' : 'other', kind && STOPPED[kind])
  ]
  try {
    // Nothing new must be written to a deleted conversation. Only writes that have begun are awaited.
    if (kind === 'delete') await Promise.all([run.saved, run.writing])
    else if (end === 'interrupted') await interrupt(run, deps)
    else if (mayGoOn) {
      const ops = await recordAnswer(run, deps, { ends: endsOf(finalEvents) })
      await deps.runs.commit(run, { brokenBy: finalEvents, ops, changes: failure && { failure }, status: end })
    } else return await endSegment(run, deps, { finalEvents, end, failure })
  } catch (failed) {
    deps.log.error({ err: failed, runId: run.record.runId }, 'the end of a run could not be stored')
  }
  finalEvents.forEach(run.log.append)
}

/** Returns those of the final events that change what a thread shows of the run. */
const endsOf = (events: readonly RunEvent[]) => events.filter(({ type }) => type === 'question-closed' || type === 'steer')

const isWithoutObject = (error: unknown) => error instanceof ServiceError && error.code === 'ERR_OBJECT_INVALID'
