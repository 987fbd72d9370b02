import type { Protocol, RunBody } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import type { Op } from '../store/index.ts'
import { type ActiveRun, storedSegment, subscribeToRecorded, type Subscription, type ThreadRun } from '../runs/index.ts'
import { replayRecorded } from './interrupted-runs.ts'
import type { RunCollaborators } from './launch-run.ts'

const RunGone = defineError(
  'ERR_RUN_GONE',
  'The run that this Idempotency-Key began is no longer stored. Use a new key to start another one.'
)

/** The run that a request began; absent for one that answered approvals or calls, of which the ledger takes the same answer twice. */
interface Begun {
  runId?: string
}

/** Returns the operations that store what a request has begun. */
export type Remember = (begun: Begun) => Op[]

/** A request, with what its door knows of its reader; see `ThreadRun`. */
type OnceBody = RunBody & Pick<ThreadRun, 'isOneOff'>

/** Begins what a request asks for. What `remember` returns for a new run is on disk with that run, when this resolves. */
type Begin = (body: OnceBody, protocol: Protocol | undefined, remember?: Remember) => Promise<Subscription>

/**
 * Lets a request that is sent again with its key take effect once. Its run goes on without a reader; the repeated request reads the stream
 * of the first one: what follows of it, if it is not over. A run that a kill of the service cut goes on for it.
 */
export function createRunOnce ({ deps, activeRuns, goOn, begin }: Pick<RunCollaborators, 'deps' | 'activeRuns'> & {
  /** See `createResumeRun`. */
  goOn: (record: ThreadRun) => Promise<ActiveRun | undefined>,
  begin: Begin
}) {
  const { runs, store, idempotency } = deps

  /** Subscribes to the first segment of a run. Throws RunGone (410). */
  async function subscribe (runId: string, protocol: Protocol | undefined): Promise<Subscription> {
    const live = activeRuns.ofRun(runId)
    if (live?.run.record.segment === 0) return live.subscribe(0, protocol)
    const run = live?.run ?? await runs.load<ThreadRun>(runId)
    const first = run && storedSegment(run, 0)
    if (first !== undefined) return subscribeToRecorded(run!.record, first, protocol ?? run!.record.protocol ?? 'documented')
    const again = run && await goOn(run.record)
    if (again !== undefined) return again.subscribe(0, protocol)
    const interrupted = run && replayRecorded(run, protocol)
    if (interrupted === undefined) throw new RunGone()
    return interrupted
  }

  /** Throws KeyReused (422) for another request with the key, RunGone (410), and what `begin` throws. */
  return async function runOnce (body: OnceBody, protocol?: Protocol, key?: string): Promise<Subscription> {
    if (key === undefined) return begin(body, protocol)
    const request = { ...body, resumable: true }
    let first: Subscription | undefined
    const { runId } = await idempotency.once<Begun>({ route: 'POST /run', key, body }, async (remember) => {
      const begun: Begun = {}
      first = await begin(request, protocol, ({ runId }) => {
        begun.runId = runId
        return remember(begun)
      })
      if (begun.runId === undefined) await store.transact(remember(begun))
      return begun
    })
    if (first !== undefined) return first
    return runId === undefined ? begin(request, protocol) : subscribe(runId, protocol)
  }
}
