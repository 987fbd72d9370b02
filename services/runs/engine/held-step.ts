import { Aborted } from '../../lib/abort.ts'
import { createRunLog } from '../run-log/run-log.ts'
import type { RunRecord } from '../run-record.ts'
import type { EngineDeps, RunAttempt } from './attempt.ts'
import { createModelCalls, type ModelCalls } from './model-calls.ts'
import type { RunOwner } from './run-owner.ts'

/** The size of the held events at which the model stream pauses, bytes. */
const MAX_HELD_BYTES = 1024 * 1024

/** The first step of a run, begun before it is known whether the run has steps at all. */
interface HeldStep {
  /**
   * Appends the held events; later ones are appended as they arise. Returns the model calls of the run, of which the first is the
   * held one: it rejects if that one has failed meanwhile.
   */
  release: () => ModelCalls
  /** Aborts the model call and discards its events and its failure. The run's meter counts the call like any other. */
  drop: () => Promise<void>
}

/**
 * Makes the model call of a run's first step and holds all its events. It must be called in the turn of the event loop in which the
 * run begins: steering that arrived before it would be lost with a dropped step; what arrives later is for the next step. No tool
 * runs, because the loop settles the calls of a step only after it was given the step.
 */
export function holdFirstStep<R extends RunRecord> (
  attempt: RunAttempt<R>,
  owner: RunOwner<R>,
  deps: Pick<EngineDeps, 'clock' | 'log'>
): HeldStep {
  const { live } = attempt
  const { log } = live.run
  const held = createRunLog()
  const opened = Promise.withResolvers<void>()
  const dropped = new AbortController()
  let target = held

  const callModel = createModelCalls(attempt, owner, deps, {
    append: (event) => target.append(event),
    backpressure: () => target === log ? live.backpressure() : held.bytes > MAX_HELD_BYTES ? opened.promise : undefined,
    signal: AbortSignal.any([live.signal, dropped.signal])
  })
  const first = callModel()
  // `release` hands the failure to the loop; until then, and after `drop`, nobody waits for it.
  first.catch(() => {})

  return {
    release () {
      held.events.forEach(log.append)
      target = log
      opened.resolve()
      let begun: ReturnType<ModelCalls> | undefined = first
      return () => {
        const step = begun ?? callModel()
        begun = undefined
        return step
      }
    },
    async drop () {
      dropped.abort(new Aborted('cancel', 'The first step is not needed.'))
      opened.resolve()
      await first.catch(() => {})
    }
  }
}
