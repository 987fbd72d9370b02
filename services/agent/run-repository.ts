import { defineError } from '../lib/service-error.ts'
import type { Protocol } from '../../schemas/agent.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { Clock } from '../lib/clock.ts'
import type { History } from './thread-history.ts'
import type { RawMessage } from './raw-message.ts'
import { joinDeltas } from '../run-log/join-deltas.ts'
import { createRunLog, LOG_LIMIT, segmentStart, type RunLog } from '../run-log/run-log.ts'
import type { Usage } from '../../schemas/usage.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { wholeUsage } from '../usage/usage-sums.ts'
import { runEventsKey, runEventsPrefix, runInputKey, runKey, threadRunsPrefix } from '../store/keys.ts'
import type { Op, Store } from '../store/store-types.ts'

/** The stored state of a run, apart from its events. It is written from the first approval on. */
export interface RunHead {
  runId: string
  threadId: string
  messageId: string
  /** The protocol of the client, which decides the format of the answer in the thread. */
  protocol?: Protocol
  cwd: string
  /** The options of the request that began the run; they apply to all its segments. */
  options?: RunOptions
  maxSteps: number
  createdAt: number
  updatedAt: number
  /** The newest segment, counted from 0. */
  segment: number
  /** Steps taken so far, over all segments. */
  steps: number
  /** The approval ids of the newest step that requested approvals. */
  asked: string[]
  /** The usage of all model calls. The meter of the run adds to this very object, which all copies of the head share. */
  usage: Usage
  /** How long the run had worked when it last requested approvals, milliseconds. */
  activeMs?: number
  /** Pending steering: it arrived after the last step and is for the first step after the approvals. */
  unheard?: string[]
  /** The positions of the run's messages in the thread; undefined if unknown. */
  history?: History
  /** The position of the answer's first message in the thread. */
  answerAt: number
  /** The number of stored chunks of events. */
  chunks: number
}

export interface Run {
  head: RunHead
  /** The messages of the request: the model's context. */
  messages: RawMessage[]
  log: RunLog
  /** The number of events of the log that are stored. */
  stored: number
  /** Settles when the user's message is in the thread on disk. */
  saved: Promise<void>
  /** Whether the run is on disk. From its first approval on, every step is stored. */
  durable: boolean
}

const RunTooLong = defineError(
  'ERR_RUN_TOO_LONG',
  'The run, with the outputs of its tools, grew beyond 32 MiB and was stopped. Split the request into smaller ones.'
)

/** Throws RunTooLong (ERR_RUN_TOO_LONG) if the log of a run is larger than LOG_LIMIT. */
export function checkLength ({ bytes }: Pick<RunLog, 'bytes'>): void {
  if (bytes > LOG_LIMIT) throw new RunTooLong()
}

/**
 * Stores the new events of the run in one transaction with `ops` and the events of `finalEvents`. Readers get `finalEvents` only after
 * the transaction is durable; if it fails, they get none of it.
 */
export async function commit (
  run: Run,
  { store, clock }: { store: Store, clock: Clock },
  { finalEvents = [], ops = [] }: { finalEvents?: RunEvent[], ops?: Op[] } = {}
) {
  const fresh = joinDeltas([...run.log.events.slice(run.stored), ...finalEvents])
  const head = { ...run.head, chunks: run.head.chunks + (fresh.length > 0 ? 1 : 0), updatedAt: clock.now() }
  const writes: Op[] = [{ type: 'put', key: runKey(head.runId), value: head }]
  if (fresh.length > 0) writes.push({ type: 'put', key: runEventsKey(head.runId, run.head.chunks), value: fresh })
  if (!run.durable) {
    writes.push({ type: 'put', key: runInputKey(head.runId), value: run.messages })
    writes.push({ type: 'put', key: threadRunsPrefix(store.digest(head.threadId)) + head.runId, value: { at: head.updatedAt } })
  }
  await store.transact([...writes, ...ops])
  run.head = head
  run.durable = true
  finalEvents.forEach(run.log.append)
  run.stored = run.log.events.length
}

/** Reads a stored run with its events; undefined if it is not stored. */
export async function loadRun (store: Store, runId: string): Promise<Run | undefined> {
  const head = await store.get<RunHead>(runKey(runId))
  const messages = await store.get<RawMessage[]>(runInputKey(runId))
  if (head === undefined || messages === undefined) return undefined
  const events: RunEvent[] = []
  for await (const [, chunk] of store.list<RunEvent[]>(runEventsPrefix(runId))) events.push(...chunk)
  return {
    head: { ...head, usage: wholeUsage(head.usage) },
    messages,
    log: createRunLog(events),
    stored: events.length,
    saved: Promise.resolve(),
    durable: true
  }
}

/** Returns the events of a completely stored segment; undefined if it has not begun or was interrupted. */
export function storedSegment ({ log }: Run, segment: number): readonly RunEvent[] | undefined {
  const start = segmentStart(log.events, segment)
  if (start === -1) return undefined
  const end = log.events.findIndex(({ type }, at) => at >= start && type === 'finish')
  return end === -1 ? undefined : log.events.slice(start, end + 1)
}
