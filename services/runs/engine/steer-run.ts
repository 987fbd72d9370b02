import type { SteerBody } from '../../../schemas/agent.ts'
import type { EventOf } from '../../contracts/run-events.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import { steeringIn, waitingIn } from '../run-log/steering.ts'
import type { RunRecord } from '../run-record.ts'
import type { Run, RunRepository, RunWrite } from '../run-repository.ts'
import { type ActiveRun, saidBefore, STEERING_QUEUE, SteeringFull } from './active-run.ts'

interface Deps {
  runs: Pick<RunRepository, 'commit'>
  clock: Clock
}

const said = ({ message: text, id = newId() }: SteerBody, { clock }: Deps): EventOf<'steer'> =>
  ({ type: 'steer', id, text, state: 'waiting', at: clock.now() })

/**
 * Sends what the user says to an active run; the model gets it at its next step, also when the run is paused or cut before. It is on disk
 * when the promise resolves. Throws NoActiveRun (404) if no step follows, SteeringFull (429), or SteeringIdUsed
 * (409).
 */
export function steerRun<R extends RunRecord> (live: ActiveRun<R>, body: SteerBody, deps: Deps): Promise<EventOf<'steer'>> {
  const event = said(body, deps)
  return live.steer(event, () => live.run.saved.then(() => deps.runs.commit(live.run, { finalEvents: [event] })))
}

/** Does the same for a stored run that waits: the model gets it when the run goes on. `more` is stored with it. */
export async function steerWaitingRun<R extends RunRecord> (
  run: Run<R>,
  body: SteerBody,
  deps: Deps,
  more: (event: EventOf<'steer'>) => Promise<RunWrite<R>> = async () => ({})
): Promise<EventOf<'steer'>> {
  const event = said(body, deps)
  const known = saidBefore(steeringIn(run.log.events), event)
  if (known !== undefined) return known
  if (waitingIn(run.log.events).length >= STEERING_QUEUE) throw new SteeringFull(STEERING_QUEUE)
  await deps.runs.commit(run, { ...await more(event), finalEvents: [event], status: run.record.status })
  return event
}
