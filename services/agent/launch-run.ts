import { Aborted } from '../lib/abort.ts'
import { startDeadline } from '../lib/deadline.ts'
import { openObjectAnswer } from '../objects/object-answer.ts'
import type { RunAttempt } from './run-attempt.ts'
import type { ConversationState } from './conversation-state.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { createActiveRuns, SubscriberOptions, ActiveRun } from './active-runs.ts'
import { endEarly } from './end-run.ts'
import { saveSoon, type Run } from './run-repository.ts'

/** The default time limit of a run, milliseconds. */
const RUN_MS = 10 * 60 * 1000
/** The interval at which the events of a resumable run are stored, milliseconds. */
const SAVE_MS = 1_000

export interface Launch extends SubscriberOptions {
  run: Run
  conversation: ConversationState
  work: (attempt: RunAttempt) => Promise<void>
}

export type RunLauncher = ReturnType<typeof createRunLauncher>

/** The collaborators shared by starting a run and resuming a run. */
export interface RunCollaborators {
  deps: AgentDeps
  activeRuns: ReturnType<typeof createActiveRuns>
  launch: RunLauncher
  /** Serializes the requests of one conversation. */
  locked: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/** Runs work as the active run of its conversation, with a time limit and a fence, and ensures a final event in its log. */
export function createRunLauncher (activeRuns: ReturnType<typeof createActiveRuns>, deps: AgentDeps) {
  const { clock, fence, config, usage } = deps

  /** Stores the text so far of a run that nobody may be reading. */
  async function saveRegularly (run: Run, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(SAVE_MS, signal)
      saveSoon(run, deps)
    }
  }

  return ({ run, conversation, work, ...options }: Launch): ActiveRun => {
    const { runId, threadId } = run.head
    return activeRuns.launch(run, options, async (live) => {
      const begun = clock.awake()
      const { activeMs: before = 0, options: { budget: { minutes = Infinity } = {}, object } = {} } = run.head
      const limit = config().limits?.runMs ?? RUN_MS
      const left = Math.max(minutes * 60_000 - before, 0)
      const reason = () => left < limit
        ? new Aborted('budget', `The run worked for ${minutes} minutes; that is its budget.`)
        : new Aborted('timeout', `The run took longer than ${limit / 1000} s and was stopped.`)
      const deadline = startDeadline({ clock, ms: Math.min(limit, left) }, () => live.abort(reason()))
      const ended = new AbortController()
      if (options.resumable) saveRegularly(run, AbortSignal.any([live.signal, ended.signal])).catch(() => {})
      const meter = usage.open(runId, {
        owner: { kind: 'thread', id: threadId },
        budget: run.head.options?.budget,
        total: run.head.usage
      })
      try {
        await work({
          live,
          conversation,
          meter,
          ...(object !== undefined && { owed: await openObjectAnswer(object) }),
          attempt: fence.enter(runId),
          activeMs: () => before + Math.round(clock.awake() - begun - deadline.paused()),
          pause: deadline.pause
        })
      } catch (error) {
        ended.abort('ended')
        await endEarly(live, live.signal.aborted ? live.signal.reason : error, deps)
      } finally {
        ended.abort('ended')
        deadline.stop()
        fence.leave(runId)
        usage.close(runId)
      }
    })
  }
}
