import type { TaskRepository, Change } from './task-repository.ts'
import type { TaskDeps } from './task-deps.ts'
import { afterRun, closeRun } from './runner/run-ending.ts'
import { IMPORTED, isDamage } from '../store/index.ts'
import { isOver } from '../runs/index.ts'
import type { StoredRun, StoredTask } from './task-records.ts'
import type { Schedules } from './schedule/schedules.ts'

const REASON = 'The run was under way when the backup was made.'

/**
 * Prepares imported tasks: ends the runs that were under way in the backup, and continues schedules from now, without
 * catching up on the time since. Open approvals stay open; calls of applications do not (services/store/backup/backup.ts). The
 * function is idempotent, so a crash in between is harmless.
 */
export async function recoverImported (
  { store, clock, repository, schedules }: Pick<TaskDeps, 'store' | 'clock'> & { repository: TaskRepository, schedules: Schedules }
): Promise<void> {
  for (const id of (await repository.index.load()).notFinished()) {
    await repository.change(id, settle).catch((error) => {
      if (!isDamage(error)) throw error
    })
  }
  await store.transact([{ type: 'del', key: IMPORTED }])

  async function settle (task: StoredTask): Promise<Change<undefined>> {
    const { liveRun, nextRun, ...rest } = task
    const runs: StoredRun[] = []
    const next = nextRun && await repository.runById(nextRun.runId)
    if (next !== undefined && !isOver(next)) runs.push(closeRun(next, [], { status: 'interrupted', error: REASON }, clock.now()).run)
    const live = liveRun && await repository.runById(liveRun.runId)
    let after: StoredTask = { ...rest, ...(liveRun && { liveRun }) }
    if (live?.status === 'running' || live?.status === 'queued') {
      const log = await repository.events(live.runId)
      const { run } = closeRun(live, log, { status: 'interrupted', error: REASON }, clock.now())
      runs.push(run)
      after = afterRun(after, run, log, clock.now())
    }
    const resumed = after.timing === undefined ? { task: after, ops: [] } : await schedules.resume(after)
    return { ...resumed, runs, answer: undefined }
  }
}
