import type { Protocol } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import { type RunEvent, openCalls } from '../contracts/run-events.ts'
import {
  createRunLog,
  finishOf,
  type Run,
  segmentStart,
  storedSegment,
  subscribeToRecorded,
  type Subscription,
  type ThreadRun,
  wholeMessage,
  endsOfCutParts,
  endsOfLiveQuestions,
  intentsIn,
  unansweredIn,
  withoutCutInputs
} from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { recordAnswer } from './answer-record.ts'
import type { CutRuns } from './cut-runs.ts'
import { OUTCOME_UNKNOWN } from '../contracts/model-texts.ts'
import { findOfCall, isUnanswered, type ThreadItem } from '../contracts/approval-record.ts'
import { isDamage } from '../store/index.ts'

/** The result of a call that the service ended before it began. */
const NOT_BEGUN = 'Not carried out: the service ended before this call began.'

/** Names an earlier call for a model. */
const describeCall = ({ toolName, input }: { toolName: string, input: unknown }) =>
  `An earlier call of ${toolName} with ${JSON.stringify(input).slice(0, 500)}`

/**
 * Returns the events of a run that was cut, with ends for what was cut; what the user said and no step answered is unread. A call that had
 * begun has an unknown outcome. A call that had not begun stays open in a run that continues when its approval is answered again.
 */
function closedEvents ({ log: { events }, durable }: Run<ThreadRun>): RunEvent[] {
  const begun = intentsIn(events)
  const cut = openCalls(events).filter(({ toolCallId }) => begun.has(toolCallId) || !durable)
  const outcomes = cut.map(({ toolCallId, toolName }): RunEvent => ({
    type: 'tool-error',
    toolCallId,
    toolName,
    errorText: begun.has(toolCallId) ? OUTCOME_UNKNOWN : NOT_BEGUN
  }))
  return [...withoutCutInputs(events), ...endsOfCutParts(events), ...endsOfLiveQuestions(events), ...outcomes, ...unansweredIn(events)]
}

/**
 * Returns notes for the model about the calls with effects in the last segment of a run, if that was cut: the client's messages may
 * hold no result of them.
 */
export function cutCallNotes (run: Run<ThreadRun>): string[] {
  if (storedSegment(run, run.record.segment) !== undefined) return []
  const events = run.log.events.slice(segmentStart(run.log.events, run.record.segment))
  const begun = intentsIn(events)
  const carriedOut = new Set(
    events.flatMap((event) =>
      event.type === 'tool-output' || (event.type === 'tool-error' && event.errorText !== OUTCOME_UNKNOWN) ? [event.toolCallId] : []
    )
  )
  return run.log.events.flatMap((event) => {
    if (event.type !== 'tool-input' || !begun.has(event.toolCallId)) return []
    return carriedOut.has(event.toolCallId)
      ? `${describeCall(event)} was carried out, even if the conversation holds no result of it.`
      : `${describeCall(event)} was interrupted; its outcome is unknown. Check before doing it again.`
  })
}

/** Returns what the model is told of the items of a run that nobody answered before a new message superseded the run. */
export const supersededNotes = (items: readonly ThreadItem[]): string[] => items.flatMap((item) => noteOf(item, items) ?? [])

const shown = (value: unknown) => JSON.stringify(value).slice(0, 500)

function noteOf (item: ThreadItem, items: readonly ThreadItem[]): string | undefined {
  switch (item.kind) {
    case 'question':
      return item.state === 'pending' ? `The user did not answer ${shown(item.questions)} and said something else.` : undefined
    case 'app':
      if (isUnanswered(item)) {
        return `${describeCall(item)} was given to the application, which did not say how it ended. Check before doing it again.`
      }
      if (item.state !== 'done' && item.state !== 'error') return undefined
      return `${describeCall(item)} was executed by the application, with the result ${shown(item.output ?? item.errorText)}.`
    case 'tool':
      // An approved call of the application has two items; the one of the application says more.
      return (item.state === 'pending' || item.state === 'approved') && findOfCall(items, item.toolCallId).answer === undefined
        ? `${describeCall(item)} was not carried out: the user said something else instead of approving it.`
        : undefined
  }
}

const Interrupted = defineError(
  'ERR_INTERRUPTED',
  'The service ended while it answered. The conversation holds what was done until then; send a message to go on.'
)

type Deps = Pick<AgentDeps, 'runs' | 'threads' | 'conversations' | 'ledger' | 'log'>

/**
 * Ends a run as interrupted: its thread shows what was done, and the next message of the user tells the model about the calls that were
 * cut. Nothing continues by itself; see `createCutRuns`.
 */
export async function interrupt (run: Run<ThreadRun>, deps: Deps): Promise<void> {
  await run.saved
  const { threadId, runId, sheet } = run.record
  if (sheet !== undefined) return deps.runs.commit(run, { status: 'interrupted' })
  const answer = await recordAnswer({ ...run, log: createRunLog(closedEvents(run)) }, deps)
  const conversation = await deps.conversations.get(threadId)
  await deps.runs.commit(run, { ops: [...answer, deps.conversations.asked(conversation, runId)], status: 'interrupted' })
}

/** Replays the last segment of a run, in `ui` the whole message; an interrupted one ends with the interruption. */
export function replayRecorded (run: Run<ThreadRun>, protocol: Protocol = run.record.protocol ?? 'documented'): Subscription | undefined {
  const { record } = run
  const { messageId, threadId, runId, status } = record
  const events = status === 'interrupted' ? closedEvents(run) : run.log.events
  const first = segmentStart(events, record.segment)
  const replayed = protocol !== 'documented' ? wholeMessage(events, protocol) : first === -1 ? [] : events.slice(first)
  if (status !== 'interrupted') {
    return storedSegment(run, record.segment) && subscribeToRecorded(record, replayed, protocol)
  }
  const { code, message } = new Interrupted()
  const end: RunEvent[] = [
    { type: 'error', errorText: message, code },
    finishOf(record, 'error')
  ]
  // A run that was cut in its first step may have no stored events.
  const start: RunEvent[] = replayed.length > 0 ? [] : [{ type: 'start', messageId, threadId, runId }]
  return subscribeToRecorded(record, [...start, ...replayed, ...end], protocol)
}

/** The runs that are recovered at the same time. */
const AT_ONCE = 16

/**
 * Interrupts the runs of conversations that the last end of the service cut; they are found by the index of runs that execute, and noted in
 * `cutRuns`. A run whose events cannot be read any more is ended alone. Runs of tasks go on; their tasks recover them.
 */
export async function recoverRuns (deps: Deps & Pick<AgentDeps, 'store'>, cutRuns: CutRuns): Promise<void> {
  const { runs, store, log } = deps
  const cut: ThreadRun[] = []
  for await (const record of runs.live()) if (record.taskId === undefined) cut.push(record)

  const close = (record: ThreadRun) => store.transact(runs.end(runs.open(record, [], undefined), 'interrupted'))
  async function recover (record: ThreadRun): Promise<void> {
    const { runId } = record
    try {
      const run = await runs.load<ThreadRun>(runId)
      if (run === undefined) return await close(record)
      await interrupt(run, deps)
      cutRuns.add(run.record)
    } catch (error) {
      log.error({ err: error, runId }, 'a run that was cut could not be ended')
      if (isDamage(error)) await close(record)
    }
  }
  for (let at = 0; at < cut.length; at += AT_ONCE) await Promise.all(cut.slice(at, at + AT_ONCE).map(recover))
}
