import { defineError } from '../lib/service-error.ts'
import type { Protocol } from '../../schemas/agent.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { Clock } from '../lib/clock.ts'
import type { History } from './thread-history.ts'
import type { RawMessage } from './raw-message.ts'
import { withoutCutCall, withoutRepeatedSteps } from '../run-log/cut-steps.ts'
import { joinDeltas } from '../run-log/join-deltas.ts'
import { createRunLog, LOG_LIMIT, segmentStart, type RunLog } from '../run-log/run-log.ts'
import type { Usage } from '../../schemas/usage.ts'
import { openCalls, type EventOf, type RunEvent } from '../contracts/run-events.ts'
import { chatRunOps, newChatRunOps, type ChatRunSource } from '../runs/chat-run-record.ts'
import { wholeUsage } from '../usage/usage-sums.ts'
import { liveRunKey, runEventsKey, runEventsPrefix, runInputKey, runKey, threadRunsPrefix } from '../store/keys.ts'
import type { Op, Store } from '../store/store-types.ts'

/** How a run ended. `interrupted`: the service ended first. `cancelled`: stopped, left by its client, or superseded while it waited. */
export type RunEnd = 'completed' | 'failed' | 'cancelled' | 'interrupted'

/** The stored state of a run, apart from its events. */
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
  /** Present when the run has ended; a run without it executes or waits for approvals. The time is in epoch milliseconds. */
  end?: { status: RunEnd, at: number }
}

export interface Run {
  head: RunHead
  /** The messages of the request: the model's context. */
  messages: RawMessage[]
  log: RunLog
  /** The number of events of the log that are stored. */
  stored: number
  /** Settles when the user's message and the head of the run are on disk. */
  saved: Promise<void>
  /** Settles when the writes of the run that were begun have ended. */
  writing: Promise<void>
  /** Whether the request is on disk, too, so that the run can continue after a restart. True from its first wait on. */
  durable: boolean
  /** Whether the index of live runs has the run. */
  indexed: boolean
}

const RunTooLong = defineError(
  'ERR_RUN_TOO_LONG',
  'The run, with the outputs of its tools, grew beyond 32 MiB and was stopped. Split the request into smaller ones.'
)

/** Throws RunTooLong (ERR_RUN_TOO_LONG) if the log of a run is larger than LOG_LIMIT. */
export function checkLength ({ bytes }: Pick<RunLog, 'bytes'>): void {
  if (bytes > LOG_LIMIT) throw new RunTooLong()
}

/** Returns the operations that store a new run, in the transaction of its request. */
export const newRunOps = ({ head, messages, durable }: Run, { digest }: Pick<Store, 'digest'>): Op[] => [
  { type: 'put', key: runKey(head.runId), value: head },
  ...durable ? [{ type: 'put' as const, key: runInputKey(head.runId), value: messages }] : [],
  { type: 'put', key: threadRunsPrefix(digest(head.threadId)) + head.runId, value: { at: head.createdAt } },
  { type: 'put', key: liveRunKey(head.runId), value: {} },
  ...newChatRunOps({ head, events: [] }, { digest })
]

/** Returns the operations that end a waiting run, which a newer message superseded or, with `isStopped`, the user stopped. */
export const supersedeOps = (
  { head, log: { events } }: Run,
  { at, isStopped }: { at: number, isStopped: boolean },
  digest: Pick<Store, 'digest'>
): Op[] =>
  head.end !== undefined
    ? []
    : [
        { type: 'put', key: runKey(head.runId), value: { ...head, end: { status: 'cancelled', at } } },
        ...chatRunOps({ head, events: isStopped ? [...events, STOPPED] : events }, { status: 'cancelled', at }, digest)
      ]
const STOPPED: RunEvent = { type: 'abort', reason: 'stop' }

export interface RunWrite {
  /** Readers get these events only after the transaction is durable; if it fails, they get none of it. */
  finalEvents?: RunEvent[]
  ops?: Op[]
  /** The run waits for approvals from now on. */
  waits?: boolean
  /** The run ends. */
  end?: RunEnd
}

/** Stores the new events of the run in one transaction with `ops` and `finalEvents`, after the writes of the run that were begun before. */
export function commit (run: Run, deps: { store: Store, clock: Clock }, write: RunWrite = {}): Promise<void> {
  const written = run.writing.then(() => writeNow(run, deps, write))
  run.writing = written.catch(() => {})
  return written
}

async function writeNow (run: Run, { store, clock }: { store: Store, clock: Clock }, { finalEvents = [], ops = [], waits, end }: RunWrite) {
  const { log: { events, append }, durable } = run
  const upTo = events.length
  const at = clock.now()
  const fresh = joinDeltas([...newEvents(run, waits), ...finalEvents])
  const { end: _, ...head } = run.head
  const chunks = head.chunks + (fresh.length > 0 ? 1 : 0)
  const stored: RunHead = { ...head, chunks, updatedAt: at, ...(end && { end: { status: end, at } }) }
  const writes: Op[] = [{ type: 'put', key: runKey(head.runId), value: stored }]
  if (fresh.length > 0) writes.push({ type: 'put', key: runEventsKey(head.runId, head.chunks), value: fresh })
  if (waits && !durable) writes.push({ type: 'put', key: runInputKey(head.runId), value: run.messages })
  const isLive = !waits && end === undefined
  const key = liveRunKey(head.runId)
  if (isLive !== run.indexed) writes.push(isLive ? { type: 'put', key, value: {} } : { type: 'del', key })
  if (end !== undefined || isLive !== run.indexed) {
    const status = end ?? (waits ? 'pending_approval' : 'running')
    writes.push(...chatRunOps({ head, events: [...events, ...finalEvents] }, { status, at }, store))
  }
  await store.transact([...writes, ...ops])
  run.head = { ...run.head, chunks, updatedAt: at }
  run.durable ||= waits === true
  run.indexed = isLive
  finalEvents.forEach(append)
  // Events that arrived during a write without final events are not stored yet.
  run.stored = finalEvents.length > 0 ? events.length : upTo
}

/** Returns the events that are still to be stored. Only a run that may continue needs the context of its models, which is large. */
function newEvents ({ log: { events }, stored, durable }: Run, waits = false): RunEvent[] {
  const fresh = events.slice(stored).filter(({ type }) => type !== 'tool-progress')
  if (durable) return fresh
  const isContext = ({ type }: RunEvent) => type === 'context'
  return [...fresh.filter((event) => !isContext(event)), ...waits ? events.filter(isContext) : []]
}

/** Returns how an active run is shown. Its segment may be over already: its readers have got the end by then. */
export function activeChatRun ({ head, log: { events } }: Run, now: number): ChatRunSource & { status: RunStatus, at: number } {
  const last = events.at(-1)
  return { head, events, at: now, status: last?.type === 'finish' ? endOf(events, last) : 'running' }
}

/** Returns how the newest segment ended. */
function endOf (events: readonly RunEvent[], { finishReason }: EventOf<'finish'>): RunStatus {
  const before = events.at(-2)
  if (before?.type === 'abort') return before.reason === 'shutdown' ? 'interrupted' : 'cancelled'
  if (before?.type === 'error') return 'failed'
  return finishReason === 'tool-calls' && openCalls(events).length > 0 ? 'pending_approval' : 'completed'
}

/** Begins to store the new events of the run. Nothing waits for it: what could not be written is part of the next write. */
export function saveSoon (run: Run, deps: { store: Store, clock: Clock }): void {
  if (run.stored < run.log.events.length) commit(run, deps).catch(() => {})
}

/** Reads a stored run with its events; undefined if it is not stored. */
export async function loadRun (store: Pick<Store, 'get' | 'list'>, runId: string): Promise<Run | undefined> {
  const head = await store.get<RunHead>(runKey(runId))
  if (head === undefined) return undefined
  const messages = await store.get<RawMessage[]>(runInputKey(runId))
  const events: RunEvent[] = []
  for await (const [, chunk] of store.list<RunEvent[]>(runEventsPrefix(runId))) events.push(...chunk)
  return storedRun({ ...head, usage: wholeUsage(head.usage) }, messages, withoutRepeatedSteps(events))
}

/**
 * Reads a run to continue it; undefined if it is not stored with its request. A step whose model call was cut is left out, because the
 * model is called again for it.
 */
export async function loadWaitingRun (store: Pick<Store, 'get' | 'list'>, runId: string): Promise<Run | undefined> {
  const run = await loadRun(store, runId)
  if (!run?.durable) return undefined
  return storedRun(run.head, run.messages, withoutCutCall(run.log.events))
}

const storedRun = (head: RunHead, messages: RawMessage[] | undefined, events: readonly RunEvent[]): Run => ({
  head,
  messages: messages ?? [],
  log: createRunLog(events),
  stored: events.length,
  saved: Promise.resolve(),
  writing: Promise.resolve(),
  durable: messages !== undefined,
  indexed: false
})

/** Returns the events of a completely stored segment; undefined if it has not begun or was interrupted. */
export function storedSegment ({ log }: Run, segment: number): readonly RunEvent[] | undefined {
  const start = segmentStart(log.events, segment)
  if (start === -1) return undefined
  const end = log.events.findIndex(({ type }, at) => at >= start && type === 'finish')
  return end === -1 ? undefined : log.events.slice(start, end + 1)
}
