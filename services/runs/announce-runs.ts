import type { StreamEvent } from '../../schemas/events.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import type { Clock } from '../lib/clock.ts'
import { type Op, runKey, RUNS, runStatesPrefix, type Store, unlessDamaged } from '../store/index.ts'
import { ownerOf } from '../contracts/approval-record.ts'
import { isOver, type RunRecord } from './run-record.ts'

type AnnouncedRun = Pick<RunRecord, 'runId' | 'status' | 'threadId' | 'taskId'>
const announced = ({ runId, status, threadId, taskId }: AnnouncedRun): AnnouncedRun => ({ runId, status, threadId, taskId })

/**
 * Emits one event when a run of a conversation or task begins, and one when it ends. The function observes the records of runs that the
 * store commits, so no way to begin or to end a run is missed, and each event is emitted after its change is on disk.
 */
export function announceRuns (
  { store, clock, emit }: { store: Pick<Store, 'onCommit' | 'keys' | 'get'>, clock: Clock, emit: (event: StreamEvent) => void }
) {
  /** The runs that have not ended, by the keys of their records. `begun`: the beginning was reported since the service started. */
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
      // The record of a run that has ended might be written again.
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
    /**
     * Reads the runs that began before the service started and have not ended, so that their ends are reported, too. Must be called before
     * any run changes.
     */
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

/**
 * Logs the end of every run with its owner, its status and its duration in milliseconds. The duration includes the time in which the run
 * waited for a person.
 */
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
