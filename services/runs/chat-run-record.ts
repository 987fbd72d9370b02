import type { RunOptions } from '../../schemas/run-options.ts'
import type { Run } from '../../schemas/runs.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import type { RecordedUsage } from '../../schemas/usage.ts'
import { answerText, type EventOf, type RunEvent } from '../contracts/run-events.ts'
import { chatRunKey } from '../store/keys.ts'
import type { Op, Store } from '../store/store-types.ts'
import { CALL_SHOWN, toolCallsOf } from '../run-log/run-history.ts'
import { wholeUsage } from '../usage/usage-sums.ts'
import { indexNewRun, indexRun, unindexRun } from './run-index.ts'

/** A run of a conversation as it is kept, as long as its thread: what lists show, with its calls shortened. */
export interface ChatRunRecord extends Omit<Run, 'questions'> {
  threadId: string
  /** The ids of what it waits for. */
  asked?: string[]
}

/** What a run of a conversation is made of. */
export interface ChatRunSource {
  head: { runId: string, threadId: string, createdAt: number, options?: RunOptions, asked: string[], usage: RecordedUsage }
  events: readonly RunEvent[]
}

/** Why a run ended whose events do not say it. */
const REASONS: Partial<Record<RunStatus, string>> = {
  cancelled: 'A newer message came instead of an answer to what the run waited for.',
  interrupted: 'The service ended while the run was under way.'
}
const ABORTS: Record<string, string> = {
  client: 'The client went away.',
  stop: 'The run was stopped.',
  delete: 'The conversation was deleted.',
  shutdown: 'The service ended while the run was under way.'
}

const isOver = (status: RunStatus) => status !== 'queued' && status !== 'running' && status !== 'pending_approval'

/** Returns the run as it is shown, apart from what it asks. `limit` is the number of characters kept of each input and output. */
export function chatRun (
  { head: { runId, threadId, createdAt, options, asked, usage }, events }: ChatRunSource,
  { status, at, limit }: { status: RunStatus, at: number, limit?: number }
): ChatRunRecord {
  const toolCalls = toolCallsOf(events, limit)
  const object = lastOf(events, 'object')?.object
  const output = answerText(events) || (object === undefined ? '' : JSON.stringify(object))
  const evaluation = lastOf(events, 'evaluation')?.evaluation
  const { score, ...judged } = evaluation ?? {}
  const error = isOver(status) && status !== 'completed' ? reasonOf(events, status) : undefined
  return {
    runId,
    id: runId,
    threadId,
    trigger: 'message',
    status,
    queuedAt: createdAt,
    startedAt: createdAt,
    ...(isOver(status) && { completedAt: at, durationMs: Math.max(at - createdAt, 0) }),
    ...(output !== '' && { output }),
    ...(object && { object }),
    ...(error !== undefined && { error }),
    toolCalls,
    toolCount: toolCalls.length,
    ...(evaluation && score !== undefined && {
      qualityScore: score,
      evaluation: { ...judged, satisfied: evaluation.satisfied, issues: evaluation.issues, qualityScore: score }
    }),
    steering: steeringIn(events),
    usage: wholeUsage(usage),
    ...(options && { options }),
    attempts: 1,
    ...(status === 'pending_approval' && { asked })
  }
}

const lastOf = <T extends RunEvent['type']>(events: readonly RunEvent[], type: T) =>
  events.findLast((event): event is EventOf<T> => event.type === type)

function reasonOf (events: readonly RunEvent[], status: RunStatus): string | undefined {
  const segment = events.slice(events.findLastIndex(({ type }) => type === 'start'))
  const cause = segment.findLast((event) => event.type === 'error' || event.type === 'abort')
  if (cause?.type === 'error') return cause.errorText
  return (cause?.type === 'abort' ? ABORTS[cause.reason] : undefined) ?? REASONS[status]
}

/** The messages that came while the run executed, without those of the judge and those that ask again for the structured answer. */
function steeringIn (events: readonly RunEvent[]): string[] {
  const said: string[] = []
  let isJudged = false
  for (const event of events) {
    if (event.type === 'evaluation') isJudged = true
    if (event.type !== 'message' || event.isRetry) continue
    if (!isJudged) said.push(event.text)
    isJudged = false
  }
  return said
}

type Digest = Pick<Store, 'digest'>

const put = (record: ChatRunRecord, thread: string): Op => ({ type: 'put', key: chatRunKey(thread, record.runId), value: record })

/** Returns the operations that record a new run of a conversation. */
export function newChatRunOps (source: ChatRunSource, { digest }: Digest): Op[] {
  const { runId, threadId, createdAt } = source.head
  const thread = digest(threadId)
  return [put(chatRun(source, { status: 'running', at: createdAt }), thread), indexNewRun(runId, { thread })]
}

/** Returns the operations that record that a run of a conversation has ended, waits or goes on. */
export function chatRunOps (source: ChatRunSource, { status, at }: { status: RunStatus, at: number }, { digest }: Digest): Op[] {
  const thread = digest(source.head.threadId)
  return [put(chatRun(source, { status, at, limit: CALL_SHOWN }), thread), ...indexRun({ runId: source.head.runId, status }, { thread })]
}

/** Returns the operations that remove what is recorded of a run of a conversation. */
export const chatRunRemoval = (thread: string, runId: string): Op[] =>
  [{ type: 'del', key: chatRunKey(thread, runId) }, ...unindexRun(runId)]
