import {
  agent as createApp,
  PROTOCOL_VERSION,
  RequestError,
  type AgentContext,
  type ClientCapabilities,
  type McpServer,
  type Stream
} from '@agentclientprotocol/sdk'
import { type Agent, AgentError, createThread, deleteThread, getThread, listThreads } from '../client/index.ts'
import { VERSION } from '../services/lib/version.ts'
import { commandsFor } from './choices.ts'
import { COMMANDS } from './commands.ts'
import type { ServiceAccess } from './service-access.ts'
import { configOptions, modeState, readChoices, setMode, setModel, type Choices, type Mode } from './session-settings.ts'
import { asRequestError, createSession, type Session } from './session.ts'

/** The number of threads on a page of the session list. */
const LISTED = 50

/** The field that marks the threads that editors created. */
const MARK = 'editor'
/** How long an unused session can still be loaded, in milliseconds. */
const UNUSED_MS = 24 * 3_600_000

type Client = Agent['client']

/** A session that the editor asks to create or load. */
interface Asked {
  id: string
  cwd: string
  servers?: readonly McpServer[]
}

interface Opened {
  session: Session
  choices: Choices
}

/**
 * Returns a function that deletes editor sessions that hold no message and are older than a day. The function does this once per process.
 */
function createTidy (): (client: Client) => Promise<void> {
  let isDone = false
  return async (client) => {
    if (isDone) return
    isDone = true
    try {
      for (let cursor: string | undefined; ;) {
        const { data } = await listThreads({ client, query: { limit: 500, ...cursor && { cursor } }, throwOnError: true })
        const unused = data.threads.filter((thread) =>
          thread.messageCount === 0 && (thread as Record<string, unknown>)[MARK] === true && thread.updatedAt < Date.now() - UNUSED_MS)
        for (const { id } of unused) await deleteThread({ client, path: { id }, throwOnError: true })
        cursor = data.nextCursor
        if (cursor === undefined) return
      }
    } catch {
      // The next process tries again.
    }
  }
}

/** Serves one editor over a stream of ACP messages. The id of a session is the id of its thread in the service. */
export function connectEditor ({ stream, service }: { stream: Stream, service: ServiceAccess }) {
  const sessions = new Map<string, Opened>()
  const tidy = createTidy()
  let capabilities: ClientCapabilities = {}

  const withErrors = <P, R>(handle: (context: P) => Promise<R>) => async (context: P): Promise<R> => {
    try {
      return await handle(context)
    } catch (error) {
      throw asRequestError(error)
    }
  }

  const opened = (id: string): Opened => {
    const found = sessions.get(id)
    if (found === undefined) throw RequestError.sessionNotFound(id)
    return found
  }

  async function open ({ id, cwd, servers = [] }: Asked, client: AgentContext): Promise<Opened> {
    const editor = {
      canElicit: capabilities.elicitation?.form != null,
      hasNotices: capabilities.session?.notices != null,
      hasBuffers: capabilities.fs?.readTextFile === true
    }
    const choices = await readChoices(await service.agent(), id, cwd)
    const entry = { session: createSession({ id, cwd, service, client, servers, editor }), choices }
    sessions.set(id, entry)
    // Sent after the response, because only then does the editor know the session.
    setTimeout(() => void entry.session.sayProblems().catch(() => {}), 0)
    return entry
  }

  /** Opens the session of a stored thread. Throws RequestError if the thread does not exist. */
  async function openStored (asked: Asked, client: AgentContext): Promise<Opened> {
    sessions.get(asked.id)?.session.close()
    try {
      return await open(asked, client)
    } catch (error) {
      if (error instanceof AgentError && error.statusCode === 404) throw RequestError.sessionNotFound(asked.id)
      throw error
    }
  }

  const settingsOf = ({ choices }: Opened) => ({ modes: modeState(choices), configOptions: configOptions(choices) })

  /** Sends the slash commands after the response, because only then does the editor know the session. */
  function tellCommands (client: AgentContext, sessionId: string): void {
    setTimeout(() => void sendCommands(client, sessionId).catch(() => {}), 0)
  }

  async function sendCommands (client: AgentContext, sessionId: string): Promise<void> {
    const { session: { cwd } } = opened(sessionId)
    const availableCommands = await service.agent().then((agent) => commandsFor(agent, cwd)).catch(() => COMMANDS)
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'available_commands_update', availableCommands } })
  }

  async function changeMode (id: string, mode: string): Promise<void> {
    const entry = opened(id)
    if (!modeState(entry.choices).availableModes.some((each) => each.id === mode)) {
      throw RequestError.invalidParams(undefined, `There is no mode "${mode}" in this session.`)
    }
    await setMode(await service.agent(), id, entry.session.cwd, mode as Mode)
    entry.choices.mode = mode as Mode
  }

  const app = createApp({ name: 'local-agent' })
    .onRequest('initialize', ({ params }) => {
      capabilities = params.clientCapabilities ?? {}
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'local-agent', title: 'Local Agent', version: VERSION },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {} }
        },
        authMethods: []
      }
    })
    .onRequest('authenticate', () => {
      throw RequestError.invalidRequest(undefined, 'No sign-in is needed: LOCAL_AGENT_TOKEN of the environment is the token.')
    })
    .onRequest('session/new', withErrors(async ({ params: { cwd, mcpServers }, client }) => {
      const { client: http } = await service.agent()
      void tidy(http)
      const { data } = await createThread({ client: http, body: { settings: { cwd }, [MARK]: true }, throwOnError: true })
      const entry = await open({ id: data.id, cwd, servers: mcpServers }, client)
      tellCommands(client, data.id)
      return { sessionId: data.id, ...settingsOf(entry) }
    }))
    .onRequest('session/load', withErrors(async ({ params: { sessionId, cwd, mcpServers }, client }) => {
      const entry = await openStored({ id: sessionId, cwd, servers: mcpServers }, client)
      await entry.session.load()
      tellCommands(client, sessionId)
      return settingsOf(entry)
    }))
    .onRequest('session/resume', withErrors(async ({ params: { sessionId, cwd, mcpServers }, client }) => {
      const entry = await openStored({ id: sessionId, cwd, servers: mcpServers }, client)
      tellCommands(client, sessionId)
      return settingsOf(entry)
    }))
    .onRequest('session/list', withErrors(async ({ params: { cwd, cursor } }) => {
      const { client } = await service.agent()
      const { data } = await listThreads({ client, query: { limit: LISTED, ...cursor && { cursor } }, throwOnError: true })
      // The list of threads does not hold their folders, so each thread is read.
      const threads = await Promise.all(data.threads.map(async ({ id }) =>
        (await getThread({ client, path: { id }, query: { limit: 1 }, throwOnError: false })).data))
      const listed = threads.flatMap((thread) => {
        const folder = thread?.settings?.cwd
        if (thread === undefined || folder === undefined || (cwd && cwd !== folder)) return []
        return [{ sessionId: thread.id, cwd: folder, title: thread.title, updatedAt: new Date(thread.updatedAt).toISOString() }]
      })
      return { sessions: listed, ...data.nextCursor !== undefined && { nextCursor: data.nextCursor } }
    }))
    .onRequest('session/close', withErrors(async ({ params: { sessionId } }) => {
      opened(sessionId).session.close()
      sessions.delete(sessionId)
      return {}
    }))
    .onRequest('session/set_mode', withErrors(async ({ params: { sessionId, modeId }, client }) => {
      await changeMode(sessionId, modeId)
      const update = { sessionUpdate: 'config_option_update' as const, configOptions: configOptions(opened(sessionId).choices) }
      await client.notify('session/update', { sessionId, update })
      return {}
    }))
    .onRequest('session/set_config_option', withErrors(async ({ params: { sessionId, configId, ...rest }, client }) => {
      const entry = opened(sessionId)
      const value = String((rest as { value?: unknown }).value)
      if (configId === 'mode') {
        await changeMode(sessionId, value)
        await client.notify('session/update', { sessionId, update: { sessionUpdate: 'current_mode_update', currentModeId: value } })
      } else if (configId === 'model') {
        entry.choices.model = await setModel(await service.agent(), sessionId, value)
      } else {
        throw RequestError.invalidParams(undefined, `There is no option "${configId}".`)
      }
      return { configOptions: configOptions(entry.choices) }
    }))
    .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
      const stopReason = await opened(sessionId).session.prompt(prompt)
      // The run might have created a skill, and a server might have connected, so the commands are sent again.
      tellCommands(client, sessionId)
      return { stopReason }
    })
    .onNotification('session/cancel', ({ params: { sessionId } }) => sessions.get(sessionId)?.session.cancel())

  const connection = app.connect(stream)

  /** Resolves when the editor has disconnected and its tool servers have ended. */
  async function untilClosed (): Promise<void> {
    await connection.closed
    await Promise.allSettled([...sessions.values()].map(({ session }) => session.closeServers()))
  }

  return {
    /** Resolves when the editor has disconnected. */
    closed: untilClosed(),
    close: () => connection.close()
  }
}
