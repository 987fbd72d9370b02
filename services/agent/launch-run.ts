import { Aborted } from '../lib/abort.ts'
import type { Attempt } from '../step/settle-calls.ts'
import type { Conversation } from './refused-calls.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { createLiveRuns, LiveOptions, LiveRun } from './active-runs.ts'
import { endEarly } from './loop.ts'
import type { Run } from './run-repository.ts'

/** A run may take so long by default, milliseconds. */
const RUN_MS = 10 * 60 * 1000

export interface Launch extends LiveOptions {
  run: Run
  conversation: Conversation
  work: (attempt: Attempt) => Promise<void>
}

export type Launcher = ReturnType<typeof createLauncher>

/** What beginning a run and going on with one have in common. */
export interface RunParts {
  deps: AgentDeps
  lives: ReturnType<typeof createLiveRuns>
  launch: Launcher
  /** One request of a conversation at a time. */
  locked: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/** Runs work as the live run of its conversation: bounded in time, fenced, and never without a last event. */
export function createLauncher (lives: ReturnType<typeof createLiveRuns>, deps: AgentDeps) {
  const { clock, fence, config } = deps

  return ({ run, conversation, work, ...options }: Launch): LiveRun => {
    const { runId } = run.head
    return lives.launch(run, options, async (live) => {
      const over = new AbortController()
      const limit = config().limits?.runMs ?? RUN_MS
      clock.timeout(limit, over.signal).then(() => live.abort(new Aborted('timeout', `The run took longer than ${limit / 1000} s and was stopped.`)), () => {})
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
