import { isDamage, type Store } from '../../store/index.ts'
import type { ThreadRun } from '../run-record.ts'
import type { Run, RunRepository } from '../run-repository.ts'

/** The runs that are recovered at the same time. */
const AT_ONCE = 16

/**
 * Calls `interrupt` with the runs of conversations that the last end of the service cut; they are found by the index of runs that execute.
 * A run whose events cannot be read any more is ended without it. Runs of tasks go on; their tasks recover them.
 */
export async function recoverRuns (
  { store, runs, log }: { store: Pick<Store, 'transact'>, runs: RunRepository, log: { error(details: object, message: string): void } },
  interrupt: (run: Run<ThreadRun>) => Promise<void>
): Promise<void> {
  const cut: ThreadRun[] = []
  for await (const record of runs.live()) if (record.taskId === undefined) cut.push(record)

  const close = (record: ThreadRun) => store.transact(runs.end(runs.open(record, [], undefined), 'interrupted'))
  async function recover (record: ThreadRun): Promise<void> {
    const { runId } = record
    try {
      const run = await runs.load<ThreadRun>(runId)
      await (run === undefined ? close(record) : interrupt(run))
    } catch (error) {
      log.error({ err: error, runId }, 'a run that was cut could not be ended')
      if (isDamage(error)) await close(record)
    }
  }
  for (let at = 0; at < cut.length; at += AT_ONCE) await Promise.all(cut.slice(at, at + AT_ONCE).map(recover))
}
