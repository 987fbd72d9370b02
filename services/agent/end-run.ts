import { abortKind } from '../lib/abort.ts'
import { ServiceError } from '../lib/service-error.ts'
import type { EventOf, RunEvent } from '../run-log/run-events.ts'
import type { ActiveRun } from './active-runs.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment, recordAnswer } from './answer-record.ts'
import type { RunAttempt } from './run-attempt.ts'

/** Ends a run that has answered. */
export function finish (stepFinish: EventOf<'step-finish'>, { live }: RunAttempt, deps: AgentDeps) {
  const { run } = live
  live.endSteering()
  const { finishReason } = stepFinish
  return endSegment(run, deps, { finalEvents: [stepFinish, { type: 'finish', finishReason, usage: run.head.usage }] })
}

/**
 * Ends a run that was aborted or failed, with the reason in its stream. A run that the user stopped is finished on disk, too.
 * Any other stored run keeps its last stored step, so that sending the same approval answer again continues from there.
 * Except after a deletion, the thread gets the messages of the run in either case.
 */
export async function endEarly (live: ActiveRun, error: unknown, deps: Pick<AgentDeps, 'store' | 'clock' | 'threads' | 'ledger' | 'guides' | 'log'>) {
  const { run } = live
  live.endSteering()
  const kind = abortKind(error)
  const finishReason = kind !== undefined && kind !== 'timeout' ? 'other' : 'error'
  const finalEvents: RunEvent[] = [reasonOf(error, run.head.runId, deps.log), { type: 'finish', finishReason, usage: run.head.usage }]
  try {
    // A deleted conversation must not be written again; only wait for the write of its request.
    if (kind === 'delete') await run.saved
    else if (kind === 'stop' || !run.durable) return await endSegment(run, deps, { finalEvents })
    else await deps.store.transact(await recordAnswer(run, deps, finalEvents))
  } catch (failed) {
    deps.log.error({ err: failed, runId: run.head.runId }, 'the end of a run could not be stored')
  }
  finalEvents.forEach(run.log.append)
}

function reasonOf (error: unknown, runId: string, log: AgentDeps['log']): RunEvent {
  const kind = abortKind(error)
  if (kind === 'timeout') return { type: 'error', errorText: (error as Error).message, code: 'ERR_TIMEOUT' }
  if (kind !== undefined) return { type: 'abort', reason: kind }
  if (error instanceof ServiceError) return { type: 'error', errorText: error.message, code: error.code }
  log.error({ err: error, runId }, 'run failed')
  return { type: 'error', errorText: 'Something went wrong inside the service; its log says more.', code: 'ERR_INTERNAL' }
}
