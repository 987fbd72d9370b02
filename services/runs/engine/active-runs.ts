import { Draining } from '../../http/index.ts'
import type { RunOptions } from '../../../schemas/run-options.ts'
import type { Aborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { defineError } from '../../lib/service-error.ts'
import type { RunRecord, TaskRun, ThreadRun } from '../run-record.ts'
import type { Run } from '../run-repository.ts'
import { createActiveRun, type ActiveRun, type SubscriberOptions } from './active-run.ts'

const TooManyRuns = defineError('ERR_TOO_MANY_RUNS', 'There are already %d runs under way; wait for one to end.')
export const ConversationBusy = defineError(
  'ERR_CONVERSATION_BUSY',
  'This conversation already has a run under way; wait for it to end.'
)

type BeginListener = (options: RunOptions | undefined, ended: Promise<void>, isConversation: boolean) => void

export type ActiveRuns = ReturnType<typeof createActiveRuns>

/**
 * Keeps the active runs: one for each conversation, at most `limit()` of them in total, and the runs of tasks, whose queue limits their
 * number.
 */
export function createActiveRuns ({ limit, clock }: { limit: () => number, clock: Pick<Clock, 'sleep'> }) {
  const listeners: Array<(threadId: string) => void> = []
  const beginListeners: BeginListener[] = []
  const byThread = new Map<string, ActiveRun>()
  const ofTasks = new Map<string, ActiveRun<TaskRun>>()
  /** Conversations whose run was admitted and has not started yet. */
  const starting = new Map<string, Promise<ActiveRun>>()
  let closing: Aborted | undefined

  const ofRun = (runId: string): ActiveRun | undefined => [...byThread.values()].find(({ run }) => run.record.runId === runId)
  const find = (runId: string): ActiveRun<RunRecord> | undefined => ofTasks.get(runId) ?? ofRun(runId)

  function begin ({ run, done, abort }: ActiveRun<RunRecord>): void {
    // The run was admitted just before the shutdown began.
    if (closing) abort(closing)
    for (const listener of beginListeners) listener(run.record.options, done, run.record.threadId !== undefined)
  }

  return {
    /** The number of active runs of conversations. */
    get size () {
      return byThread.size
    },
    of: (threadId: string): ActiveRun | undefined => byThread.get(threadId),
    /** The active runs of conversations. */
    all: (): ActiveRun[] => [...byThread.values()],
    has: (threadId: string) => byThread.has(threadId) || starting.has(threadId),
    /** Returns the active run of a conversation with this id. */
    ofRun,
    /** Returns the active run of a conversation or a task with this id. */
    find,
    /** Returns the options of an active run, and the names of the tools that its model must find before it can call them. */
    toolsOf (runId: string): { options?: RunOptions, deferred?: readonly string[] } {
      const { record, log } = find(runId)?.run ?? {}
      return { options: record?.options, deferred: log?.events.findLast((event) => event.type === 'context')?.context.deferred }
    },
    /** Returns the active run of a task with this id. */
    ofTaskRun: (runId: string): ActiveRun<TaskRun> | undefined => ofTasks.get(runId),
    /** The active runs of tasks. */
    ofTasks: (): ActiveRun<TaskRun>[] => [...ofTasks.values()],
    /**
     * Returns the active run of a conversation; with a `runId`, only if the run has that id. Waits for the end of an aborted run, then
     * returns undefined.
     */
    async current (threadId: string, runId?: string): Promise<ActiveRun | undefined> {
      const live = byThread.get(threadId)
      if (live?.signal.aborted) return void await live.done
      return runId === undefined || live?.run.record.runId === runId ? live : undefined
    },

    /**
     * Reserves the conversation for the run that `begin` launches, because a conversation has one run at a time. Throws TooManyRuns (429),
     * ConversationBusy (409) or Draining (503).
     */
    async admit (threadId: string, begin: () => Promise<ActiveRun>): Promise<ActiveRun> {
      if (closing) throw new Draining()
      if (byThread.has(threadId) || starting.has(threadId)) throw new ConversationBusy()
      if (byThread.size + starting.size >= limit()) throw new TooManyRuns(limit())
      const begun = Promise.resolve().then(begin)
      starting.set(threadId, begun)
      try {
        return await begun
      } finally {
        starting.delete(threadId)
      }
    },

    /** Starts `work` as the run for which `admit` reserved the conversation. The run counts as active until `work` has ended. */
    launch (run: Run<ThreadRun>, options: SubscriberOptions, work: (live: ActiveRun) => Promise<void>): ActiveRun {
      const live = createActiveRun(run, options, { clock })
      const { threadId } = run.record
      starting.delete(threadId)
      byThread.set(threadId, live)
      begin(live)
      void work(live).finally(() => {
        byThread.delete(threadId)
        live.end()
        for (const listener of listeners) listener(threadId)
      })
      return live
    },

    /** Adds the run of a task, which has no subscribers. The run counts as active until its `end` is called. */
    enter (run: Run<TaskRun>): ActiveRun<TaskRun> {
      const { runId } = run.record
      const live = createActiveRun(run, { resumable: true, protocol: 'documented' }, { clock, onEnd: () => ofTasks.delete(runId) })
      ofTasks.set(runId, live)
      begin(live)
      return live
    },

    /** Registers a listener that is called with the options of each run that begins, and with a promise that resolves when it ends. */
    onBegin: (listener: BeginListener): void => void beginListeners.push(listener),

    /** Registers a listener that is called with the thread id of each run of a conversation that ends. */
    onEnd (listener: (threadId: string) => void) {
      listeners.push(listener)
    },

    /** Aborts every run, and waits until those of conversations have ended. Later requests are refused with Draining (503). */
    async close (reason: Aborted) {
      closing = reason
      for (const live of [...byThread.values(), ...ofTasks.values()]) live.abort(reason)
      await Promise.allSettled(starting.values())
      await Promise.all([...byThread.values()].map(({ done }) => done))
    }
  }
}
