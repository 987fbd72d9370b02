import type { RunStatus } from '../../schemas/tasks.ts'
import { type RawMessage, storedForm } from '../threads/index.ts'
import type { Clock } from '../lib/clock.ts'
import { defineError } from '../lib/service-error.ts'
import { withoutCutCall, withoutRepeatedSteps } from './run-log/cut-steps.ts'
import { joinDeltas } from './run-log/join-deltas.ts'
import { createRunContexts, type StoredEvent } from './run-log/run-contexts.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { logTag, storedTag } from './run-log/event-position.ts'
import { createRunLog, LOG_LIMIT, segmentStart, type RunLog } from './run-log/run-log.ts'
import {
  type Op,
  type OwnerKind,
  provenanceKey,
  runEventsKey,
  runEventsPrefix,
  runInputKey,
  runKey,
  runStatesPrefix,
  type Store,
  taskInputKey,
  taskRunKey,
  threadRunKey,
  threadRunsPrefix,
  unlessDamaged,
  runStateKey
} from '../store/index.ts'
import type { UsageRepository } from '../usage/index.ts'
import { isOver, type RunRecord, type TaskRun, type ThreadRun } from './run-record.ts'
import { resultOf } from './run-view.ts'

/** The states in the index of all runs. `live`: the run is queued or executes. `waiting`: the run waits for a person or the application. */
export const INDEX_STATES = ['live', 'waiting', 'completed', 'rejected', 'failed', 'stopped', 'cancelled', 'interrupted'] as const
type IndexState = typeof INDEX_STATES[number]

export function indexStateOf (status: RunStatus): IndexState {
  if (status === 'queued' || status === 'running') return 'live'
  return status === 'pending_approval' ? 'waiting' : status
}

/** Returns the operation that adds a new run to the index of all runs. */
const indexNewRun = (runId: string): Op => ({ type: 'put', key: runStateKey('live', runId), value: {} })

/** Returns the operations that update the index of all runs when the status of a run might have changed. */
export const indexRun = ({ runId, status }: { runId: string, status: RunStatus }): Op[] =>
  INDEX_STATES.map((state) => {
    const key = runStateKey(state, runId)
    return state === indexStateOf(status) ? { type: 'put', key, value: {} } : { type: 'del', key }
  })

/** Returns the operations that move a run of a conversation from one state to another in the index of all runs. */
const moveInIndex = (runId: string, from: IndexState, to: IndexState): Op[] =>
  [{ type: 'del', key: runStateKey(from, runId) }, { type: 'put', key: runStateKey(to, runId), value: {} }]

/** Returns the operations that remove a run from the index of all runs. */
const unindexRun = (runId: string): Op[] => INDEX_STATES.map((state) => ({ type: 'del', key: runStateKey(state, runId) }))

/** A run in memory. */
export interface Run<R extends RunRecord = RunRecord> {
  record: R
  /**
   * The messages of the request, for a run of a conversation: the model's context. In a run that was loaded, the answers among them are
   * stored records.
   */
  messages: RawMessage[]
  log: RunLog
  /** The number of events of the log that are stored. */
  stored: number
  /** Settles when the user's message and the record of the run are on disk. */
  saved: Promise<void>
  /** Settles when all writes of the run that were started have ended. */
  writing: Promise<void>
  /**
   * Whether everything that the run needs to continue after a restart is on disk. For a run of a conversation, this is true once the run
   * has waited.
   */
  durable: boolean
  /** The state of the run in the index of all runs. */
  indexed: IndexState
}

const RunTooLong = defineError(
  'ERR_RUN_TOO_LONG',
  'The run, with the outputs of its tools, grew beyond 32 MiB and was stopped. Ask for less at a time.'
)

/** Throws RunTooLong (ERR_RUN_TOO_LONG) if the log of a run is larger than LOG_LIMIT. */
export function checkLength ({ bytes }: Pick<RunLog, 'bytes'>): void {
  if (bytes > LOG_LIMIT) throw new RunTooLong()
}

export interface RunWrite<R extends RunRecord = RunRecord> {
  /** Events that readers get only after the transaction is on disk. If it fails, they never get these events. */
  finalEvents?: RunEvent[]
  /** For a run that can still continue: the events of its interruption. The record is made with these events, but they are not stored. */
  brokenBy?: readonly RunEvent[]
  /** Changed fields of the record. They apply as soon as they are on disk. */
  changes?: Partial<R>
  ops?: Op[]
  /** The new status of the run; default: `running`. */
  status?: RunStatus
}

/** Returns the record of a run that continues, without fields of its earlier end. */
const withoutEnd = <R extends RunRecord>({ completedAt, durationMs, error, failure, stopped, ...record }: R) => record as unknown as R

export const kindOf = ({ taskId }: Pick<RunRecord, 'taskId'>): OwnerKind => taskId === undefined ? 'thread' : 'task'

/** Returns the operation that stores the record of a run. */
export const putRun = (record: RunRecord): Op => ({ type: 'put', key: runKey(record.runId), value: record })

export type RunRepository = ReturnType<typeof createRunRepository>

/** The stored runs of conversations and of tasks: one record for each run, and the run's events in the order in which they were written. */
export function createRunRepository ({ store, clock, usage, facts }: {
  store: Store,
  clock: Clock,
  /** Provides the model calls that were counted but not stored yet. */
  usage?: Pick<UsageRepository, 'take'>,
  /** Returns a line about what a run that worked in the folder `cwd` did. */
  facts: (events: readonly RunEvent[], cwd: string) => string
}) {
  /** The runs whose newest write says that they no longer execute: they have ended, or wait. */
  const leaving = new WeakSet<Run>()
  /** Events that are stored although events before them in the log are not. */
  const storedEarly = new WeakSet<RunEvent>()
  const contexts = createRunContexts(store)

  /** Reads the record of a run; undefined if there is none. */
  async function get<R extends RunRecord = RunRecord> (runId: string): Promise<R | undefined> {
    return store.get<R>(runKey(runId))
  }

  /** Reads the stored events of a run, with each step once. */
  async function events (kind: OwnerKind, runId: string): Promise<readonly RunEvent[]> {
    return withoutRepeatedSteps(await allEvents(kind, runId))
  }

  async function allEvents (kind: OwnerKind, runId: string): Promise<RunEvent[]> {
    const stored: RunEvent[] = []
    for await (const [, chunk] of store.list<StoredEvent[]>(runEventsPrefix(kind, runId))) {
      const read = await Promise.all(chunk.map((event) => contexts.read(kind, event)))
      stored.push(...read.filter((event) => event !== undefined))
    }
    return stored
  }

  /** Reads the stored events of a conversation's run, without the contexts of its models. */
  async function readSaid (runId: string): Promise<readonly RunEvent[]> {
    const { chunks = 0 } = await get(runId) ?? {}
    const read = (n: number) => store.get<StoredEvent[]>(runEventsKey('thread', runId, n))
    const stored = (await Promise.all(Array.from({ length: chunks }, (_, n) => read(n)))).flatMap((chunk) => chunk ?? [])
    return withoutRepeatedSteps(stored.filter((event) => event.type !== 'context'))
  }

  /** Reads a run with its events; undefined if there is no record, or if the events are not stored any more. */
  async function load<R extends RunRecord = RunRecord> (runId: string): Promise<Run<R> | undefined> {
    const record = await get<R>(runId)
    if (record === undefined) return undefined
    const all = await allEvents(kindOf(record), runId)
    const stored = withoutRepeatedSteps(all)
    if (stored.length === 0 && record.chunks > 0) return undefined
    const messages = record.taskId === undefined ? await store.get<RawMessage[]>(runInputKey(runId)) : []
    const isWhole = stored.length === all.length && record.status !== 'interrupted' && !record.crashes
    return open(record, stored, messages, isWhole ? logTag(runId) : storedTag(runId, stored.length))
  }

  /**
   * Makes a run in memory from a stored run. Without stored `messages`, a run of a conversation cannot be continued. A run of a task has no
   * messages.
   */
  const open = <R extends RunRecord>(
    record: R,
    stored: readonly RunEvent[],
    messages: RawMessage[] | undefined,
    tag?: string
  ): Run<R> => ({
      record,
      messages: messages ?? [],
      log: createRunLog(stored, tag),
      stored: stored.length,
      saved: Promise.resolve(),
      writing: Promise.resolve(),
      durable: messages !== undefined,
      indexed: indexStateOf(record.status)
    })

  /** Returns the events that are not stored yet. */
  const newEvents = ({ log, stored }: Run): RunEvent[] =>
    log.events.slice(stored).filter((event) =>
      event.type !== 'tool-progress' && event.type !== 'waiting' && event.type !== 'notice' && !storedEarly.has(event)
    )

  async function writeNow<R extends RunRecord> (
    run: Run<R>,
    { finalEvents = [], brokenBy = [], changes = {}, ops = [], status = 'running' }: RunWrite<R>
  ) {
    const { log, durable } = run
    const upTo = log.events.length
    const waits = status === 'pending_approval'
    const fresh = joinDeltas([...newEvents(run), ...finalEvents])
    const { runId, taskId, chunks } = run.record
    // A task's run gets its result in the `changes` that end it.
    const result = status === 'running' || taskId !== undefined
      ? {}
      : conversationResult(run.record, [...log.events, ...finalEvents, ...brokenBy], status)
    const named = await contexts.name(runId, fresh)
    const written = {
      ...changes,
      ...result,
      status,
      chunks: chunks + (fresh.length > 0 ? 1 : 0),
      ...named.ids.length > 0 && { contexts: [...new Set([...run.record.contexts ?? [], ...named.ids])] }
    }
    const record: R = { ...run.record, ...written }
    const writes: Op[] = [putRun(record), ...named.ops]
    if (fresh.length > 0) writes.push({ type: 'put', key: runEventsKey(kindOf(record), runId, chunks), value: named.stored })
    if (waits && !durable) writes.push({ type: 'put', key: runInputKey(runId), value: run.messages.map(storedForm) })
    const indexed = indexStateOf(status)
    if (indexed !== run.indexed) {
      writes.push(...taskId === undefined ? moveInIndex(runId, run.indexed, indexed) : indexRun({ runId, status }))
    }
    const counted = usage?.take() ?? { ops: [], written: <T>(write: Promise<T>) => write }
    await counted.written(store.transact([...writes, ...counted.ops, ...ops])).finally(named.written)
    run.record = { ...run.record, ...written }
    run.durable ||= waits
    run.indexed = indexed
    // Events that arrived during the write are not stored yet.
    run.stored = upTo
    for (const event of finalEvents) {
      if (run.stored === log.events.length) run.stored++
      else storedEarly.add(event)
      log.append(event)
    }
  }

  /** Returns the result of a conversation's run, with a line about what the run did. */
  const conversationResult = (record: RunRecord, events: readonly RunEvent[], status: RunStatus) =>
    ({ ...resultOf(events, { record, status, at: clock.now() }), facts: facts(events, record.cwd) })

  /**
   * Stores the new events of the run in one transaction with `ops` and `finalEvents`, after all writes of the run that were started before.
   */
  function commit<R extends RunRecord> (run: Run<R>, write: RunWrite<R> = {}): Promise<void> {
    if (write.status === undefined || write.status === 'running') leaving.delete(run)
    else leaving.add(run)
    const written = run.writing.then(() => writeNow(run, write))
    run.writing = written.catch(() => {})
    return written
  }

  /** Returns the operations that remove runs with their events, but not the entries of the runs in the index of their owner. */
  async function recordRemoval (kind: OwnerKind, ...runIds: string[]): Promise<Op[]> {
    const ops: Op[] = []
    const uses = []
    for (const runId of runIds) {
      const keys = [runKey(runId), runInputKey(runId), taskInputKey(runId), provenanceKey(runId)]
      for await (const key of store.keys(runEventsPrefix(kind, runId))) keys.push(key)
      ops.push(...keys.map((key): Op => ({ type: 'del', key })), ...unindexRun(runId))
      uses.push({ runId, contexts: (await unlessDamaged(get(runId)))?.contexts ?? [] })
    }
    return [...ops, ...await contexts.release(uses)]
  }

  return {
    get,
    events,
    readSaid,
    load,
    open,
    commit,
    facts,

    /** Starts to store the new events of the run. Nobody waits for the write. If it fails, the events are part of the next write. */
    saveSoon (run: Run): void {
      // After the write that ends the run, another write would give it the status `running` for ever.
      if (!leaving.has(run) && run.stored < run.log.events.length) commit(run).catch(() => {})
    },

    /**
     * Reads a run to continue it; undefined if the messages of its request are not stored with it. With `isCut`, for a run that was cut
     * when the service was killed, these messages can be in the thread only. A step whose model call was interrupted is left out, because
     * the model is called again for it.
     */
    async loadToContinue<R extends RunRecord = RunRecord> (runId: string, { isCut = false } = {}): Promise<Run<R> | undefined> {
      const run = await load<R>(runId)
      if (run === undefined || !(run.durable || isCut)) return undefined
      const kept = withoutCutCall(run.log.events)
      const isWhole = !isCut && run.log.tag === logTag(runId) && kept.length === run.log.events.length
      return open(withoutEnd(run.record), kept, run.durable ? run.messages : undefined, isWhole ? run.log.tag : undefined)
    },

    /** Returns the operations that store a new run of a conversation, in the transaction of its request. */
    add: ({ record, messages, durable, log }: Run<ThreadRun>): Op[] => [
      putRun(record),
      // A lone `start` event contains nothing that the record does not.
      ...record.chunks === 0 ? [] : [{ type: 'put' as const, key: runEventsKey('thread', record.runId, 0), value: log.events }],
      ...durable ? [{ type: 'put' as const, key: runInputKey(record.runId), value: messages.map(storedForm) }] : [],
      { type: 'put', key: threadRunKey(store.digest(record.threadId), record.runId), value: {} },
      indexNewRun(record.runId)
    ],

    /** Returns the operations that store the record of a run of a task, in a transaction of its task. */
    put: (record: TaskRun): Op[] => [
      putRun(record),
      ...record.status === 'queued'
        ? [{ type: 'put' as const, key: taskRunKey(record.taskId, record.runNumber), value: { runId: record.runId } }]
        : [],
      ...indexRun(record)
    ],

    /**
     * Returns the operations that end a conversation's run that does not execute. `event` is the reason, if the stored events do not
     * contain it.
     */
    end ({ record, log }: Run<ThreadRun>, status: RunStatus, event?: RunEvent): Op[] {
      if (isOver(record)) return []
      const ended = { ...record, ...conversationResult(record, [...log.events, ...event ? [event] : []], status), status }
      return [putRun(ended), ...indexRun(ended)]
    },

    recordRemoval,
    sweepContexts: contexts.sweep,

    /** Returns the operations that remove runs of a conversation with their events. */
    async threadRemoval (threadId: string, runIds: string[]): Promise<Op[]> {
      const keys = runIds.map((runId) => threadRunKey(store.digest(threadId), runId))
      return [...await recordRemoval('thread', ...runIds), ...keys.map((key): Op => ({ type: 'del', key }))]
    },

    /** Returns the operations that remove a run of a task with its events. */
    taskRemoval: async ({ runId, taskId, runNumber }: Pick<TaskRun, 'runId' | 'taskId' | 'runNumber'>): Promise<Op[]> =>
      [...await recordRemoval('task', runId), { type: 'del', key: taskRunKey(taskId, runNumber) }],

    /** Yields the ids of the runs of a conversation, newest first, from the one before the run `before` on. */
    async * ofThread (threadId: string, before?: string): AsyncGenerator<string> {
      const prefix = threadRunsPrefix(store.digest(threadId))
      const options = { reverse: true, damaged () {}, ...(before !== undefined && { after: prefix + before }) }
      for await (const [key] of store.list(prefix, options)) yield key.slice(prefix.length)
    },

    /**
     * Yields the records of the runs that execute according to the index, including those that were interrupted when the service last
     * ended. Damaged records are left out.
     */
    async * live (): AsyncGenerator<RunRecord> {
      const prefix = runStatesPrefix('live')
      for await (const key of store.keys(prefix)) {
        const record = await unlessDamaged(get(key.slice(prefix.length)))
        if (record !== undefined) yield record
      }
    }
  }
}

/**
 * Returns the events of a segment (the part of a run between two waits for a person) that is stored to its end; undefined if it has not
 * begun or was interrupted.
 */
export function storedSegment ({ log }: Pick<Run, 'log'>, segment: number): readonly RunEvent[] | undefined {
  const start = segmentStart(log.events, segment)
  if (start === -1) return undefined
  const end = log.events.findIndex(({ type }, at) => at >= start && type === 'finish')
  return end === -1 ? undefined : log.events.slice(start, end + 1)
}
