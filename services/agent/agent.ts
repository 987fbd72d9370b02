import type { RunStatus } from '../../schemas/tasks.ts'
import type { ApproveBody, LiveRun, Protocol, RunBody, RunResult, SteerBody, SteeredRun } from '../../schemas/agent.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import { Aborted } from '../lib/abort.ts'
import {
  type ActiveRun,
  ConversationBusy,
  type EventPosition,
  isOfRun,
  NoActiveRun,
  protocolOf,
  readEventId,
  type Run,
  type Subscription,
  type ThreadRun
} from '../runs/index.ts'
import { isId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { defineError } from '../lib/service-error.ts'
import type { RunRequest } from './request-messages.ts'
import { createStartRun } from './start.ts'
import { createResumeRun } from './resume.ts'
import { createRunOnce } from './run-once.ts'
import type { AgentDeps } from './agent-deps.ts'
import { assertSpelling, takeAttachments, withoutDroppedTries } from './prepare-request.ts'
import { readHistory } from './thread-history.ts'
import { largestWindow, threadOptions } from './run-settings.ts'
import { createConversationGuard } from './conversation-guard.ts'
import { createCutRuns } from './cut-runs.ts'
import { createLaunchRun } from './launch-run.ts'
import { BadMessage, markOf, type RawMessage, steeringIn } from '../threads/index.ts'
import { recoverRuns, replayRecorded } from './interrupted-runs.ts'
import { createBeginnings, createSteerRun } from './steer.ts'
import { createStopRun, NothingToStop, type RunPlace, settleRun } from './stop-run.ts'
import { collectResult } from './sync.ts'
import { createConversationOf, createUserWords } from './user-words.ts'
import { withChoices } from './with-choices.ts'

const DryAnswer = defineError(
  'ERR_INVALID_REQUEST',
  '"dryRun" goes with a new message: a rehearsal can neither answer what a run waits for, nor go on with "continue" where a run stopped.'
)

const OptionsOfNoRun = defineError(
  'ERR_INVALID_REQUEST',
  '"options" belong to the request that begins a run. The run keeps its own: leave them out of the body of /run/approve.'
)

const NothingToContinue = defineError(
  'ERR_NOTHING_TO_CONTINUE',
  'The last run of this conversation has ended properly, or waits for an answer, or there is no conversation with this "id": there is ' +
  'nothing to go on with. Send a message.'
)
/** Statuses of runs that ended before the model had finished its answer. */
const UNFINISHED: readonly RunStatus[] = ['stopped', 'failed', 'interrupted', 'cancelled']

/** A single message is searched for among this many of the newest ones, unless the request says that it replaces something. */
const RECENT = 100

export type Agent = ReturnType<typeof createAgent>

/**
 * Runs conversations with the agent. Subscribers read a run through its event log. When a run needs an approval, its stream ends, the run
 * waits on disk, and it continues when the answer arrives.
 */
export function createAgent (deps: AgentDeps) {
  const { runs, activeRuns } = deps
  const cutRuns = createCutRuns(deps.clock)
  const parts = { deps, activeRuns, cutRuns, locked: createKeyedLock(), launch: createLaunchRun(activeRuns, deps) }
  const { startRun, supersedePendingRun } = createStartRun(parts)
  const stopRun = createStopRun(parts, supersedePendingRun)
  const steerConversation = createSteerRun(parts)
  const beginning = createBeginnings()
  const userWords = createUserWords(parts)
  const { answer, answersOf, answerItem, closeCall, goOn } = createResumeRun(parts)

  async function windowFor (id: string, given: RunOptions | undefined): Promise<number> {
    const { options } = await deps.agents.resolve([threadOptions(await deps.threads.settings(id)), given])
    return largestWindow(options, deps)
  }

  /**
   * Completes a request that sends one of the last `most` messages of the user once more: with the messages before that one. Returns
   * undefined if the thread has no message with this id.
   */
  async function toReplace ({ id, options }: RunBody, message: RawMessage, most = Infinity) {
    const at = id === undefined ? undefined : await deps.threads.positionOf(id, message, most)
    if (id === undefined || at === undefined) return undefined
    const { messages, ...history } = await readHistory(id, { threads: deps.threads, window: () => windowFor(id, options), before: at })
    return { messages: [...messages, message], history, replaces: true as const }
  }

  /**
   * Completes a request. A `message` with an `id` continues the stored thread: the newest messages that fit the model's context window are
   * read from the thread. A message with the id of a stored one goes to its place. Throws BadMessage (400) or ConversationBusy (409).
   */
  async function withHistory (given: RunBody, protocol?: Protocol): Promise<RunRequest> {
    assertSpelling(given)
    if (given.continue) return toContinue(given, protocol)
    const body = withoutDroppedTries(given)
    if (body.messages !== undefined) {
      const request = { ...body, messages: body.messages, protocol: protocol ?? protocolOf(body.messages) }
      return { ...request, ...body.messages.length === 1 ? await toReplace(body, body.messages[0]) : undefined }
    }
    if (body.message === undefined || body.id === undefined) {
      throw new BadMessage('The body needs "messages", or "message" together with the "id" of its thread.')
    }
    const request = { ...body, protocol: protocol ?? protocolOf([body.message]) }
    if ((await answersOf({ ...body, messages: [body.message] })).length > 0) return { ...request, messages: [body.message] }
    // A run that is ending has yet to write its answer into the thread.
    await settleRun(activeRuns.of(body.id), deps.clock)
    if (activeRuns.has(body.id)) throw new ConversationBusy()
    const { id, message, trigger, messageId, changes } = body
    const isMarked = trigger === 'regenerate-message' || messageId !== undefined || changes !== undefined
    const replacing = await toReplace(body, message, isMarked ? Infinity : RECENT)
    if (replacing !== undefined) return { ...request, ...replacing }
    const window = () => windowFor(id, body.options)
    const { messages, ...history } = await readHistory(id, { threads: deps.threads, window })
    return { ...request, messages: [...messages, message], history }
  }

  /**
   * Returns the request that continues the last run of a conversation. Throws BadMessage (400), ConversationBusy or NothingToContinue
   * (409).
   */
  async function toContinue ({ id, cwd, options, ...body }: RunBody, protocol?: Protocol): Promise<RunRequest> {
    if (id === undefined || body.messages !== undefined || body.message !== undefined) {
      throw new BadMessage('"continue" goes with the "id" of a thread, and without "messages" and "message".')
    }
    await settleRun(activeRuns.of(id), deps.clock)
    if (activeRuns.has(id)) throw new ConversationBusy()
    const last = await newestRun(id)
    if (last === undefined || !(UNFINISHED.includes(last.status) || last.stopped !== undefined)) throw new NothingToContinue()
    const kept = options === undefined ? { options: last.options, given: last.given } : undefined
    const window = () => kept ? largestWindow(kept.options, deps) : windowFor(id, options)
    const { messages: read, ...history } = await readHistory(id, { threads: deps.threads, window })
    // The new run gets the messages that the previous run has not read.
    const messages = read.slice(0, read.findLastIndex((message) => markOf(message)?.state !== 'unread') + 1)
    const unread = read.slice(messages.length).flatMap(steeringIn)
    return {
      ...body,
      ...{ id, messages, history, unread, continue: true, protocol: protocol ?? last.protocol ?? 'documented' },
      cwd: cwd ?? last.cwd,
      ...kept ? { kept } : { options }
    }
  }

  /** Returns the newest run of a conversation, without rehearsals. */
  async function newestRun (threadId: string): Promise<ThreadRun | undefined> {
    for await (const runId of runs.ofThread(threadId)) {
      const record = await runs.get<ThreadRun>(runId)
      if (record !== undefined && record.sheet === undefined) return record
    }
    return undefined
  }

  const run = createRunOnce({
    ...parts,
    goOn,
    begin: ({ isOneOff, lingerMs, ...given }, protocol, remember) =>
      beginning.during(given.id, async () => {
        const { body, release } = await takeAttachments(await withChoices(given, deps), deps)
        try {
          const request = { ...await withHistory(body, protocol), isOneOff, lingerMs }
          const answers = request.continue ? [] : await answersOf(request)
          if (request.dryRun && (answers.length > 0 || request.continue)) throw new DryAnswer()
          return answers.length > 0 ? await answer(request, answers) : await startRun(request, remember)
        } finally {
          release()
        }
      })
  })

  /** Returns the thread with this id or, if there is none, the run with this id and its thread. */
  async function placeOf (id: string): Promise<RunPlace | undefined> {
    if (activeRuns.has(id) || await deps.threads.get(id) !== undefined) return { threadId: id }
    const head = activeRuns.ofRun(id)?.run.record ?? (isId(id) ? await runs.get(id) : undefined)
    return head?.threadId === undefined ? undefined : { threadId: head.threadId, runId: id }
  }

  /**
   * Returns the active run of the thread with this id or, if there is no such thread, the active run with this id. Waits for the end of an
   * aborted run.
   */
  async function activeRun (id: string): Promise<ActiveRun | undefined> {
    const place = await placeOf(id)
    return place && activeRuns.current(place.threadId, place.runId)
  }

  /**
   * Returns the stored run with this id. If the id is a thread's, returns the interrupted run at the end of the thread, or the newest run
   * if the reader's position `after` is in it.
   */
  async function recordedRun (id: string, after: EventPosition | undefined): Promise<Run<ThreadRun> | undefined> {
    const isThread = await deps.threads.get(id) !== undefined
    const newest = isThread && after !== undefined ? (await newestRun(id))?.runId : undefined
    const isRead = newest !== undefined && after !== undefined && isOfRun(after, newest)
    const runId = isRead ? newest : isThread ? (await deps.conversations.get(id)).runId : id
    const run = runId !== undefined && isId(runId) ? await runs.load<ThreadRun>(runId) : undefined
    return run?.record.threadId === undefined || (isThread && !isRead && run.record.status !== 'interrupted') ? undefined : run
  }

  return {
    /**
     * Starts a run, or continues a run if the last message answers an approval request. A request that is repeated with the same key takes
     * effect once; see `createRunOnce`.
     */
    run,

    /**
     * Continues the run that requested the approval; see `Ledger.answer` for the answers that are accepted. Throws OptionsOfNoRun (400) for
     * `options`, which would have no effect, and DryAnswer (400).
     */
    async approve (body: ApproveBody, protocol?: Protocol): Promise<Subscription> {
      if ('options' in body) throw new OptionsOfNoRun()
      if ('dryRun' in body) throw new DryAnswer()
      const request = await withHistory(body, protocol)
      return answer(request, await answersOf(request))
    },

    answerItem,
    closeCall,

    /** Like `run`, but returns the result as one object instead of a stream. */
    sync: async (body: RunBody, signal: AbortSignal, key?: string): Promise<RunResult> =>
      collectResult(await run(body, undefined, key === undefined ? undefined : { key }), signal),

    /**
     * Subscribes to the active run of a thread, or to the run with this id, from the first event of its segment (the part of a run between
     * two waits for a person); in a chat client's protocol from the beginning of its message. A run that was cut when the service was
     * killed continues if its reader comes back within a minute of the next start. Other interrupted runs are replayed. If `id` is a run's
     * own id, the last segment of the run is replayed even if the run has ended or waits. Returns undefined for any other id. With
     * `lastEventId`, the `id:` of the last event that the reader received, only later events are sent, even if the run has ended meanwhile;
     * returns undefined if there are none.
     */
    async subscribe (id: string, protocol?: Protocol, lastEventId = ''): Promise<Subscription | undefined> {
      const from = { isWhole: true, after: readEventId(lastEventId) }
      const live = await activeRun(id)
      if (live !== undefined) return live.subscribe(live.run.record.segment, protocol, from)
      const recorded = await recordedRun(id, from.after)
      const again = recorded && await goOn(recorded.record)
      if (again !== undefined) return again.subscribe(again.run.record.segment, protocol, from)
      return recorded && replayRecorded(recorded, protocol, from.after)
    },

    /**
     * Stops the active run, or a rehearsal, and waits for its end. A waiting run is ended, and its open items are withdrawn; with
     * `keepsWaiting` a waiting run is left alone. Throws NothingToStop (404).
     */
    async stop (id: string, how?: { keepsWaiting: boolean }): Promise<LiveRun> {
      const ofTask = activeRuns.ofTaskRun(id)
      if (ofTask?.run.record.trigger === 'rehearsal') {
        ofTask.abort(new Aborted('stop', 'The user stopped the rehearsal.'))
        await ofTask.done
        return { ok: true, runId: id, taskId: ofTask.run.record.taskId }
      }
      const place = await placeOf(id)
      if (place === undefined) throw new NothingToStop()
      return stopRun(place, how)
    },

    /**
     * Sends a message of the user to the active run of a conversation, or to the run with this id, of a conversation or a task. The model
     * gets the message at its next step or, if the run waits, when the run continues. The message is on disk when the promise resolves.
     * Throws NoActiveRun (404) or SteeringFull (429).
     */
    async steer (id: string, body: SteerBody): Promise<SteeredRun> {
      await beginning.over(id)
      const place = await placeOf(id)
      if (place !== undefined) return steerConversation(place, body)
      const taskId = isId(id) ? (await runs.get(id))?.taskId : undefined
      if (taskId === undefined || deps.tasks === undefined) throw new NoActiveRun()
      return deps.tasks.steerRun(taskId, id, body)
    },

    /** Ends the runs that were cut when the service last ended. Must be called before any request is handled. */
    recover: () => recoverRuns(deps, cutRuns),

    ...createConversationGuard(parts, supersedePendingRun),

    /** Returns the user's messages in the conversation of an active run; undefined for other runs, such as those of tasks. */
    userWords,
    conversationOf: createConversationOf(parts, userWords),

    /** Registers a listener that is called with the thread id of each run that ends. */
    onEnd: activeRuns.onEnd,

    get activeRunCount () {
      return activeRuns.size
    },

    /** Stops every run; each stream gets a final event. */
    close: () => activeRuns.close(new Aborted('shutdown', 'The service is shutting down.'))
  }
}
