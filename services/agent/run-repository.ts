import { createError } from '@fastify/error'
import type { Protocol } from '../../schemas/agent.ts'
import type { Clock } from '../lib/clock.ts'
import type { History } from './thread-history.ts'
import type { RawMessage } from './raw-message.ts'
import { joinDeltas } from '../run-log/join-deltas.ts'
import { createRunLog, LOG_LIMIT, segmentStart, type RunLog } from '../run-log/run-log.ts'
import type { RunEvent, Usage } from '../run-log/run-events.ts'
import { historyKey } from '../store/record-names.ts'
import type { Op, Store } from '../store/store-types.ts'

/** What is stored of a run beside its events. It is written from the first approval on. */
export interface RunHead {
  runId: string
  threadId: string
  messageId: string
  /** How its client reads it, and so how its answer is kept in the thread. */
  protocol?: Protocol
  cwd: string
  maxSteps: number
  createdAt: number
  updatedAt: number
  /** The newest segment, counted from 0. */
  segment: number
  /** Steps taken so far, over all segments. */
  steps: number
  /** The approvals of the newest step that asked. */
  asked: string[]
  usage: Usage
  /** What the user said to the run after its last step, for the one that follows the approvals. */
  unheard?: string[]
  /** Where in the thread its messages stand; undefined when nobody knows. */
  history?: History
  /** Where the answer begins in the thread. */
  answerAt: number
  /** How many chunks of events are stored. */
  chunks: number
}

export interface Run {
  head: RunHead
  /** The request's messages as they came: the model's context. */
  messages: RawMessage[]
  log: RunLog
  /** How many events of the log are stored. */
  stored: number
  /** Settles when what the user said is in the thread, on disk. */
  saved: Promise<void>
  /** Whether the run is on disk: from its first approval on, every step is. */
  durable: boolean
}

const RunTooLong = createError(
  'ERR_RUN_TOO_LONG',
  'The run, with what its tools answered, grew beyond 32 MiB and was stopped. Ask for less at a time.'
)

/** Throws RunTooLong once a run has said more than is kept of one. */
export function checkLength ({ bytes }: Pick<RunLog, 'bytes'>): void {
  if (bytes > LOG_LIMIT) throw new RunTooLong()
}

export const runKey = (runId: string) => `run/${runId}`
/** Beside each run, so that those of a thread are found. */
export const threadRunsPrefix = (store: Pick<Store, 'digest'>, threadId: string) => `thread-run/${store.digest(threadId)}/`
export const inputKey = (runId: string) => `run-input/${runId}`

/**
 * Makes the run on disk what its log says, together with `ops` and with the events of `tail`, which are announced
 * to readers only once all of it is durable. On an error nothing was announced.
 */
export async function commit (
  run: Run,
  { store, clock }: { store: Store, clock: Clock },
  { tail = [], ops = [] }: { tail?: RunEvent[], ops?: Op[] } = {}
) {
  const fresh = joinDeltas([...run.log.events.slice(run.stored), ...tail])
  const head = { ...run.head, chunks: run.head.chunks + (fresh.length > 0 ? 1 : 0), updatedAt: clock.now() }
  const writes: Op[] = [{ type: 'put', key: runKey(head.runId), value: head }]
  if (fresh.length > 0) writes.push({ type: 'put', key: historyKey('run', head.runId, run.head.chunks), value: fresh })
  if (!run.durable) {
    writes.push({ type: 'put', key: inputKey(head.runId), value: run.messages })
    writes.push({ type: 'put', key: threadRunsPrefix(store, head.threadId) + head.runId, value: { at: head.updatedAt } })
  }
  await store.transact([...writes, ...ops])
  run.head = head
  run.durable = true
  tail.forEach(run.log.append)
  run.stored = run.log.events.length
}

/** A stored run with its events; undefined when it is gone. */
export async function loadRun (store: Store, runId: string): Promise<Run | undefined> {
  const head = await store.get<RunHead>(runKey(runId))
  const messages = await store.get<RawMessage[]>(inputKey(runId))
  if (head === undefined || messages === undefined) return undefined
  const events: RunEvent[] = []
  for await (const [, chunk] of store.list<RunEvent[]>(`${runKey(runId)}/`)) events.push(...chunk)
  return { head, messages, log: createRunLog(events), stored: events.length, saved: Promise.resolve(), durable: true }
}

/** The events of a segment that is stored to its end; undefined when it has not begun or was cut off. */
export function storedSegment ({ log }: Run, segment: number): readonly RunEvent[] | undefined {
  const start = segmentStart(log.events, segment)
  if (start === -1) return undefined
  const end = log.events.findIndex(({ type }, at) => at >= start && type === 'finish')
  return end === -1 ? undefined : log.events.slice(start, end + 1)
}
