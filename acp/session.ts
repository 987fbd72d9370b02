import { RequestError, type AgentContext, type ContentBlock, type StopReason } from '@agentclientprotocol/sdk'
import { pause, pauseBefore } from '../client/backoff.ts'
import { AgentError, getThread, stopRun, type Agent, type AgentRun, type Approval, type RunStreamEvent } from '../client/index.ts'
import { createReplayFilter } from '../client/replay.ts'
import { openStream, readJson } from '../client/sse.ts'
import type { McpServer } from '@agentclientprotocol/sdk'
import { serveBuffers } from './buffers.ts'
import { chosenIn } from './choices.ts'
import { applyCopy, commandIn, undoLast } from './commands.ts'
import { connectServers } from './editor-servers.ts'
import { showHistory } from './history.ts'
import { askItem, isOpen, decide, openItems } from './open-items.ts'
import { promptParts } from './prompt-parts.ts'
import { answerOf, takesPrompt, type ItemParts } from './questions.ts'
import type { ServiceAccess } from './service-access.ts'
import { createUpdates, textUpdate, thought, type Send, type StreamedEvent } from './updates.ts'

/** How often a run that another client continues is looked up before the turn ends without it. */
const LOOKS = 5
/** How often a prompt is sent again if another client's message to the conversation was accepted first. */
const TRIES = 5

const OTHERS_WERE_FASTER = ['ERR_CONVERSATION_BUSY', 'ERR_CONVERSATION_WAITS']

type Finish = Extract<RunStreamEvent, { type: 'finish' }>

interface SessionParts {
  id: string
  cwd: string
  service: ServiceAccess
  client: AgentContext
  /** The tool servers that the editor provides for this session. */
  servers: readonly McpServer[]
  editor: { canElicit: boolean, hasNotices: boolean, hasBuffers: boolean }
}

export type Session = ReturnType<typeof createSession>

/**
 * Creates a session of an editor. A session is a thread of the service: the editor is shown its runs, and is asked about its open items.
 */
export function createSession ({ id, cwd, service, client, servers, editor }: SessionParts) {
  const send: Send = (update) => client.notify('session/update', { sessionId: id, update })
  const editorName = crypto.randomUUID()
  const updates = createUpdates({ send, cwd, hasNotices: editor.hasNotices })
  const closing = new AbortController()
  const connected = connectServers(servers, cwd)
  let turn: AbortController | undefined
  /** Resolves when the turn is over. */
  let turnEnd = Promise.resolve()
  let cancels = 0
  /** The run that is being shown, or was shown last, and the filter that knows which of its events were shown. */
  let shown: { runId?: string, filter: ReturnType<typeof createReplayFilter> } = { filter: createReplayFilter() }
  /** Resolves when the run that was active when the session was loaded has ended. */
  let following: Promise<void> = Promise.resolve()

  const itemParts = (agent: Agent): ItemParts => ({ agent, client, sessionId: id, cwd, canElicit: editor.canElicit })

  /** Stops an active run. A waiting run stays as it is. */
  async function stop (agent: Agent, runId: string): Promise<void> {
    await stopRun({ client: agent.client, path: { id: runId }, query: { waiting: 'keep' }, throwOnError: false })
  }

  /** Shows a run until it ends or waits. Returns its `finish` event; undefined if the run was stopped. */
  async function show (agent: Agent, run: AgentRun, signal: AbortSignal): Promise<Finish | undefined> {
    let finish: Finish | undefined
    const asked: Array<Promise<unknown>> = []
    const onAbort = () => { if (run.runId !== undefined) void stop(agent, run.runId) }
    signal.addEventListener('abort', onAbort)
    try {
      for await (const event of run) {
        if (event.type === 'start') {
          const { runId } = event.messageMetadata
          if (runId === shown.runId) shown.filter.reopen(false)
          else shown = { runId, filter: createReplayFilter() }
          if (signal.aborted) onAbort()
        } else if (event.type === 'finish') {
          finish = event
        } else {
          for (const fresh of shown.filter.pass(event)) {
            if (fresh.type === 'question-request' && fresh.live) asked.push(askLive(agent, fresh, signal))
            else await updates.show(fresh)
          }
        }
      }
    } catch (error) {
      // The run was stopped by this editor or by another client.
      if (error instanceof AgentError && error.code === 'ERR_RUN_ENDED') return undefined
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
    return finish
  }

  /** Asks a question that a tool server asks during a call. */
  async function askLive (agent: Agent, question: Extract<RunStreamEvent, { type: 'question-request' }>, signal: AbortSignal) {
    const item: Approval = { ...question, kind: 'question', createdAt: 0, state: 'pending', threadId: id }
    if (await askItem(itemParts(agent), item, signal) === 'unasked') await sayOpen(item)
  }

  /** Writes the questions as text, for an editor without forms. */
  async function sayOpen (item: Approval): Promise<void> {
    const questions = (item.questions ?? []).map(({ text, options }) =>
      `${text}${options === undefined ? '' : `\n${options.map(({ label }) => `- ${label}`).join('\n')}`}`)
    const how = takesPrompt(item)
      ? 'Your next message is the answer.'
      : `This waits for your answers in the console: ${service.url ?? ''}/console`
    await send(textUpdate(`\n\n${questions.join('\n\n')}\n\n${how}`))
  }

  /**
   * Asks about all open items of the conversation and shows the runs that continue, until nothing is open and no run is active. `answer` is
   * a prompt that can answer an open question. Returns the `finish` event of the last run, whether the prompt was used, and whether an item
   * stays open.
   */
  async function settle (agent: Agent, signal: AbortSignal, { last, answer }: { last?: Finish, answer?: string } = {}) {
    const handlers = { tools: (await connected).tools }
    let isUsed = false
    for (let looks = 0; ;) {
      signal.throwIfAborted()
      const items = await openItems(agent, id)
      const waiting = items.filter(({ live }) => live !== true)
      if (waiting.length > 0) {
        for (const [at, item] of waiting.entries()) {
          if (at > 0 && !await isOpen(agent, item)) continue
          if (answer && !isUsed && !editor.canElicit && item.kind === 'question' && takesPrompt(item)) {
            await decide(agent, item.approvalId, answerOf(item, answer))
            isUsed = true
            continue
          }
          const outcome = await askItem(itemParts(agent), item, signal)
          if (outcome === 'unasked') await sayOpen(item)
          if (outcome === 'open' || outcome === 'unasked') return { last, isUsed, stays: outcome }
        }
        last = await show(agent, agent.resume(waiting[0].runId!, handlers), signal)
        continue
      }
      const { data: { status } } = await getThread({ client: agent.client, path: { id }, query: { limit: 1 }, throwOnError: true })
      if (status === 'running') {
        last = await show(agent, agent.resume(id, handlers), signal).catch((error) => {
          // The run has ended in the meantime.
          if (error instanceof AgentError && error.code === 'ERR_NO_LIVE_RUN') return last
          throw error
        })
        continue
      }
      // The run's items were decided elsewhere, so the run continues or has continued there.
      if (last?.finishReason === 'tool-calls' && shown.runId !== undefined && looks++ < LOOKS) {
        await pause(pauseBefore(looks), signal)
        last = await show(agent, agent.resume(shown.runId, handlers), signal)
        continue
      }
      return { last, isUsed }
    }
  }

  /** Waits for the end of the run that was active when the session was loaded. An abort stops that run. */
  async function untilFollowed (agent: Agent, signal: AbortSignal): Promise<void> {
    const onAbort = () => void stop(agent, id)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
    await following.finally(() => signal.removeEventListener('abort', onAbort))
  }

  async function answer (blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const agent = await service.agent()
    await untilFollowed(agent, signal)
    const text = blocks.map((block) => block.type === 'text' ? block.text : '').join('')
    const before = await settle(agent, signal, { answer: text })
    if (before.stays !== undefined || before.isUsed) return stopReason(before)
    const command = commandIn(text)
    if (command?.name === 'undo' || command?.name === 'apply') {
      await send(textUpdate(command.name === 'undo' ? await undoLast(agent, id) : await applyCopy(agent, id, command.rest)))
      return 'end_turn'
    }
    const chosen = command === undefined ? await chosenIn(agent, cwd, blocks) : undefined
    if (typeof chosen === 'string') {
      await send(textUpdate(chosen))
      return 'end_turn'
    }
    const { blocks: words, ...named } = chosen ?? { blocks }
    const { parts: content, notes } = await promptParts(agent, words)
    for (const note of notes) await updates.notice(note)
    const { tools } = await connected
    const request = {
      ...{ id, cwd, options: { interactive: true }, waiting: 'keep' as const },
      ...command?.name === 'continue' ? { continue: true } : { ...named, ...content.length > 0 && { message: { role: 'user', content } } }
    }
    const idempotencyKey = crypto.randomUUID()
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted()
      try {
        const last = await show(agent, agent.run({ ...request, ...Object.keys(tools).length > 0 && { tools }, idempotencyKey }), signal)
        return stopReason(last === undefined ? {} : await settle(agent, signal, { last }))
      } catch (error) {
        if (!(error instanceof AgentError) || !OTHERS_WERE_FASTER.includes(error.code) || tries >= TRIES) throw error
        // Another client's message to this conversation was accepted first.
        const { stays } = await settle(agent, signal)
        if (stays !== undefined) return 'cancelled'
      }
    }
  }

  /** Writes why a run ended early, and returns the ACP stop reason of the turn. */
  async function stopReason ({ last, stays }: { last?: Finish, stays?: 'open' | 'unasked' }): Promise<StopReason> {
    if (stays === 'unasked') return 'end_turn'
    if (stays === 'open' || last === undefined) return 'cancelled'
    if (last.stopped !== undefined) await send(textUpdate(`\n\n${last.stopped.text}`))
    if (last.stopped?.reason === 'steps') return 'max_turn_requests'
    switch (last.finishReason) {
      case 'length':
        return 'max_tokens'
      case 'content-filter':
        return 'refusal'
      default:
        return 'end_turn'
    }
  }

  async function showTitle (): Promise<void> {
    const agent = await service.agent()
    const { data } = await getThread({ client: agent.client, path: { id }, query: { limit: 1 }, throwOnError: true })
    const updatedAt = new Date(data.updatedAt).toISOString()
    await send({ sessionUpdate: 'session_info_update', title: data.title, updatedAt })
  }

  return {
    cwd,

    /** Answers a prompt. Items that wait in the conversation are asked about first. Throws RequestError. */
    async prompt (blocks: readonly ContentBlock[]): Promise<StopReason> {
      const before = cancels
      // An editor might send the next prompt right after a cancel.
      while (turn?.signal.aborted) await turnEnd
      if (cancels !== before) return 'cancelled'
      if (turn !== undefined) throw RequestError.invalidRequest(undefined, 'A prompt of this session is being answered; cancel it first.')
      const own = turn = new AbortController()
      const ended = Promise.withResolvers<void>()
      turnEnd = ended.promise
      const over = new AbortController()
      try {
        if (editor.hasBuffers) await serveBuffers({ service, client, sessionId: id, editor: editorName, signal: over.signal })
        return await answer(blocks, own.signal)
      } catch (error) {
        if (own.signal.aborted) return 'cancelled'
        throw asRequestError(error)
      } finally {
        turn = undefined
        ended.resolve()
        over.abort()
        void showTitle().catch(() => {})
      }
    },

    /** Ends the turn and stops its run. Items that wait for the user stay open. */
    cancel (): void {
      cancels++
      turn?.abort()
    },

    closeServers: async (): Promise<void> => (await connected).close(),

    /** Sends a notice for each of the editor's tool servers that could not be connected. */
    async sayProblems (): Promise<void> {
      for (const problem of (await connected).problems) await updates.notice(problem)
    },

    /** Ends the turn, and stops showing a run that was active when the session was loaded. */
    close (): void {
      turn?.abort()
      closing.abort()
      void this.closeServers()
    },

    /** Shows the stored messages and the active run. If this fails, the session is closed. */
    async load (): Promise<void> {
      const { signal } = closing
      const agent = await service.agent()
      const url = `/run/${encodeURIComponent(id)}/stream`
      const stream = await openStream(agent.client, { method: 'GET', url, query: { protocol: 'ui' }, signal })
      const events = stream && readJson<StreamedEvent>(stream, signal)
      try {
        const first = (await events?.next())?.value?.event as { messageId?: string } | undefined
        const { data } = await getThread({ client: agent.client, path: { id }, query: { protocol: 'ui' }, throwOnError: true })
        const messages = (data.messages as Array<{ id?: string, role: string }>)
          .filter((message) => first === undefined || message.id !== first.messageId)
        await showHistory({ agent, send, updates, cwd }, messages)
        if (events !== undefined) following = showRest(events)
        if (data.status === 'pending_approval') {
          await send(thought('This conversation waits for your decision. You are asked when you send the next message.\n\n'))
        }
      } catch (error) {
        // An open stream that nobody reads would pause its run.
        closing.abort()
        throw error
      }
    }
  }

  async function showRest (events: ReturnType<typeof readJson<StreamedEvent>>): Promise<void> {
    try {
      for await (const { event } of events) await updates.show(event)
    } catch {
      // The next prompt reads the current state.
    }
  }
}

/** Converts an error into a RequestError, which carries the service's sentence to the editor. */
export function asRequestError (error: unknown): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof AgentError) {
    const hint = error.code === 'ERR_INTERRUPTED' ? ' Send /continue to go on.' : ''
    const code = error.statusCode !== undefined && error.statusCode < 500 ? -32602 : -32603
    return new RequestError(error.code === 'ERR_UNAUTHORIZED' ? -32000 : code, `${error.message}${hint}`, { code: error.code })
  }
  return new RequestError(-32603, error instanceof Error ? error.message : String(error))
}
