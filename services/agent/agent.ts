import { createError } from '@fastify/error'
import type { RunBody } from '../../schemas/agent.ts'
import { Aborted } from '../abort.ts'
import type { Approval } from '../approvals/record.ts'
import { newId } from '../ids.ts'
import { createKeyedLock } from '../locks.ts'
import { createRunLog } from '../runlog/runlog.ts'
import { approvalResponses, isAnswer, mentionedApprovals } from './answers.ts'
import { settleDecided, type Attempt } from './calls.ts'
import type { Conversation } from './conversations.ts'
import type { AgentDeps } from './deps.ts'
import { openFolder } from './folder.ts'
import { createLiveRuns, followKnown, type Follower, type LiveRun } from './live.ts'
import { analyzeRun, endEarly, runSteps } from './loop.ts'
import { continuedMessage, toPrompt } from './messages.ts'
import { loadRun, storedSegment, type Run } from './run.ts'

const RunGone = createError('ERR_RUN_GONE', 'The run of this approval request is no longer stored; ask the agent again.', 410)

/** A run may take so long by default, milliseconds. */
const RUN_MS = 10 * 60 * 1000
const LIVE_RUNS = 128
/** Until the analysis says otherwise. */
const STANDARD_STEPS = 10

export type Agent = ReturnType<typeof createAgent>

/**
 * Conversations with the agent. A run is followed through its event log; where it needs a person's word it ends its
 * stream and waits on disk, however long, and goes on when the answer comes.
 */
export function createAgent (deps: AgentDeps) {
  const { store, clock, fence, ledger, conversations, config } = deps
  const lives = createLiveRuns({ limit: () => config().limits?.liveRuns ?? LIVE_RUNS })
  const locked = createKeyedLock()

  /** Runs `work` as the live run of its conversation: bounded in time, fenced, and never without a last event. */
  function launch (run: Run, conversation: Conversation, work: (attempt: Attempt) => Promise<void>): LiveRun {
    const { runId } = run.head
    return lives.launch(run, async (live) => {
      const over = new AbortController()
      const limit = config().limits?.runMs ?? RUN_MS
      clock.sleep(limit, over.signal).then(() => live.abort(new Aborted('timeout', `The run took longer than ${limit / 1000} s and was stopped.`)), () => {})
      try {
        await work({ live, conversation, attempt: fence.enter(runId) })
      } catch (error) {
        endEarly(live, live.signal.aborted ? live.signal.reason : error, deps.log)
      } finally {
        over.abort()
        fence.leave(runId)
      }
    })
  }

  async function startRun (body: RunBody): Promise<Follower> {
    const context = await toPrompt(body.messages, deps.host.forModel)
    const cwd = await openFolder(body.context?.cwd, deps.workspace())
    const threadId = body.id ?? await conversationOf(body) ?? newId()
    return locked(threadId, async () => {
      await lives.settled(threadId)
      lives.admit(threadId)
      const conversation = await conversations.get(threadId)
      context.instructions.push(...await leaveBehind(conversation))
      const run = newRun(body, threadId, cwd)
      return launch(run, conversation, async (attempt) => {
        await analyzeRun(attempt, context, deps)
        await runSteps(attempt, context, deps)
      }).follow(0)
    })
  }

  function newRun ({ messages }: RunBody, threadId: string, cwd: string): Run {
    const now = clock.now()
    const runId = newId()
    const messageId = continuedMessage(messages) ?? newId()
    return {
      head: {
        runId, threadId, messageId, cwd, maxSteps: STANDARD_STEPS, createdAt: now, updatedAt: now, segment: 0, steps: 0, asked: [], usage: { inputTokens: 0, outputTokens: 0 }, chunks: 0
      },
      messages,
      log: createRunLog([{ type: 'start', messageId, threadId, runId }]),
      stored: 0,
      durable: false
    }
  }

  /** The conversation that a history without an `id` belongs to, as far as the ledger knows it. */
  async function conversationOf ({ messages }: RunBody): Promise<string | undefined> {
    const id = mentionedApprovals(messages).at(-1)
    return id === undefined ? undefined : (await ledger.find(id))?.threadId
  }

  /** A new message closes what the conversation left open; what the model must know of that is returned. */
  async function leaveBehind ({ runId }: Conversation): Promise<string[]> {
    const run = runId && await loadRun(store, runId)
    if (!run) return []
    const asked = await ledger.all(run.head.asked)
    const cut = asked.filter(({ state }) => state === 'executing')
    const ops = [...ledger.withdraw(asked), ...cut.map((approval) => ledger.move(approval, 'unknown').op)]
    if (ops.length > 0) await store.transact(ops)
    return cut.map(({ toolName, input }) => `An earlier call of ${toolName} with ${JSON.stringify(input).slice(0, 500)} was interrupted; ` +
      'its outcome is unknown. Check before doing it again.')
  }

  async function answer (body: RunBody): Promise<Follower> {
    const said = approvalResponses(body)
    const decisions = said.withOld ? await ledger.meant(said.decisions) : said.decisions
    const { threadId } = await ledger.require(decisions[0].approvalId)
    return locked(threadId, async () => {
      const { approvals, news } = await ledger.decide(decisions, body.id)
      let conversation = await conversations.get(threadId)
      const ops = ledger.record(news)
      const refused = news.filter(({ approved }) => !approved)
      if (refused.length > 0) {
        const denied = conversations.deny(conversation, refused)
        conversation = denied.conversation
        ops.push(denied.op)
      }
      if (ops.length > 0) await store.transact(ops)
      return goOn(approvals, conversation)
    })
  }

  /** Attaches to, replays, or begins what follows the step that these approvals belong to. */
  async function goOn (approvals: Approval[], conversation: Conversation): Promise<Follower> {
    const { runId, threadId } = approvals[0]
    const segment = Math.max(...approvals.map((approval) => approval.segment)) + 1
    const live = await lives.settled(threadId)
    if (live?.run.head.runId === runId) return live.follow(segment)
    const run = await loadRun(store, runId)
    if (run === undefined) throw new RunGone()
    const { head, log } = run
    const told = storedSegment(run, segment)
    if (told !== undefined) return followKnown(head, told)

    const asked = await ledger.all(head.asked)
    const start = { type: 'start' as const, messageId: head.messageId, threadId, runId }
    const open = asked.filter(ledger.isOpen)
    if (open.length > 0) {
      return followKnown(head, [
        start,
        ...open.map(({ approvalId, toolCallId, toolName, input }) => ({ type: 'approval-request' as const, approvalId, toolCallId, toolName, input })),
        { type: 'finish', finishReason: 'tool-calls', usage: head.usage }
      ])
    }
    lives.admit(threadId)
    const context = await toPrompt(run.messages, deps.host.forModel)
    if (head.segment < segment) {
      run.head = { ...head, segment }
      log.append(start)
    }
    return launch(run, conversation, async (attempt) => {
      await settleDecided(asked, attempt, deps)
      await runSteps(attempt, context, deps)
    }).follow(segment)
  }

  return {
    /** Starts a run, or continues one when the request answers an approval request. */
    run: (body: RunBody): Promise<Follower> => isAnswer(body) ? answer(body) : startRun(body),

    /** Continues the run that asked; see `Ledger.decide` for what an answer may be. */
    approve: answer,

    /** The approval requests that wait for an answer. */
    approvals: ledger.list,

    get liveRuns () { return lives.size },

    /** Ends every run; their streams get a last event. */
    close: () => lives.close(new Aborted('shutdown', 'The service is shutting down.'))
  }
}
