import type { SteerBody, SteeredRun } from '../../schemas/agent.ts'
import { type EventOf, newestStep } from '../contracts/run-events.ts'
import { itemsIn, NoActiveRun, steerRun, steerWaitingRun, type ThreadRun } from '../runs/index.ts'
import { recordAnswer } from './end-run.ts'
import type { RunCollaborators } from './launch-run.ts'
import type { RunPlace } from './stop-run.ts'

/** Creates the function that sends a message of the user to the run of a conversation. */
export function createSteerRun ({ deps, activeRuns, locked }: RunCollaborators) {
  const { runs, conversations } = deps

  /** Stores a message for a waiting run. The model gets the message when the run continues. Returns undefined if no run waits. */
  async function steerWaiting ({ threadId, runId }: RunPlace, body: SteerBody): Promise<SteeredRun | undefined> {
    const { runId: waiting } = await conversations.get(threadId)
    if (waiting === undefined || (runId ?? waiting) !== waiting) return undefined
    const run = await runs.load<ThreadRun>(waiting)
    if (run?.record.status !== 'pending_approval') return undefined
    const asked = itemsIn(newestStep(run.log.events))
    const more = async (event: EventOf<'steer'>) => ({ ops: await recordAnswer(run, deps, { finalEvents: [event], asked }) })
    const said = await steerWaitingRun(run, body, deps, more)
    return steered(run.record, said)
  }

  const steered = ({ threadId, runId }: ThreadRun, { id, state }: EventOf<'steer'>): SteeredRun =>
    ({ ok: true, threadId, runId, id, state })

  /** Resolves when the message is on disk. Throws NoActiveRun (404) or SteeringFull (429). */
  return (place: RunPlace, body: SteerBody): Promise<SteeredRun> =>
    // While a run starts or continues, its request holds the lock.
    locked(place.threadId, async () => {
      const live = await activeRuns.current(place.threadId, place.runId)
      const sent = live && await steerRun(live, body, deps)
      if (live !== undefined && sent !== undefined) return steered(live.run.record, sent)
      const waiting = await steerWaiting(place, body)
      if (waiting === undefined) throw new NoActiveRun()
      return waiting
    })
}

/** Tracks the requests whose runs have not begun yet, so that a message that is sent in the meantime reaches the run. */
export function createBeginnings () {
  const newest = new Map<string, Promise<unknown>>()
  return {
    /** Calls `begin` and tracks it as the newest request of the conversation until it has settled. */
    during<T> (id: string | undefined, begin: () => Promise<T>): Promise<T> {
      const begun = begin()
      if (id === undefined) return begun
      newest.set(id, begun)
      const forget = () => {
        if (newest.get(id) === begun) newest.delete(id)
      }
      begun.then(forget, forget)
      return begun
    },
    /** Resolves when the newest request of the conversation has begun its run or was refused; at once if there is none. */
    over: async (id: string): Promise<void> => void await newest.get(id)?.catch(() => {})
  }
}
