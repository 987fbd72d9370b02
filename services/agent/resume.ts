import type { Protocol } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import { answersInOutput, type ItemAnswer, requestEvent } from '../approvals/index.ts'
import { type Answered, type Decision, isUnanswered, type ThreadItem } from '../contracts/approval-record.ts'
import { withRunModels } from '../models/index.ts'
import {
  createRunLog,
  hasSmallWindow,
  type ActiveRun,
  finishOf,
  inNewestStep,
  NoActiveRun,
  type Run,
  storedSegment,
  subscribeToSegment,
  type Subscription,
  type ThreadRun,
  WHOLE_THREAD,
  withRunOptions,
  type SubscriberOptions
} from '../runs/index.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import type { RawMessage } from '../threads/index.ts'
import { approvalResponses, isAnswer, type AnswerSource, callResults, type CallResult } from './approval-answers.ts'
import type { RunRequest } from './request-messages.ts'
import type { ConversationState } from './conversation-state.ts'
import type { RunCollaborators } from './launch-run.ts'
import { runSteps } from './loop.ts'
import { noteSizes } from './prepare-request.ts'
import { toPrompt } from './message-import.ts'
import { largestWindow } from './run-settings.ts'
import { readBeginning, threadPlacement, threadPosition } from './thread-history.ts'

const RunGone = defineError(
  'ERR_RUN_GONE',
  'The run of this approval request is no longer stored; send the message to the agent again.'
)
const MovedOn = defineError(
  'ERR_CONVERSATION_MOVED_ON',
  'The run of this request was stopped, or a newer message superseded it; the run cannot continue.'
)

/**
 * Where the run of answered items is: active in its next segment (the part of a run between two waits for a person), recorded to the end of
 * that segment, or still waiting for other answers of the step. A reader then gets the requests of the step again.
 */
interface Continuation {
  is: 'active' | 'recorded' | 'waiting'
  subscribe: (protocol: Protocol) => Subscription
}

interface Relaunching extends Pick<SubscriberOptions, 'resumable' | 'lingerMs'> {
  asked: ThreadItem[]
  protocol?: Protocol
  isCut?: boolean
}

/** Records the decisions on approval requests and resumes the run that requested them. */
export function createResumeRun ({ deps, activeRuns, cutRuns, launch, locked }: RunCollaborators) {
  const { store, runs, ledger, liveQuestions, grants, conversations } = deps

  /** Finds or starts the segment that follows the step of these answered items. Without `protocol`, the protocol of the run is used. */
  async function resume (
    items: ThreadItem[],
    conversation: ConversationState,
    { resumable = false, lingerMs, protocol }: Partial<SubscriberOptions>
  ): Promise<Continuation> {
    const { runId, threadId } = items[0]
    const segment = Math.max(...items.map((item) => item.segment)) + 1
    const live = await activeRuns.current(threadId, runId)
    const reading = (active: ActiveRun): Continuation => ({ is: 'active', subscribe: (as) => active.subscribe(segment, as) })
    if (live !== undefined) {
      if (live.run.record.segment >= segment) return reading(live)
      // The run has requested the approvals, and its segment is about to end.
      await live.done
    }
    const run = await runs.loadToContinue<ThreadRun>(runId)
    if (run === undefined) throw new RunGone()
    const { record, log } = run
    if (storedSegment(run, segment) !== undefined) {
      return { is: 'recorded', subscribe: (as) => subscribeToSegment(record, log, segment, { protocol: as }) }
    }
    // A newer message superseded this run and took the position of its answer in the thread; do not resume it.
    if (conversation.runId !== runId) throw new MovedOn()

    const asked = await ledger.all(record.asked)
    if (asked.some(ledger.isOpen)) {
      const open = asked.filter(inNewestStep(log.events)).filter(ledger.isOpen)
      return { is: 'waiting', subscribe: (as) => subscribeToRequests(record, open, as) }
    }
    const resumed = await activeRuns.admit(threadId, async () => {
      if (record.segment < segment) {
        run.record = { ...record, segment }
        log.append(startEvent(record))
      }
      return relaunch(run, conversation, { asked, resumable, lingerMs, protocol })
    })
    return reading(resumed)
  }

  /** Returns a subscription to the requests for items that are still open. */
  function subscribeToRequests (record: ThreadRun, open: ThreadItem[], protocol: Protocol): Subscription {
    // A chat client would execute calls of the application again.
    const again = protocol === 'documented' ? open : open.filter(({ kind }) => kind !== 'app')
    const requests = deps.host.shown(again.map(requestEvent))
    const log = createRunLog([startEvent(record), ...requests, finishOf(record, 'tool-calls')])
    return subscribeToSegment(record, log, 0, { protocol })
  }

  /** Starts a stored run again. Must be called inside `activeRuns.admit`. */
  async function relaunch (
    run: Run<ThreadRun>,
    conversation: ConversationState,
    { asked, resumable, lingerMs, protocol, isCut = false }: Relaunching
  ): Promise<ActiveRun> {
    run.record = { ...run.record, status: 'running' }
    const { record } = run
    const { threadId } = record
    const history = record.history ?? WHOLE_THREAD
    const { origins, ...context } = await toPrompt(
      await deps.threads.resolve(threadId, run.messages) as RawMessage[],
      deps.host.forModel,
      (n) => ({ name: `messages[${threadPosition(history, n)}] of the thread`, isStored: true })
    )
    await noteSizes(context.prompt, deps.attachments)
    const isCompact = await hasSmallWindow(withRunModels(deps, record.options), new AbortController().signal)
    const memory = await deps.memory.ofThread(store.digest(threadId), context.prompt, { isNew: false, isCompact })
    const written = runs.commit(run)
    // A failed write is repeated with the next write. But the crash of a cut run must be counted before a model is called.
    await (isCut ? written : void written.catch(() => {}))
    return launch({
      run,
      conversation,
      resumable,
      lingerMs,
      protocol: protocol ?? record.protocol ?? 'documented',
      work: (attempt) => {
        const fullContext = { ...context, ...threadPlacement(origins, record.history), notes: record.notes, memory }
        return runSteps(attempt, fullContext, withRunOptions(deps, record.options, run.log), asked)
      }
    })
  }

  /**
   * Continues a run that was cut when the service was killed, because its reader is back. The run continues in the same segment, after its
   * newest complete step. Returns undefined for a run that cannot continue, for example because a newer message superseded it.
   */
  async function goOn ({ runId, threadId }: ThreadRun): Promise<ActiveRun | undefined> {
    if (!cutRuns.has(runId)) return activeRuns.ofRun(runId)
    return locked(threadId, async () => {
      const live = await activeRuns.current(threadId)
      if (live !== undefined) return live.run.record.runId === runId ? live : undefined
      const conversation = await conversations.get(threadId)
      const run = await runs.loadToContinue<ThreadRun>(runId, { isCut: true })
      if (run === undefined || conversation.runId !== runId || run.record.status !== 'interrupted') return undefined
      const { record, log } = run
      const asked = await ledger.all(record.asked)
      if (asked.some(ledger.isOpen)) return undefined
      return activeRuns.admit(threadId, async () => {
        run.record = { ...record, attempts: record.attempts + 1, crashes: (record.crashes ?? 0) + 1 }
        if (!run.durable) {
          const window = () => largestWindow(record.options, deps)
          const { messages, ...history } = await readBeginning(record, { threads: deps.threads, window })
          run.messages = messages
          run.record = { ...run.record, history }
        }
        if (log.events.length === 0) log.append(startEvent(record))
        const relaunched = await relaunch(run, conversation, { asked, resumable: record.resumable === true, isCut: true })
        cutRuns.remove(runId)
        return relaunched
      })
    })
  }

  /** Stores decisions on approvals, and results of calls, of one conversation. Throws what `Ledger.answer` throws. */
  async function record (threadId: string, answers: ItemAnswer[], id?: string) {
    const { items, answered } = await ledger.answer(answers, threadId, id)
    let conversation = await conversations.get(threadId)
    const toolCalls = answered.filter((item) => item.kind === 'tool')
    const asked = async () => ledger.all((await runs.get(toolCalls[0].runId))?.asked ?? [])
    const waiting = async () => (await asked()).filter((item) => item.kind === 'tool').filter(ledger.isOpen)
    const { ops: granted, released } = await grants.fromAnswers({ threadId }, toolCalls, waiting)
    const ops = [...ledger.record([...answered, ...released]), ...granted]
    const refused = toolCalls.filter(({ approved }) => !approved)
    if (refused.length > 0) {
      const denied = conversations.deny(conversation, refused)
      conversation = denied.conversation
      ops.push(denied.op)
    }
    if (ops.length > 0) await store.transact(ops)
    return { items, answered, released, conversation }
  }

  /**
   * Returns answers for those results whose calls wait in conversations: calls of the application, and questions, which the output of their
   * call answers. Throws AppCallNotApproved (409).
   */
  async function knownResults (results: CallResult[]): Promise<ItemAnswer[]> {
    const items = await Promise.all(results.map(({ approvalId }) => ledger.find(approvalId)))
    await ledger.assertApproved(results.flatMap(({ approvalId }, at) => items[at] === undefined ? approvalId : []))
    return results.flatMap((given, at): ItemAnswer[] => {
      const item = items[at]
      if (item?.threadId === undefined) return []
      if (item.kind === 'question') return [answersInOutput(given.approvalId, given.result)]
      return item.kind === 'app' ? [given] : []
    })
  }

  /** Returns the answers of a request to approval requests, questions and calls of the application; [] if it is a new message. */
  async function answersOf (request: AnswerSource): Promise<ItemAnswer[]> {
    const responses = isAnswer(request) ? approvalResponses(request) : undefined
    const results = await knownResults(callResults(request))
    const answers: ItemAnswer[] = [...responses?.decisions ?? [], ...results]
    return responses?.includesOlder || results.length > 0 ? ledger.currentAnswers(answers) : answers
  }

  /** Decides questions in the middle of calls that keep running, and subscribes to the run of these calls. */
  async function answerLive (decisions: Decision[], { protocol }: Pick<RunRequest, 'protocol'>): Promise<Subscription> {
    const [{ threadId }] = await Promise.all(decisions.map((decision) => liveQuestions.decide(decision.approvalId, decision)))
    const live = threadId === undefined ? undefined : await activeRuns.current(threadId)
    if (live === undefined) throw new NoActiveRun()
    return live.subscribe(live.run.record.segment, protocol)
  }

  return {
    answersOf,
    goOn,

    /**
     * Records the answers of a request (see `answersOf`) and subscribes to the run that continues, in the protocol of the request. Throws
     * BadMessage (400) for a request without answers.
     */
    async answer (request: RunRequest, answers: ItemAnswer[]): Promise<Subscription> {
      if (answers.length === 0) approvalResponses(request)
      await liveQuestions.clean()
      const live = answers.filter(isDecision).filter(({ approvalId }) => liveQuestions.has(approvalId))
      if (live.length > 0) return answerLive(live, request)
      const threadId = await ledger.threadOf(answers[0].approvalId)
      return locked(threadId, async () => {
        const { items, conversation } = await record(threadId, answers, request.id)
        const next = await resume(items, conversation, request)
        return next.subscribe(request.protocol)
      })
    },

    /**
     * Records one answer for a caller that does not read the run. The run continues as a resumable run, to which later answers subscribe.
     * After a claim (an instance of the application executes the call now), the run still waits for the result.
     */
    answerItem: (threadId: string, answer: ItemAnswer): Promise<Answered> =>
      locked(threadId, async () => {
        const { items: [before], answered: [item = before], released, conversation } = await record(threadId, [answer])
        if (!isDecision(answer) && answer.result === undefined) return { item, released, continued: false }
        const next = await resume([item], conversation, { resumable: true })
        return { item, released, continued: next.is !== 'waiting' }
      }),

    /**
     * Continues the run of an overdue call and gives the model the outcome of the call. While other calls of the run are open, only closes
     * this call.
     */
    closeCall: (threadId: string, callId: string): Promise<void> =>
      locked(threadId, async () => {
        const call = await ledger.requireCall(callId, { threadId })
        if (ledger.isOpen(call) || !isUnanswered(call)) return
        // The run that continues closes the call together with the event of its outcome. Here it is closed only if the run waits for other
        // calls or cannot continue.
        const next = await resume([call], await conversations.get(threadId), { resumable: true }).catch((error) => {
          if (error instanceof RunGone || error instanceof MovedOn) return undefined
          throw error
        })
        if (next?.is !== 'active') await store.transact(ledger.closeSilent(call))
      })
  }
}

const isDecision = (answer: ItemAnswer): answer is Decision => 'approved' in answer

const startEvent = ({ messageId, threadId, runId }: ThreadRun): RunEvent => ({ type: 'start', messageId, threadId, runId })
