import { type ActiveRun, type ActiveRuns, openAttempt, type Run, type SubscriberOptions, type ThreadRun } from '../runs/index.ts'
import type { ConversationAttempt, ConversationState } from './conversation-state.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { CutRuns } from './cut-runs.ts'
import { endEarly } from './end-run.ts'

/** The interval at which the events of a resumable run are stored, milliseconds. */
const SAVE_MS = 1_000

interface Launch extends SubscriberOptions {
  run: Run<ThreadRun>
  conversation: ConversationState
  work: (attempt: ConversationAttempt) => Promise<void>
}

type LaunchRun = ReturnType<typeof createLaunchRun>

/** The collaborators shared by starting a run and resuming a run. */
export interface RunCollaborators {
  deps: AgentDeps
  activeRuns: ActiveRuns
  cutRuns: CutRuns
  launch: LaunchRun
  /** Serializes the requests of one conversation. */
  locked: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/**
 * Returns a function that runs `work` as the active run of a conversation, with a time limit and a fence (which refuses calls after the end
 * of the run), and ensures that the log gets a final event.
 */
export function createLaunchRun (activeRuns: ActiveRuns, deps: AgentDeps) {
  const { clock, runs, traces } = deps

  /** Stores the text so far of a resumable run at regular intervals, because it is possible that no reader has received it. */
  async function saveRegularly (run: Run<ThreadRun>, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(SAVE_MS, signal)
      runs.saveSoon(run)
    }
  }

  return ({ run, conversation, work, ...options }: Launch): ActiveRun =>
    activeRuns.launch(run, options, async (live) => {
      const attempt = openAttempt(live, deps)
      const ended = new AbortController()
      if (options.resumable) saveRegularly(run, AbortSignal.any([live.signal, ended.signal])).catch(() => {})
      try {
        const begin = () => work({ ...attempt, conversation })
        await (traces === undefined ? begin() : traces.during(run.record.runId, begin))
      } catch (error) {
        ended.abort('ended')
        await endEarly(live, live.signal.aborted ? live.signal.reason : error, deps)
      } finally {
        ended.abort('ended')
        await attempt.close()
      }
    })
}
