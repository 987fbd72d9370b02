import type { TaskRun } from '../run-record.ts'
import type { RunRepository } from '../run-repository.ts'
import { NoActiveRun, SteeringFull, STEERING_QUEUE, type ActiveRun } from './active-run.ts'

/**
 * Sends steering to a run of a task; the model gets it at its next step, also when the run is paused or cut before. It is durable when
 * the promise resolves. Throws NoActiveRun (404) if no step follows, or SteeringFull (429).
 */
export async function steerTaskRun ({ run, isEnding }: ActiveRun<TaskRun>, message: string, runs: Pick<RunRepository, 'commit'>) {
  const { pendingSteering = [] } = run.record
  if (isEnding) throw new NoActiveRun()
  if (pendingSteering.length >= STEERING_QUEUE) throw new SteeringFull(STEERING_QUEUE)
  run.record = { ...run.record, pendingSteering: [...pendingSteering, message] }
  await runs.commit(run)
}
