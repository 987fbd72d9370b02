import type { Protocol } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import {
  createRunLog,
  type EventPosition,
  findAfter,
  finishOf,
  type Run,
  type RunLog,
  segmentStart,
  storedSegment,
  subscribeToSegment,
  type Subscription,
  type ThreadRun,
  intentsIn,
  withoutCutInputs
} from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { type EndDeps, endsOfCut, interrupt } from './end-run.ts'
import type { CutRuns } from './cut-runs.ts'
import { OUTCOME_UNKNOWN } from '../contracts/model-texts.ts'
import { findOfCall, isUnanswered, type ThreadItem } from '../contracts/approval-record.ts'
import { isDamage } from '../store/index.ts'

/** Describes an earlier call for a model. */
const describeCall = ({ toolName, input }: { toolName: string, input: unknown }) =>
  `An earlier call of ${toolName} with ${JSON.stringify(input).slice(0, 500)}`

/**
 * Returns notes for the model about the calls with effects in the last segment (the part since the last wait for a person) of a run that
 * was cut, because the client's messages might lack the results of these calls.
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

/** Returns notes for the model about items of a run that were still unanswered when a new message superseded the run. */
export const supersededNotes = (items: readonly ThreadItem[]): string[] => items.flatMap((item) => noteOf(item, items) ?? [])

const shortJson = (value: unknown) => JSON.stringify(value).slice(0, 500)

function noteOf (item: ThreadItem, items: readonly ThreadItem[]): string | undefined {
  switch (item.kind) {
    case 'question':
      if (item.budget !== undefined) return undefined
      return item.state === 'pending' ? `The user did not answer ${shortJson(item.questions)} and said something else.` : undefined
    case 'app':
      if (isUnanswered(item)) {
        return `${describeCall(item)} was given to the application, which did not say how it ended. Check before doing it again.`
      }
      if (item.state !== 'done' && item.state !== 'error') return undefined
      return `${describeCall(item)} was executed by the application, with the result ${shortJson(item.output ?? item.errorText)}.`
    case 'tool':
      // An approved call of the application has two items. The note about the item of kind `app` says more.
      return (item.state === 'pending' || item.state === 'approved') && findOfCall(items, item.toolCallId).answer === undefined
        ? `${describeCall(item)} was not carried out: the user said something else instead of approving it.`
        : undefined
  }
}

const Interrupted = defineError(
  'ERR_INTERRUPTED',
  'The service ended while it answered. The conversation holds what was done until then; send a message, or "continue", to go on.'
)

/** Returns the log of a stored run as readers get it. For an interrupted run, events that report the interruption are added at the end. */
function logToRead (run: Run<ThreadRun>): RunLog {
  const { record, log } = run
  if (record.status !== 'interrupted') return log
  const { messageId, threadId, runId, segment } = record
  const { code, message } = new Interrupted()
  // If a run was cut in the first step of a segment, its stored events can lack the beginning of that segment.
  const start: RunEvent[] = segmentStart(log.events, segment) === -1 ? [{ type: 'start', messageId, threadId, runId }] : []
  const end: RunEvent[] = [{ type: 'error', errorText: message, code }, finishOf(record, 'error')]
  return createRunLog([...withoutCutInputs(log.events), ...start, ...endsOfCut(run), ...end], log.tag)
}

/**
 * Replays the last segment of a run (in the protocol `ui`, the whole message). With `after`, the position of the last event that the reader
 * has received, replays only later events. Returns undefined if there are none, or if the end of the segment is not stored.
 */
export function replayRecorded (run: Run<ThreadRun>, protocol?: Protocol, after?: EventPosition): Subscription | undefined {
  const { record } = run
  const log = logToRead(run)
  const resumed = after && findAfter(log.events, after, log.tag)
  const isRead = resumed?.next === log.events.length && resumed.rest.length === 0
  if (isRead || (resumed === undefined && storedSegment({ log }, record.segment) === undefined)) return undefined
  return subscribeToSegment(record, log, record.segment, { protocol, isWhole: true, after })
}

/** The number of runs that are recovered at the same time. */
const AT_ONCE = 16

/**
 * Ends the runs of conversations that were cut when the service last ended, as interrupted, and records these runs in `cutRuns`. The index
 * of executing runs lists them. A run whose events are damaged is ended without its events. Runs of tasks are left out: tasks recover their
 * own runs.
 */
export async function recoverRuns (deps: EndDeps & Pick<AgentDeps, 'store'>, cutRuns: CutRuns): Promise<void> {
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
