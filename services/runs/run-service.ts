import { NOBODY_ANSWERED } from '../contracts/model-texts.ts'
import { messagesPrefix, type Store, THREAD_RUNS, threadKey, threadRunKey, runStatesPrefix, unlessDamaged } from '../store/index.ts'
import { type RunRepository, putRun, INDEX_STATES, indexRun, indexStateOf } from './run-repository.ts'
import type { Run, RunListQuery } from '../../schemas/runs.ts'
import { isOfThread, type Approval, type ThreadApproval } from '../contracts/approval-record.ts'
import { type Ledger, questionView } from '../approvals/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { ActiveRun } from './engine/active-run.ts'
import type { ActiveRuns } from './engine/active-runs.ts'
import { timeOfId } from '../lib/ids.ts'
import { takePage } from '../lib/pages.ts'
import { isOver, type TaskRun, type ThreadRun } from './run-record.ts'
import { threadRunView } from './run-view.ts'
import { CALL_SHOWN } from './tool-calls.ts'
import type { StreamEvent } from '../../schemas/events.ts'
import { defineError } from '../lib/service-error.ts'
import { runsOfAnswer, type ThreadMessage } from '../threads/index.ts'

const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'There is no run "%s". GET /runs lists them.')
export const TwoOwners = defineError('ERR_BAD_REQUEST', 'Give threadId or taskId, not both: a run belongs to one of them.')
const TooManyWaits = defineError(
  'ERR_TOO_MANY_WAITS',
  'There are already %d requests that wait for runs. Ask without waitMs, or read GET /events.'
)

/** The most requests that can wait at the same time. */
const MAX_WAITS = 256

/** Whether a waiting request reads the run again after this event. */
const isNews = ({ type }: StreamEvent) => type === 'run:end' || type === 'approval:open' || type === 'tool-call:open'

interface Wait {
  /** The longest wait, milliseconds. */
  ms: number
  /** Ends the wait. */
  signal: AbortSignal
}

interface RunNews {
  onEvent(listener: (event: StreamEvent) => void): () => void
}

/** Lets requests wait for runs. */
function createRunWaits ({ clock, events }: { clock: Clock, events: RunNews }) {
  const closing = new AbortController()
  let waits = 0

  return {
    /**
     * Reads a run until `isSettled` accepts the value that `read` returns: once at the start, and again after each event that might have
     * changed the run. When the time has passed, the signal aborts or the service ends, resolves to the last value that was read. Throws
     * TooManyWaits (429).
     */
    async until<T> (runId: string, read: () => Promise<T>, isSettled: (value: T) => boolean, { ms, signal }: Wait): Promise<T> {
      if (waits === MAX_WAITS) throw new TooManyWaits(MAX_WAITS)
      waits++
      let news = Promise.withResolvers<void>()
      // Listens before the first reading, so that no change is missed.
      const unsubscribe = events.onEvent((event) => {
        if ('runId' in event && event.runId === runId && isNews(event)) news.resolve()
      })
      const over = new AbortController()
      const end = AbortSignal.any([signal, closing.signal, over.signal])
      const late = clock.sleep(ms, end).catch(() => {}).then(() => true)
      try {
        for (;;) {
          const value = await read()
          if (isSettled(value)) return value
          if (await Promise.race([late, news.promise.then(() => false)])) return await read()
          news = Promise.withResolvers()
          // An event is emitted before the run that wrote it has finished its own work, so the run gets time for that first.
          await new Promise(setImmediate)
        }
      } finally {
        unsubscribe()
        over.abort('answered')
        waits--
      }
    },

    /** Ends every wait. */
    close: () => closing.abort('closing')
  }
}

interface Entry {
  runId: string
}

/**
 * Merges lists that are each sorted by run id, newest first, into one such list. A run that is in several lists is yielded once. Each list
 * is read only as far as needed.
 */
async function * newestFirst<T extends Entry> (lists: Array<AsyncIterable<T> | Iterable<T>>): AsyncGenerator<T> {
  const readers = lists.map((list) => Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]())
  try {
    const heads = await Promise.all(readers.map(async (reader) => await reader.next()))
    for (let last: string | undefined; ;) {
      let first = -1
      for (const [at, { done, value }] of heads.entries()) {
        if (!done && (first === -1 || value.runId > (heads[first].value as T).runId)) first = at
      }
      if (first === -1) return
      const entry = heads[first].value as T
      heads[first] = await readers[first].next()
      if (entry.runId === last) continue
      last = entry.runId
      yield entry
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.return?.()))
  }
}

/** The most runs of each conversation that are kept, in addition to those whose answers the conversation contains. */
const MAX_RUNS = 1_000
/** How long a rehearsal whose conversation does not exist is kept, milliseconds. */
const REHEARSED_MS = 86_400_000

/** Returns the ids of the runs whose answers a thread contains, including answers that were replaced. */
async function runsNamedIn (store: Pick<Store, 'list'>, thread: string): Promise<Set<string>> {
  const named = new Set<string>()
  for await (const [, record] of store.list<ThreadMessage>(messagesPrefix(thread), { damaged () {} })) {
    for (const run of runsOfAnswer(record)) named.add(run)
  }
  return named
}

/**
 * Removes the oldest runs of each conversation with more than MAX_RUNS, except runs whose answers the conversation contains. Also removes
 * all runs of conversations that do not exist any more, except recent rehearsals.
 */
async function sweepThreadRuns (
  { store, clock, runs }: { store: Pick<Store, 'keys' | 'list' | 'get' | 'transact'>, clock: Clock, runs: RunRepository },
  signal?: AbortSignal
): Promise<void> {
  let thread: string | undefined
  let runIds: string[] = []

  async function removeOld () {
    if (thread === undefined) return
    const isThere = await store.get(threadKey(thread)) !== undefined
    const named = isThere && runIds.length > MAX_RUNS ? await runsNamedIn(store, thread) : new Set()
    const others = runIds.filter((runId) => !named.has(runId))
    for (const runId of isThere ? others.slice(0, Math.max(others.length - MAX_RUNS, 0)) : runIds) {
      if (!isThere && await isFreshRehearsal(runId)) continue
      await store.transact([...await runs.recordRemoval('thread', runId), { type: 'del', key: threadRunKey(thread, runId) }])
    }
  }

  /** Whether a run is a recent rehearsal: the first message of a conversation can be rehearsed before the conversation exists. */
  async function isFreshRehearsal (runId: string) {
    return timeOfId(runId) >= clock.now() - REHEARSED_MS && (await unlessDamaged(runs.get(runId)))?.trigger === 'rehearsal'
  }

  for await (const key of store.keys(THREAD_RUNS)) {
    signal?.throwIfAborted()
    const [next, runId] = key.slice(THREAD_RUNS.length).split('/')
    if (next !== thread) {
      await removeOld()
      thread = next
      runIds = []
    }
    runIds.push(runId)
  }
  await removeOld()
}

/**
 * The state of the items that a run has requested. `isWaiting`: some item can still be answered. `isUnanswered`: no item of the newest
 * segment (the part of the run since it last continued) was answered. `open`: the open approvals.
 */
interface Asked {
  isWaiting: boolean
  isUnanswered: boolean
  open: ThreadApproval[]
}

/** The states of items without an answer. If such an item is not open, it is overdue. */
const UNANSWERED = ['pending', 'open', 'expired']

interface RunServiceParts {
  store: Store
  clock: Clock
  runs: RunRepository
  ledger: Pick<Ledger, 'all' | 'isOpen'>
  /** Returns the ids of the open approvals of a run. */
  openOf: (runId: string) => string[]
  activeRuns: Pick<ActiveRuns, 'all' | 'ofRun'>
  agent: { undisturbed<T>(threadId: string, work: () => Promise<T>): Promise<T> }
  tasks: {
    shownRun(run: TaskRun): Promise<Run>,
    shownRuns(taskId: string, after?: string): AsyncIterable<Run>,
    wholeRun(runId: string): Promise<Run | undefined>
  }
  events: RunNews
}

export type RunService = ReturnType<typeof createRunService>

/** The runs of conversations and of tasks, in one shape. */
export function createRunService ({ store, clock, runs, activeRuns, ledger, openOf, agent, tasks, events }: RunServiceParts) {
  const waits = createRunWaits({ clock, events })
  const activeRun = (runId: string) => activeRuns.ofRun(runId)?.run

  /**
   * Reads the state of the items that a conversation's run has requested. Only the items of the newest segment decide whether the run was
   * answered.
   */
  async function questions ({ runId, asked, segment }: Pick<ThreadRun, 'runId' | 'asked' | 'segment'>): Promise<Asked> {
    const items: Approval[] = await ledger.all([...new Set([...asked, ...openOf(runId)])])
    const open = items.filter(ledger.isOpen)
    const isUnanswered = items.filter((item) => item.segment === segment).every(({ state }) => UNANSWERED.includes(state))
    return { isWaiting: open.length > 0, isUnanswered, open: open.filter(isOfThread) }
  }

  const askedNow = async (record: ThreadRun): Promise<Asked> =>
    record.status === 'pending_approval' ? questions(record) : { isWaiting: false, isUnanswered: false, open: [] }

  /**
   * Returns the public form of a run that does not execute. A run that waits only for items that cannot be answered any more is shown as
   * ended.
   */
  function viewOf (record: ThreadRun, { isWaiting, isUnanswered, open }: Asked): Run {
    const run = threadRunView(record, { questions: isWaiting ? open.map(questionView) : [], now: clock.now() })
    if (run.status !== 'pending_approval' || isWaiting) return run
    return {
      ...run,
      ...isUnanswered
        ? { status: 'rejected', error: NOBODY_ANSWERED }
        : { status: 'interrupted', error: 'The run did not go on after the answer.' }
    }
  }

  const viewActive = async ({ record, log: { events } }: ActiveRun['run'], limit?: number): Promise<Run> =>
    threadRunView(record, { questions: (await questions(record)).open.map(questionView), events, limit, now: clock.now() })

  /**
   * Returns the public form of a run that did not execute when its record was read. If none of its items can be answered any more, the run
   * might be about to continue after an answer, so it is read again while nothing else can change it.
   */
  async function shownThreadRun (record: ThreadRun, limit?: number): Promise<Run> {
    const asked = await askedNow(record)
    if (record.status !== 'pending_approval' || asked.isWaiting) return viewOf(record, asked)
    return agent.undisturbed(record.threadId, async () => {
      const active = activeRun(record.runId)
      if (active !== undefined) return viewActive(active, limit)
      const current = await unlessDamaged(runs.get<ThreadRun>(record.runId)) ?? record
      return viewOf(current, await askedNow(current))
    })
  }

  /** Reads a run in a shortened form; undefined if it is removed or damaged. */
  async function read (runId: string): Promise<Run | undefined> {
    const active = activeRun(runId)
    if (active !== undefined) return viewActive(active, CALL_SHOWN)
    const record = await unlessDamaged(runs.get(runId))
    if (record === undefined) return undefined
    return record.taskId === undefined ? shownThreadRun(record, CALL_SHOWN) : tasks.shownRun(record)
  }

  /** Ends a waiting run if nobody answered its items in time. */
  async function endUnanswered (runId: string): Promise<void> {
    const record = activeRun(runId) === undefined ? await unlessDamaged(runs.get<ThreadRun>(runId)) : undefined
    if (record?.status !== 'pending_approval') return
    const { status, error } = viewOf(record, await questions(record))
    if (status !== 'rejected') return
    const completedAt = clock.now()
    const ended = { ...record, status, error, completedAt, durationMs: Math.max(completedAt - record.startedAt, 0) }
    await store.transact([putRun(ended), ...indexRun(ended)])
  }

  async function * entries (prefix: string, cursor?: string): AsyncGenerator<{ runId: string }> {
    const options = { reverse: true, damaged () {}, ...(cursor !== undefined && { after: prefix + cursor }) }
    for await (const [key] of store.list(prefix, options)) yield { runId: key.slice(prefix.length) }
  }

  async function * ofThread (threadId: string, cursor?: string): AsyncGenerator<Run> {
    for await (const runId of runs.ofThread(threadId, cursor)) {
      const run = await read(runId)
      if (run !== undefined) yield run
    }
  }

  /**
   * Yields all runs, or those that might have the status, newest first. Waiting runs are always included, because only their items show
   * whether they have ended.
   */
  async function * all (status: Run['status'] | undefined, cursor?: string): AsyncGenerator<Run> {
    const states = status === undefined ? INDEX_STATES : [...new Set(['live', 'waiting', indexStateOf(status)])]
    // An interrupted run that continues is active before the index says so.
    const active = activeRuns.all().map(({ run: { record: { runId } } }) => ({ runId }))
      .filter(({ runId }) => cursor === undefined || runId < cursor)
      .sort((a, b) => a.runId < b.runId ? 1 : -1)
    for await (const { runId } of newestFirst([active, ...states.map((state) => entries(runStatesPrefix(state), cursor))])) {
      const run = await read(runId)
      if (run !== undefined) yield run
    }
  }

  /** Returns a run by its id. Throws RunUnknown (404). */
  async function find (runId: string): Promise<Run> {
    const active = activeRun(runId)
    if (active !== undefined) return viewActive(active)
    const record = await runs.get(runId)
    if (record === undefined) throw new RunUnknown(runId)
    if (record.taskId !== undefined) {
      const run = await tasks.wholeRun(runId)
      if (run === undefined) throw new RunUnknown(runId)
      return run
    }
    const run = await shownThreadRun(record)
    const events = await unlessDamaged(runs.events('thread', runId))
    if (events === undefined || events.length === 0) return run
    return { ...run, toolCalls: threadRunView(record, { questions: [], events, now: clock.now() }).toolCalls }
  }

  return {
    /** Lists runs, newest first, one page at a time. Throws TwoOwners (400). */
    async list ({ threadId, taskId, status, limit, cursor }: RunListQuery): Promise<{ runs: Run[], nextCursor?: string }> {
      if (threadId !== undefined && taskId !== undefined) throw new TwoOwners()
      const found = threadId !== undefined
        ? ofThread(threadId, cursor)
        : taskId !== undefined ? tasks.shownRuns(taskId, cursor) : all(status, cursor)
      const { page: runs, ...more } = await takePage(found, {
        limit,
        pick: (run) => status === undefined || run.status === status ? run : undefined,
        cursorOf: ({ runId }) => runId
      })
      return { runs, ...more }
    },

    /**
     * Returns a run. With `waitMs`, waits up to that many milliseconds until the run has ended or waits for a person or the application.
     * Throws RunUnknown (404) and TooManyWaits (429).
     */
    get: (runId: string, { waitMs }: { waitMs: number }, signal: AbortSignal): Promise<Run> =>
      waitMs === 0
        ? find(runId)
        : waits.until(
          runId,
          () => find(runId),
          ({ status }) => (status !== 'queued' && status !== 'running') || openOf(runId).length > 0,
          { ms: waitMs, signal }
        ),

    /**
     * Returns whether a run has not ended; undefined for an unknown run. A waiting run of a conversation has ended when nobody can answer
     * it any more.
     */
    async isLive (runId: string): Promise<boolean | undefined> {
      if (activeRun(runId) !== undefined) return true
      const record = await runs.get(runId)
      if (record?.taskId !== undefined) return !isOver(record)
      return record && (await ledger.all(record.asked)).some(ledger.isOpen)
    },

    /** Ends the runs whose items nobody answered in time, and removes runs and contexts that are no longer kept. */
    async sweep (signal?: AbortSignal): Promise<void> {
      for await (const { runId } of entries(runStatesPrefix('waiting'))) {
        signal?.throwIfAborted()
        const record = await unlessDamaged(runs.get(runId))
        if (record?.threadId !== undefined) await agent.undisturbed(record.threadId, () => endUnanswered(runId))
      }
      await sweepThreadRuns({ store, clock, runs }, signal)
      await runs.sweepContexts(clock.now(), signal)
    },

    close: waits.close
  }
}
