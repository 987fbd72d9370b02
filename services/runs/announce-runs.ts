import type { StreamEvent } from '../../schemas/stream-events.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import type { Clock } from '../lib/clock.ts'
import { CHAT_RUNS, TASK_RUNS } from '../store/keys.ts'
import type { Op, Store } from '../store/store-types.ts'
import { indexStateOf } from './run-index.ts'

interface StoredRun {
  runId: string
  status: RunStatus
  threadId?: string
  taskId?: string
}

/**
 * Tells of every run, of conversations and of tasks, when it begins and when it is over, once each. It observes the records of runs that
 * the store commits, so that no way to begin or to end a run can be forgotten and every event is durable.
 */
export function announceRuns (
  { store, clock, emit }: { store: Pick<Store, 'onCommit'>, clock: Clock, emit: (event: StreamEvent) => void }
) {
  /** The runs that have begun since the start of the service and are not over, by the keys of their records. */
  const live = new Map<string, StoredRun>()

  const ownerOf = ({ threadId, taskId }: StoredRun) => taskId === undefined ? { threadId } : { taskId }
  function end (key: string, run: StoredRun, status: RunStatus) {
    live.delete(key)
    emit({ type: 'run:end', runId: run.runId, ...ownerOf(run), status, at: clock.now() })
  }

  function observe (op: Op) {
    const known = live.get(op.key)
    if (op.type === 'del') {
      if (known !== undefined) end(op.key, known, 'cancelled')
      return
    }
    const { runId, status, threadId, taskId } = op.value as StoredRun
    if (indexStateOf(status) !== 'live') {
      if (known !== undefined || status !== 'interrupted') end(op.key, { runId, status, threadId, taskId }, status)
    } else if (known === undefined && status === 'running') {
      const run = { runId, status, threadId, taskId }
      live.set(op.key, run)
      emit({ type: 'run:start', runId, ...ownerOf(run), at: clock.now() })
    }
  }

  store.onCommit((ops) => {
    for (const op of ops) if (op.key.startsWith(CHAT_RUNS) || op.key.startsWith(TASK_RUNS)) observe(op)
  })
}
