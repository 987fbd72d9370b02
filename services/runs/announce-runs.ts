import type { StreamEvent } from '../../schemas/stream-events.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import type { Clock } from '../lib/clock.ts'
import { type Op, runKey, RUNS, runStatesPrefix, type Store, unlessDamaged } from '../store/index.ts'
import { isOver, ownerOf, type RunRecord } from './run-record.ts'

type AnnouncedRun = Pick<RunRecord, 'runId' | 'status' | 'threadId' | 'taskId'>

/**
 * Tells of every run, of conversations and of tasks, when it begins and when it is over, once each. It observes the records of runs that
 * the store commits, so that no way to begin or to end a run can be forgotten and every event is durable.
 */
export function announceRuns (
  { store, clock, emit }: { store: Pick<Store, 'onCommit' | 'keys' | 'get'>, clock: Clock, emit: (event: StreamEvent) => void }
) {
  /** The runs that have waited since before the start of the service. They begin anew when they go on, and may be removed before. */
  const waiting = new Map<string, AnnouncedRun>()
  /** The runs that have begun since the start of the service and are not over, by the keys of their records. */
  const live = new Map<string, AnnouncedRun>()

  function end (key: string, run: AnnouncedRun, status: RunStatus) {
    live.delete(key)
    emit({ type: 'run:end', runId: run.runId, ...ownerOf(run), status, at: clock.now() })
  }

  function observe (op: Op) {
    const known = live.get(op.key)
    const waited = waiting.get(op.key)
    waiting.delete(op.key)
    if (op.type === 'del') {
      const removed = known ?? waited
      if (removed !== undefined) end(op.key, removed, 'cancelled')
      return
    }
    const { runId, status, threadId, taskId } = op.value as AnnouncedRun
    if (isOver({ status })) {
      if (known !== undefined || status !== 'interrupted') end(op.key, { runId, status, threadId, taskId }, status)
    } else if (known === undefined && status === 'running') {
      const run = { runId, status, threadId, taskId }
      live.set(op.key, run)
      emit({ type: 'run:start', runId, ...ownerOf(run), at: clock.now() })
    }
  }

  store.onCommit((ops) => {
    for (const op of ops) if (op.key.startsWith(RUNS)) observe(op)
  })

  return {
    /** Reads the runs that wait since before this start, so that their ends are told when they are removed. To be called before changes. */
    async load () {
      const index = runStatesPrefix('waiting')
      for await (const indexKey of store.keys(index)) {
        const key = runKey(indexKey.slice(index.length))
        const run = await unlessDamaged(store.get<AnnouncedRun>(key))
        if (run === undefined) continue
        const { runId, status, threadId, taskId } = run
        waiting.set(key, { runId, status, threadId, taskId })
      }
    }
  }
}

/** Logs every run that is over: its owner, its status, and the milliseconds since it began, also those in which it waited for a person. */
export function logRuns ({ onEvent, clock, log }: {
  onEvent: (listener: (event: StreamEvent) => void) => unknown,
  clock: Clock,
  log: { info(details: object, message: string): void }
}) {
  const begun = new Map<string, number>()
  onEvent((event) => {
    if (event.type === 'run:start') begun.set(event.runId, clock.monotonic())
    if (event.type !== 'run:end') return
    const { runId, threadId, taskId, status } = event
    const start = begun.get(runId)
    begun.delete(runId)
    log.info({ runId, threadId, taskId, status, ...(start !== undefined && { ms: Math.round(clock.monotonic() - start) }) }, 'run')
  })
}
