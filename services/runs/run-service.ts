import type { Run, RunListQuery } from '../../schemas/runs.ts'
import { isOfThread, type Approval, type ThreadApproval } from '../contracts/approval-record.ts'
import type { Ledger } from '../approvals/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import { jsonBytes, PAGE_BYTES } from '../http/pages.ts'
import { chatRunKey, chatRunsPrefix, runStateKey, runStatesPrefix } from '../store/keys.ts'
import type { Store } from '../store/store-types.ts'
import { unlessDamaged } from '../store/store-errors.ts'
import { CALL_SHOWN } from '../run-log/run-history.ts'
import { questionView } from '../approvals/question-view.ts'
import { chatRun, type ChatRunRecord, type ChatRunSource } from './chat-run-record.ts'
import { newestFirst } from './newest-first.ts'
import { TwoOwners, RunUnknown } from './run-errors.ts'
import { INDEX_STATES, indexRun, indexStateOf, type RunPlace } from './run-index.ts'
import { sweepChatRuns } from './sweep-chat-runs.ts'
import type { createRunWaits } from './run-waits.ts'

/** What a run has asked: whether it can still be answered, and the open approvals. */
interface Asked {
  isWaiting: boolean
  isUnanswered: boolean
  open: ThreadApproval[]
}

/** States of what nobody answered in time; one of these that is not open any more is overdue. */
const UNANSWERED = ['pending', 'open', 'expired']

/** A run of a conversation that executes now. */
export type ActiveChatRun = ChatRunSource & { status: Run['status'], at: number }

export interface RunServiceParts {
  store: Store
  clock: Clock
  ledger: Pick<Ledger, 'all' | 'isOpen'>
  /** The open approvals of a run, by their ids. */
  openOf: (runId: string) => string[]
  agent: {
    activeChatRuns(): ActiveChatRun[],
    /** The events of a run, as long as they are stored. */
    storedChatRun(runId: string): Promise<ChatRunSource | undefined>
  }
  tasks: {
    shownRun(place: { taskId: string, runNumber: number }): Promise<Run | undefined>,
    shownRuns(taskId: string, after?: string): AsyncIterable<Run>,
    wholeRun(runId: string): Promise<Run | undefined>
  }
  waits: ReturnType<typeof createRunWaits>
}

export type RunService = ReturnType<typeof createRunService>

/** The runs of conversations and of tasks, in one shape. */
export function createRunService ({ store, clock, ledger, openOf, agent, tasks, waits }: RunServiceParts) {
  const activeRun = (runId: string) => agent.activeChatRuns().find(({ head }) => head.runId === runId)

  /** Reads what a run of a conversation has asked. */
  async function questions (run: Pick<ChatRunRecord, 'runId' | 'asked'>): Promise<Asked> {
    const asked: Approval[] = await ledger.all([...new Set([...run.asked ?? [], ...openOf(run.runId)])])
    const open = asked.filter(ledger.isOpen)
    const isUnanswered = asked.every(({ state }) => UNANSWERED.includes(state))
    return { isWaiting: open.length > 0, isUnanswered, open: open.filter(isOfThread) }
  }

  /** The public form of a run that does not execute. One that waits for nothing any more that can be answered is over. */
  function shown ({ asked: _, ...run }: ChatRunRecord, { isWaiting, isUnanswered, open }: Asked): Run {
    if (run.status !== 'pending_approval' || isWaiting) return { ...run, questions: open.map(questionView) }
    return {
      ...run,
      questions: [],
      ...isUnanswered
        ? { status: 'rejected', error: 'Nobody answered in time.' }
        : { status: 'interrupted', error: 'The run did not go on after the answer.' }
    }
  }

  async function viewActive ({ status, at, ...source }: ActiveChatRun, limit?: number): Promise<Run> {
    const { asked, ...run } = chatRun(source, { status, at, limit })
    return { ...run, questions: (await questions({ runId: run.runId, asked })).open.map(questionView) }
  }

  /** Reads a run of a conversation, shortened; undefined if it is gone or damaged. */
  async function listed (thread: string, runId: string): Promise<Run | undefined> {
    const active = activeRun(runId)
    if (active !== undefined) return viewActive(active, CALL_SHOWN)
    const record = await unlessDamaged(store.get<ChatRunRecord>(chatRunKey(thread, runId)))
    return record && shown(record, await questions(record))
  }

  const read = ({ runId, place }: { runId: string, place: RunPlace }) =>
    'thread' in place ? listed(place.thread, runId) : tasks.shownRun(place)

  async function * entries (prefix: string, cursor?: string): AsyncGenerator<{ runId: string, place: RunPlace }> {
    const options = { reverse: true, damaged () {}, ...(cursor !== undefined && { after: prefix + cursor }) }
    for await (const [key, place] of store.list<RunPlace>(prefix, options)) yield { runId: key.slice(prefix.length), place }
  }

  async function * ofThread (threadId: string, cursor?: string): AsyncGenerator<Run> {
    const thread = store.digest(threadId)
    for await (const { runId } of entries(chatRunsPrefix(thread), cursor)) {
      const run = await listed(thread, runId)
      if (run !== undefined) yield run
    }
  }

  /** All runs, or those that may have a status, newest first. A live run may be over by now: its record says it. */
  async function * all (status: Run['status'] | undefined, cursor?: string): AsyncGenerator<Run> {
    const states = status === undefined ? INDEX_STATES : [...new Set(['live', indexStateOf(status)])]
    // A run that was interrupted and goes on is live, whatever the index says.
    const active = agent.activeChatRuns().map(({ head: { runId, threadId } }) => ({ runId, place: { thread: store.digest(threadId) } }))
      .filter(({ runId }) => cursor === undefined || runId < cursor)
      .sort((a, b) => a.runId < b.runId ? 1 : -1)
    for await (const entry of newestFirst([active, ...states.map((state) => entries(runStatesPrefix(state), cursor))])) {
      const run = await read(entry)
      if (run !== undefined) yield run
    }
  }

  /** Throws RunUnknown (404). */
  async function find (runId: string): Promise<Run> {
    const active = activeRun(runId)
    if (active !== undefined) return viewActive(active)
    const ofTask = await tasks.wholeRun(runId)
    if (ofTask !== undefined) return ofTask
    for (const state of INDEX_STATES) {
      const place = await store.get<RunPlace>(runStateKey(state, runId))
      if (place === undefined || !('thread' in place)) continue
      const run = await listed(place.thread, runId)
      if (run === undefined) continue
      const source = await unlessDamaged(agent.storedChatRun(runId))
      return source === undefined
        ? run
        : { ...run, toolCalls: chatRun(source, { status: run.status, at: run.completedAt ?? run.startedAt }).toolCalls }
    }
    throw new RunUnknown(runId)
  }

  return {
    /** Lists runs, newest first, one page at a time. Throws TwoOwners (400). */
    async list ({ threadId, taskId, status, limit, cursor }: RunListQuery): Promise<{ runs: Run[], nextCursor?: string }> {
      if (threadId !== undefined && taskId !== undefined) throw new TwoOwners()
      const found = threadId !== undefined
        ? ofThread(threadId, cursor)
        : taskId !== undefined ? tasks.shownRuns(taskId, cursor) : all(status, cursor)
      const runs: Run[] = []
      let bytes = 0
      for await (const run of found) {
        if (status !== undefined && run.status !== status) continue
        bytes += jsonBytes(run)
        if (runs.length === limit || (runs.length > 0 && bytes > PAGE_BYTES)) return { runs, nextCursor: runs.at(-1)!.runId }
        runs.push(run)
      }
      return { runs }
    },

    /**
     * Returns a run. With `waitMs`, the answer waits up to that many milliseconds for its end, or until it waits for a person or for the
     * application. Throws RunUnknown (404) and TooManyWaits (429).
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

    /** Ends the runs that nobody answered in time, and removes what is not kept. */
    async sweep (signal?: AbortSignal): Promise<void> {
      for await (const { runId, place } of entries(runStatesPrefix('live'))) {
        signal?.throwIfAborted()
        if (!('thread' in place) || activeRun(runId) !== undefined) continue
        const record = await unlessDamaged(store.get<ChatRunRecord>(chatRunKey(place.thread, runId)))
        const run = record && shown(record, await questions(record))
        if (run?.status !== 'rejected') continue
        const { questions: _, ...ended } = run
        const completedAt = clock.now()
        const value = { ...ended, completedAt, durationMs: Math.max(completedAt - ended.startedAt, 0) }
        await store.transact([{ type: 'put', key: chatRunKey(place.thread, runId), value }, ...indexRun(value, place)])
      }
      await sweepChatRuns(store, signal)
    },

    close: waits.close
  }
}
