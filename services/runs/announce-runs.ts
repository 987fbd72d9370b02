import type { StreamEvent } from '../../schemas/events.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import type { Clock } from '../lib/clock.ts'
import { type Op, runKey, RUNS, runStatesPrefix, type Store, unlessDamaged } from '../store/index.ts'
import { ownerOf } from '../contracts/approval-record.ts'
import { isOver, type RunRecord } from './run-record.ts'

type AnnouncedRun = Pick<RunRecord, 'runId' | 'status' | 'threadId' | 'taskId'>
const announced = ({ runId, status, threadId, taskId }: AnnouncedRun): AnnouncedRun => ({ runId, status, threadId, taskId })

/**
 * Tells of every run, of conversations and of tasks, when it begins and when it is over, once each. It observes the records of runs that
 * the store commits, so that no way to begin or to end a run can be forgotten and every event is durable.
 */
export function announceRuns (
  { store, clock, emit }: { store: Pick<Store, 'onCommit' | 'keys' | 'get'>, clock: Clock, emit: (event: StreamEvent) => void }
) {
  /** The runs that are not over, by the keys of their records; `begun`: told to have begun, since the start of the service. */
  const open = new Map<string, { run: AnnouncedRun, begun: boolean }>()

  function end (key: string, run: AnnouncedRun, status: RunStatus) {
    open.delete(key)
    emit({ type: 'run:end', runId: run.runId, ...ownerOf(run), status, at: clock.now() })
  }

  function observe (op: Op) {
    const known = open.get(op.key)
    if (op.type === 'del') {
      if (known !== undefined) end(op.key, known.run, 'cancelled')
      return
    }
    const run = announced(op.value as AnnouncedRun)
    const { runId, status } = run
    if (isOver(run)) {
      // One that is over already may be written again.
      if (known !== undefined) end(op.key, run, status)
      return
    }
    const begins = status === 'running' && !known?.begun
    open.set(op.key, { run, begun: begins || known?.begun === true })
    if (begins) emit({ type: 'run:start', runId, ...ownerOf(run), at: clock.now() })
  }

  store.onCommit((ops) => {
    for (const op of ops) if (op.key.startsWith(RUNS)) observe(op)
  })

  return {
    /** Reads the runs that are not over since before this start, so that their ends are told, too. To be called before changes. */
    async load () {
      for (const state of ['live', 'waiting']) {
        const index = runStatesPrefix(state)
        for await (const indexKey of store.keys(index)) {
          const key = runKey(indexKey.slice(index.length))
          const run = await unlessDamaged(store.get<AnnouncedRun>(key))
          if (run === undefined || isOver(run)) continue
          open.set(key, { run: announced(run), begun: false })
        }
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
