import { Aborted } from '../lib/abort.ts'
import type { RunAttempt } from '../step/settle-calls.ts'
import type { ConversationState } from './refused-calls.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { createActiveRuns, RunOptions, ActiveRun } from './active-runs.ts'
import { endEarly } from './loop.ts'
import type { Run } from './run-repository.ts'

/** A run may take so long by default, milliseconds. */
const RUN_MS = 10 * 60 * 1000

export interface Launch extends RunOptions {
  run: Run
  conversation: ConversationState
  work: (attempt: RunAttempt) => Promise<void>
}

export type RunLauncher = ReturnType<typeof createRunLauncher>

/** What beginning a run and going on with one have in common. */
export interface RunCollaborators {
  deps: AgentDeps
  activeRuns: ReturnType<typeof createActiveRuns>
  launch: RunLauncher
  /** One request of a conversation at a time. */
  locked: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/** Runs work as the live run of its conversation: bounded in time, fenced, and never without a last event. */
export function createRunLauncher (activeRuns: ReturnType<typeof createActiveRuns>, deps: AgentDeps) {
  const { clock, fence, config } = deps

  return ({ run, conversation, work, ...options }: Launch): ActiveRun => {
    const { runId } = run.head
    return activeRuns.launch(run, options, async (live) => {
      const over = new AbortController()
      const limit = config().limits?.runMs ?? RUN_MS
      clock.timeout(limit, over.signal).then(
        () => live.abort(new Aborted('timeout', `The run took longer than ${limit / 1000} s and was stopped.`)),
        () => {}
      )
      try {
        await work({ live, conversation, attempt: fence.enter(runId) })
      } catch (error) {
        await endEarly(live, live.signal.aborted ? live.signal.reason : error, deps)
      } finally {
        over.abort()
        fence.leave(runId)
      }
    })
  }
}
