import type { Protocol, RunBody } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import type { Op } from '../store/index.ts'
import {
  type ActiveRun,
  storedSegment,
  type SubscriberOptions,
  subscribeToSegment,
  type Subscription,
  type ThreadRun
} from '../runs/index.ts'
import { replayRecorded } from './interrupted-runs.ts'
import type { RunCollaborators } from './launch-run.ts'

const RunGone = defineError(
  'ERR_RUN_GONE',
  'The run that this Idempotency-Key began is no longer stored. Use a new key to start another one.'
)

/**
 * The run that a request began. `runId` is undefined for a request that answered approvals or calls, because the ledger accepts the same
 * answer twice.
 */
interface Begun {
  runId?: string
}

/** Returns the operations that store the result of a request under the request's key. */
export type Remember = (begun: Begun) => Op[]

/** A request, and facts about its reader from the route; see `ThreadRun` and `SubscriberOptions`. */
type OnceBody = RunBody & Pick<ThreadRun, 'isOneOff'> & Pick<SubscriberOptions, 'lingerMs'>

/**
 * The idempotency key of a request. A stored record with this key from before `since` (milliseconds since the Unix epoch) belongs to
 * another request.
 */
interface RequestKey {
  key: string
  since?: number
}

/** Begins the run of a request. The operations that `remember` returns for a new run are on disk with that run when this resolves. */
type Begin = (body: OnceBody, protocol: Protocol | undefined, remember?: Remember) => Promise<Subscription>

/**
 * Makes a request that is sent again with the same key take effect once. The run of such a request continues without a reader, or for the
 * time `lingerMs` if the request states one. The repeated request reads the stream of the run, if that is still available. If the run was
 * cut when the service was killed, the repeated request continues it.
 */
export function createRunOnce ({ deps, activeRuns, goOn, begin }: Pick<RunCollaborators, 'deps' | 'activeRuns'> & {
  /** See `createResumeRun`. */
  goOn: (record: ThreadRun) => Promise<ActiveRun | undefined>,
  begin: Begin
}) {
  const { runs, store, idempotency } = deps

  /** Subscribes to the first segment of a run: the part up to its first wait for a person. Throws RunGone (410). */
  async function subscribe (runId: string, protocol: Protocol | undefined): Promise<Subscription> {
    const run = activeRuns.ofRun(runId)?.run ?? await runs.load<ThreadRun>(runId)
    if (run !== undefined && storedSegment(run, 0) !== undefined) {
      return subscribeToSegment(run.record, run.log, 0, { protocol })
    }
    const reader = run && ((await goOn(run.record))?.subscribe(0, protocol) ?? replayRecorded(run, protocol))
    if (reader === undefined) throw new RunGone()
    return reader
  }

  /** Throws KeyReused (422) if a different request had the same key, RunGone (410), and what `begin` throws. */
  return async function runOnce (body: OnceBody, protocol?: Protocol, named?: RequestKey): Promise<Subscription> {
    if (named === undefined) return begin(body, protocol)
    const request = { ...body, resumable: body.lingerMs === undefined }
    let first: Subscription | undefined
    const { runId } = await idempotency.once<Begun>({ route: 'POST /run', ...named, body }, async (remember) => {
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
