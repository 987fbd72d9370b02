import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RunOptions } from '../../schemas/run-options.ts'
import { attachmentsIn } from '../attachments/index.ts'
import { answerAppCall, inheritProvenance } from '../approvals/index.ts'
import { isUnanswered, type ThreadItem } from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import { newId } from '../lib/ids.ts'
import type { AgentDeps } from './agent-deps.ts'
import { tracedFields } from '../lib/request-trace.ts'
import { defineError, ServiceError } from '../lib/service-error.ts'
import {
  createRunLog,
  finishOf,
  hasSmallWindow,
  inNewestStep,
  isOver,
  logTag,
  newRunFields,
  type Run,
  stoppedFor,
  type Subscription,
  type ThreadRun,
  unansweredIn,
  waitingIn,
  withRunOptions
} from '../runs/index.ts'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import { referencedApprovals, callResults, type CallResult } from './approval-answers.ts'
import { recordAnswer } from './end-run.ts'
import { createAnswerRequest, stepLimit } from './answer-request.ts'
import type { ConversationState } from './conversation-state.ts'
import { cutCallNotes, supersededNotes } from './interrupted-runs.ts'
import { runSteps } from './loop.ts'
import { NOTE_OPENING } from '../contracts/model-texts.ts'
import type { RunCollaborators } from './launch-run.ts'
import { threadPlacement } from './thread-history.ts'
import { continuedMessage, toPrompt } from './message-import.ts'
import { messagesOfRequest, type RequestMessages, type RunRequest } from './request-messages.ts'
import type { RawMessage } from '../threads/index.ts'
import { type RunSettings, settingsOfRun } from './run-settings.ts'
import { runsToUndo, undoReplaced } from './replaced-changes.ts'
import type { Remember } from './run-once.ts'
import { settleRun } from './stop-run.ts'
import { noteSizes } from './prepare-request.ts'
import { withRunModels } from '../models/index.ts'
import { noUsage } from '../usage/index.ts'
import { checkSkill } from './with-choices.ts'

/**
 * Returns the item with the result from the request, if the item is an open call of the application and the request has a result; else the
 * item as it is.
 */
function withResult (item: ThreadItem, given: readonly CallResult[], now: number): ThreadItem {
  const result = given.find(({ approvalId }) => approvalId === item.approvalId)
  if (item.kind !== 'app' || !isUnanswered(item) || result === undefined) return item
  try {
    return answerAppCall(item, result, now) ?? item
  } catch (error) {
    // A result that cannot be accepted must not prevent the user's message.
    if (error instanceof ServiceError) return item
    throw error
  }
}

interface Superseding {
  given?: readonly CallResult[]
  isStopped?: boolean
  keepsWaiting?: boolean
}

const ConversationWaits = defineError(
  'ERR_CONVERSATION_WAITS',
  'This conversation waits for an answer, see GET /approvals. Answer it first, or send the message without "waiting".'
)

const GO_ON = `${NOTE_OPENING} The user lets you go on where you stopped. Do what is left of the last request.]`

/** Whether this is the message with this id, and its metadata says why its run stopped. */
const hasStopped = ({ id, metadata }: Partial<RawMessage> = {}, messageId: string) =>
  id === messageId && (metadata as { stopped?: unknown } | null | undefined)?.stopped !== undefined

/** Returns the events with which a run begins. */
const openingOf = (
  { messages, unread = [], continue: isContinued }: RunRequest,
  start: Omit<EventOf<'start'>, 'type'>,
  now: number
): RunEvent[] => [
  { type: 'start', ...start, ...hasStopped(messages.at(-1), start.messageId) && { wasStopped: true } },
  ...unread.map((steer) => ({ type: 'steer' as const, ...steer, state: 'read' as const, step: 1, at: now })),
  ...isContinued ? [{ type: 'message' as const, text: GO_ON, isRetry: true as const }] : []
]

const STOPPED: RunEvent = { type: 'abort', reason: 'stop' }

/**
 * Begins a run in a copy of the folder that is made for this run only. If `begin` fails, the copy is removed. Throws what `Copies.openOwn`
 * throws (409).
 */
async function onOwnCopy<T> (
  folder: string,
  { copies }: Pick<AgentDeps, 'copies'>,
  begin: (place: { runId: string, cwd: string }) => Promise<T>
): Promise<T> {
  const runId = newId()
  try {
    return await begin({ runId, cwd: await copies.openOwn(runId, folder) })
  } catch (error) {
    await copies.removeOwn(runId)
    throw error
  }
}

/** Starts each run in the conversation that its request belongs to. */
export function createStartRun ({ deps, activeRuns, launch, locked }: RunCollaborators) {
  const { store, clock, runs, ledger, conversations, threads, attachments } = deps
  const answerRequest = createAnswerRequest(deps)

  /**
   * Finds the conversation of a request without an `id` by the approval ids in its messages; undefined if the ledger does not know them.
   */
  async function conversationOf (messages: RawMessage[]): Promise<string | undefined> {
    const id = referencedApprovals(messages).at(-1)
    return id === undefined ? undefined : (await ledger.find(id))?.threadId
  }

  /**
   * Ends a waiting run and withdraws its open approvals, because a new message superseded the run or the user stopped it. Later answers do
   * not resume the run. Results of the application's calls that arrive with the new message (`given`) are kept. Returns notes for the model
   * about the calls of the run, because the client's messages might lack them. If the user stopped the run, the notes are also stored
   * for the next message. Throws ConversationWaits (409) if `keepsWaiting` is set and an item waits for a person.
   */
  async function supersedePendingRun (
    conversation: ConversationState,
    { given = [], isStopped = false, keepsWaiting = false }: Superseding = {}
  ): Promise<{ conversation: ConversationState, notes: string[] }> {
    const { runId, notes: kept = [] } = conversation
    if (runId === undefined && kept.length === 0) return { conversation, notes: [] }
    const run = runId === undefined ? undefined : await runs.load<ThreadRun>(runId)
    const isOfStep = inNewestStep(run?.log.events ?? [])
    const asked = (await ledger.all(run?.record.asked ?? [])).filter(isOfStep).map((item) => withResult(item, given, clock.now()))
    if (keepsWaiting && asked.some((item) => item.kind !== 'app' && ledger.isOpen(item))) throw new ConversationWaits()
    const begun = asked.filter(({ state }) => state === 'executing')
    const notes = [...kept, ...supersededNotes(asked), ...run === undefined ? [] : cutCallNotes(run)]
    const left = conversations.clearPendingRun(conversation, isStopped ? notes : [])
    await store.transact([
      ...ledger.record(asked.filter(({ kind, state }) => kind === 'app' && (state === 'done' || state === 'error'))),
      ...ledger.withdraw(asked),
      ...ledger.record(begun.map((approval) => inState(approval, 'unknown'))),
      ...run === undefined || isOver(run.record) || (waitingIn(run.log.events).length === 0 && !isStopped)
        ? []
        : await recordAnswer(run, deps, {
          ends: [...unansweredIn(run.log.events), ...isStopped ? [finishOf(run.record, 'other', stoppedFor('user'))] : []]
        }),
      ...run === undefined ? [] : runs.end(run, isStopped ? 'stopped' : 'cancelled', isStopped ? STOPPED : undefined),
      left.op
    ])
    return { conversation: left.conversation, notes }
  }

  function modelOf (options: RunOptions | undefined): ThreadRun['model'] {
    const id = options?.model ?? deps.registry.active()
    return { id, reach: deps.registry.reach(id) }
  }

  /**
   * Returns a new run, whose record is being stored. `rehearsed` has the run id and the folder of a rehearsal, which works on a copy of the
   * folder and leaves nothing in the thread.
   */
  async function newRun (
    request: RunRequest,
    threadId: string,
    { begins: { messages, place, history, undone }, notes, settings, remember, rehearsed }: {
      begins: RequestMessages,
      notes: string[],
      settings: RunSettings,
      remember: Remember,
      rehearsed?: { runId: string, cwd: string }
    }
  ): Promise<Run<ThreadRun>> {
    const { protocol, unread = [] } = request
    const { options, given } = settings
    const runId = rehearsed?.runId ?? newId()
    const { ops, answerAt } = rehearsed !== undefined
      ? { ops: await inheritProvenance(store, store.digest(threadId), runId), answerAt: 0 }
      : place !== undefined
        ? await threads.appendRequest(threadId, place, { minted: request.id === undefined })
        : await threads.append(threadId, request.continue ? [] : messages.slice(-1))
    const now = clock.now()
    const continued = continuedMessage(messages)
    const messageId = continued ?? newId()
    const opening = openingOf(request, { messageId, threadId, runId, ...rehearsed && { dryRun: true }, ...undone && { undone } }, now)
    const run: Run<ThreadRun> = {
      record: {
        ...newRunFields(runId, now, options),
        ...tracedFields(),
        chunks: opening.length > 1 ? 1 : 0,
        given,
        threadId,
        trigger: rehearsed === undefined ? 'message' : 'rehearsal',
        sheet: rehearsed && { cwd: settings.cwd, lines: [] },
        status: 'running',
        attempts: 1,
        messageId,
        model: modelOf(options),
        protocol,
        cwd: rehearsed?.cwd ?? settings.cwd,
        maxSteps: stepLimit(deps.config(), options),
        // A rehearsal is no part of the thread.
        history: rehearsed !== undefined && place !== undefined ? undefined : history,
        usage: noUsage(),
        // A continued message is the last one of the request: the answer replaces it in the thread.
        answerAt: answerAt - unread.length - (continued === undefined ? 0 : 1),
        notes: notes.length > 0 ? notes : undefined,
        resumable: request.resumable || undefined,
        isOneOff: request.isOneOff
      },
      messages,
      log: createRunLog(opening, logTag(runId)),
      stored: opening.length > 1 ? opening.length : 0,
      saved: Promise.resolve(),
      writing: Promise.resolve(),
      // The continued message is a part of the answer.
      durable: continued !== undefined,
      indexed: 'live'
    }
    // The first model call does not wait for the write: the request is encrypted and written while the model answers. Events are sent only
    // when the request is on disk.
    run.saved = nextTurn().then(() => store.transact([...ops, ...runs.add(run), ...remember({ runId })]))
    // The end of the run awaits this promise and handles its rejection.
    run.writing = run.saved.catch(() => {})
    const release = await attachments.hold(messages.flatMap(attachmentsIn))
    void run.writing.then(release)
    return run
  }

  /**
   * Starts a run and subscribes to it. With `remember`, resolves when the run is on disk together with the operations that `remember`
   * returns, or when that write has failed.
   */
  async function startRun (request: RunRequest, remember?: Remember): Promise<Subscription> {
    const { messages, id, resumable = false, lingerMs, protocol } = request
    const known = id ?? await conversationOf(messages)
    const threadId = known ?? await threads.find(messages, (found) => !activeRuns.has(found)) ?? newId()
    const settings = await settingsOfRun(request, threadId, deps)
    await checkSkill(request.skill, settings.cwd, deps)
    // Reading the guide takes a while, so it is read in parallel.
    const guide = deps.guides.read(settings.cwd)
    await settleRun(activeRuns.of(threadId), clock)
    const begun = await locked(threadId, async () => {
      await activeRuns.current(threadId)
      // Another request took the same thread first. The search is repeated after the lock is released.
      if (known === undefined && activeRuns.has(threadId)) return undefined
      const begins = await messagesOfRequest(request, threadId, deps)
      const { origins, ...context } = await toPrompt(begins.messages, deps.host.forModel, begins.originOf)
      await noteSizes(context.prompt, attachments)
      await attachments.checkRoom(store.digest(threadId), messages.flatMap(attachmentsIn))
      const live = await activeRuns.admit(threadId, async () => {
        const replaced = await runsToUndo(request, threadId, begins, deps)
        const known = await conversations.get(threadId)
        const { conversation, notes } = request.dryRun
          ? { conversation: known, notes: known.notes ?? [] }
          : await supersedePendingRun(
            known,
            { given: callResults({ messages: messages.slice(0, -1) }), keepsWaiting: request.waiting === 'keep' }
          )
        const memory = await deps.memory.ofThread(store.digest(threadId), context.prompt, {
          isNew: request.continue !== true,
          isCompact: await hasSmallWindow(withRunModels(deps, settings.options), new AbortController().signal)
        })
        const begin = async (rehearsed?: { runId: string, cwd: string }) =>
          newRun(request, threadId, {
            // The undo comes last, after everything that can refuse the request.
            begins: { ...begins, undone: await undoReplaced(replaced, deps) },
            notes,
            settings,
            rehearsed,
            remember: (run) => [...rehearsed === undefined ? memory.ops : [], ...remember?.(run) ?? []]
          })
        const run = await (request.dryRun ? onOwnCopy(settings.cwd, deps, begin) : begin())
        return launch({
          run,
          conversation,
          resumable,
          lingerMs,
          protocol,
          async work (attempt) {
            const whole = { ...context, ...threadPlacement(origins, run.record.history), notes, guide, memory }
            try {
              await (request.continue
                ? runSteps(attempt, whole, withRunOptions(deps, settings.options, run.log))
                : answerRequest(attempt, whole))
            } finally {
              if (request.dryRun) await deps.copies.removeOwn(run.record.runId)
            }
          }
        })
      })
      if (remember !== undefined) await live.run.saved.catch(() => {})
      return live.subscribe(0)
    })
    return begun ?? startRun(request, remember)
  }

  return { startRun, supersedePendingRun }
}
