import type { Protocol, RunBody, RunResult } from '../../schemas/agent.ts'
import { Aborted } from '../lib/abort.ts'
import { protocolOf } from '../run-log/encoders/encoder.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { isAnswer } from './approval-answers.ts'
import { createStartRun, type RunRequest } from './start.ts'
import { createResumeRun } from './resume.ts'
import type { AgentDeps } from './agent-deps.ts'
import { readHistory } from './thread-history.ts'
import { createConversationGuard } from './conversation-guard.ts'
import { createRunLauncher } from './launch-run.ts'
import { ConversationBusy, createActiveRuns, NoActiveRun, type Subscription, type ActiveRun } from './active-runs.ts'
import { BadMessage } from './raw-message.ts'
import { collectResult } from './sync.ts'

/** Runs at once, by default. */
const LIVE_RUNS = 128

export type Agent = ReturnType<typeof createAgent>

/**
 * Conversations with the agent. A run is followed through its event log; where it needs a person's word it ends its
 * stream and waits on disk, however long, and goes on when the answer comes.
 */
export function createAgent (deps: AgentDeps) {
  const listeners: Array<(threadId: string) => void> = []
  const activeRuns = createActiveRuns({
    limit: () => deps.config().limits?.liveRuns ?? LIVE_RUNS,
    ended: (threadId) => listeners.forEach((listener) => listener(threadId))
  })
  const parts = { deps, activeRuns, locked: createKeyedLock(), launch: createRunLauncher(activeRuns, deps) }
  const { startRun, supersedePendingRun } = createStartRun(parts)
  const answer = createResumeRun(parts)

  /** Tokens that the most patient of the models that may answer reads at once. */
  async function largestWindow (): Promise<number> {
    const { signal } = new AbortController()
    const windows = await Promise.all(
      deps.registry.candidates('capable').map((model) => deps.registry.contextWindow(model, Infinity, signal))
    )
    return Math.max(...windows, 0)
  }

  /** The whole request: `message` with an `id` continues the stored thread, of which it has what a model can be told. Throws BadMessage (400) or ConversationBusy (409). */
  async function withHistory (body: RunBody, protocol?: Protocol): Promise<RunRequest> {
    if (body.messages !== undefined) return { ...body, messages: body.messages, protocol: protocol ?? protocolOf(body.messages) }
    if (body.message === undefined || body.id === undefined) {
      throw new BadMessage('The body needs "messages", or "message" together with the "id" of its thread.')
    }
    const request = { ...body, protocol: protocol ?? protocolOf([body.message]) }
    if (isAnswer({ ...body, messages: [body.message] })) return { ...request, messages: [body.message] }
    // A run that is just ending has still to write there what it did.
    if (await activeRuns.current(body.id)) throw new ConversationBusy()
    const { messages, ...history } = await readHistory(body.id, { threads: deps.threads, window: largestWindow })
    return { ...request, messages: [...messages, body.message], history }
  }

  async function run (body: RunBody, protocol?: Protocol): Promise<Subscription> {
    const request = await withHistory(body, protocol)
    return isAnswer(request) ? answer(request) : startRun(request)
  }

  async function liveRun (threadId: string): Promise<ActiveRun> {
    const live = await activeRuns.current(threadId)
    if (live === undefined) throw new NoActiveRun()
    return live
  }

  return {
    /** Starts a run, or continues one when the last message answers an approval request. */
    run,

    /** Continues the run that asked; see `Ledger.decide` for what an answer may be. */
    approve: async (body: RunBody, protocol?: Protocol): Promise<Subscription> => answer(await withHistory(body, protocol)),

    /** The same as `run`, as one object. */
    sync: async (body: RunBody, signal: AbortSignal): Promise<RunResult> => collectResult(await run(body), signal),

    /** Follows the run under way in a conversation from the first event of its stream; undefined when there is none. */
    async follow (threadId: string, protocol?: Protocol): Promise<Subscription | undefined> {
      const live = await activeRuns.current(threadId)
      return live?.subscribe(live.run.head.segment, protocol)
    },

    /** Ends the run under way. Throws NoLiveRun (404). */
    async stop (threadId: string) {
      const live = await liveRun(threadId)
      live.abort(new Aborted('stop', 'The user stopped the run.'))
      await live.done
      return { ok: true as const, threadId, runId: live.run.head.runId }
    },

    /** Says something to the run under way; the model hears it at its next step. Throws NoLiveRun (404). */
    async steer (threadId: string, message: string) {
      const live = await liveRun(threadId)
      live.steer(message)
      return { ok: true as const, threadId, runId: live.run.head.runId }
    },

    ...createConversationGuard(parts, supersedePendingRun),

    /** The approval requests that wait for an answer. */
    approvals: deps.ledger.list,

    /** Hears of each conversation whose run has ended. */
    onEnd (listener: (threadId: string) => void) {
      listeners.push(listener)
    },

    get liveRuns () {
      return activeRuns.size
    },

    /** Ends every run; their streams get a last event. */
    close: () => activeRuns.close(new Aborted('shutdown', 'The service is shutting down.'))
  }
}
