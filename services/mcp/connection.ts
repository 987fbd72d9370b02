import type { ServerCapabilities, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import { newId } from '../lib/ids.ts'
import { ToolFailed } from '../tools/index.ts'
import { VERSION } from '../lib/version.ts'
import { acceptAll } from './accept-all.ts'
import { addressesRequired, type Elicitor } from './elicitation/elicitor.ts'
import { readPages } from './entry-view.ts'
import { wordsOfError } from './envelope.ts'
import { FormRefused } from './elicitation/form.ts'
import { MAX_TOOLS, readDefinitions, type ToolDefinition } from './tool-definitions.ts'
import { DISCONNECTED, NotSent, type ServerTransport } from './server-transport.ts'
import { openStatelessSession, type ServerSession } from './stateless-session.ts'

type Json = Record<string, unknown>

/**
 * The time limit for starting, connecting and listing the tools, in milliseconds, unless the entry sets one. A program might have to be
 * installed first.
 */
export const CONNECT_MS = 60_000
/** The time limit for the ping that checks whether a server still answers after one of its calls timed out, in milliseconds. */
const PING_MS = 10_000
/** The shortest time between two requests for the list of tools, in milliseconds. */
const RELIST_MS = 1_000
const MAX_PAGES = 1_000
const LONGEST_INSTRUCTIONS = 8 * 1024
/**
 * The longest delay that a timer takes, in milliseconds. It disables the SDK's own timeouts, because all time limits here come from
 * `clock`.
 */
const NEVER_MS = 2_147_483_647

/** The capabilities that this service declares to servers. */
const CAPABILITIES = { elicitation: { form: {}, url: {} } }

export interface Connection {
  readonly definitions: ToolDefinition[]
  readonly warnings: string[]
  /** The server's own description of how to use the server: MCP's `instructions`. */
  instructions?: string
  capabilities: Json
  version?: Json
  /** Calls a tool and returns the raw result. Throws ToolFailed, NotSent, or the abort reason of the signal. */
  call(tool: string, input: unknown, context: CallContext): Promise<Json>
  /** Sends another request on behalf of a tool. Throws what `call` throws. */
  ask(method: string, params: Json, context: CallContext): Promise<Json>
  /** Returns the first page of a list of the server; [] if the server does not declare that capability. */
  list(what: 'resources' | 'prompts', signal: AbortSignal): Promise<Json[]>
  /** Resolves to the reason when the connection has ended completely, as in ServerTransport. */
  ended: Promise<string>
  close(): Promise<void>
}

export interface CallContext {
  signal: AbortSignal
  progress?: (progress: ToolProgress) => void
}

interface Parts {
  transport: ServerTransport
  clock: Clock
  signal: AbortSignal
  /** The time limit for connecting, in milliseconds. */
  connectMs?: number
  /** Called after the server announced a change of its tools and the new list has been read. */
  onTools: () => void
  /** Answers the server's elicitation requests. */
  elicitor: Pick<Elicitor, 'elicit' | 'complete'>
  /**
   * `take` receives the parameters of `notifications/message`, for the log. `level` is the lowest MCP log level that the server should
   * send.
   */
  logs: { take(params: Json): void, level: string }
}

/**
 * Connects to a server, initializes the MCP session and lists the tools. Rejects with the signal's abort reason, or with an Error whose
 * message is a clause about the server, such as "it did not answer within 60 s".
 */
export async function openConnection (parts: Parts): Promise<Connection> {
  const { transport, clock, signal, connectMs = CONNECT_MS, onTools, elicitor, logs } = parts
  const [{ Client }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js')
  ])
  const { ElicitationCompleteNotificationSchema, ErrorCode, McpError, ResultSchema, ToolListChangedNotificationSchema } = types
  const client = new Client({ name: 'local-agent-service', version: VERSION }, {
    capabilities: CAPABILITIES,
    jsonSchemaValidator: acceptAll
  })
  let current: ReturnType<typeof readDefinitions> = { definitions: [], warnings: [] }
  const notes = createServerNotes(logs.take)
  let relistingTools: Promise<void> | undefined
  let isStale = false
  const { close } = transport
  let session: ServerSession
  const request: ServerSession['request'] = (method, params, limit) => session.request(method, params, limit)

  /**
   * Sends a request under its own abort signal. The SDK sends a cancellation whenever the signal it got aborts, even after the request has
   * ended. The request's own signal aborts only while the request is pending.
   */
  async function requestInSession (method: string, params: Json, limit: AbortSignal): Promise<Json> {
    limit.throwIfAborted()
    const requestAbort = new AbortController()
    const cancel = () => requestAbort.abort(limit.reason)
    limit.addEventListener('abort', cancel, { once: true })
    try {
      return await client.request({ method, params }, ResultSchema, { signal: requestAbort.signal, timeout: NEVER_MS })
    } catch (error) {
      throw limit.aborted ? limit.reason : error
    } finally {
      limit.removeEventListener('abort', cancel)
    }
  }

  async function listTools (limit: AbortSignal) {
    const { capabilities } = session
    // Small servers might declare no capabilities at all, although they have tools.
    const isSilent = Object.keys(capabilities).length === 0
    if (capabilities.tools === undefined && !isSilent) return readDefinitions([])
    const ask = (cursor: Json) =>
      request('tools/list', cursor, limit).catch((error) => {
        if (limit.aborted || !isSilent) throw error
        return {}
      })
    const { all: listed } = await readPages(ask, 'tools', { pages: MAX_PAGES, most: MAX_TOOLS })
    const faults = listed.map((tool) => session.faultOf(tool))
    const read = readDefinitions(listed.filter((_tool, at) => faults[at] === undefined), runsTasks(capabilities))
    const left = listed.flatMap((tool, at) => faults[at] === undefined ? [] : [leftOut(tool, faults[at])])
    return { ...read, warnings: [...read.warnings, ...left.slice(0, MOST_WARNED)] }
  }

  async function relist () {
    while (isStale) {
      isStale = false
      try {
        current = await withDeadline({ clock, ms: connectMs, signal }, listTools)
        onTools()
      } catch {
        // The previous tools stay. If the server has ended, `transport.ended` reports it.
      }
      await clock.sleep(RELIST_MS, signal).catch(() => {})
    }
    relistingTools = undefined
  }

  function onToolsChanged () {
    isStale = true
    relistingTools ??= relist()
  }
  client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged)

  // The SDK's own handler would validate a form of any size against its schemas, and drop fields of newer versions of MCP.
  client.fallbackRequestHandler = async ({ method, params = {} }, { signal }) => {
    if (method !== 'elicitation/create') throw new McpError(ErrorCode.MethodNotFound, 'Method not found')
    return elicitor.elicit(params, signal).catch((error) => {
      throw error instanceof FormRefused ? new McpError(ErrorCode.InvalidParams, `The user was not asked: ${error.message}`) : error
    })
  }
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => elicitor.complete(params.elicitationId))

  /**
   * Returns the reason why the server has ended; undefined while it runs. Waits one turn of the event loop, so that an end that is just
   * being reported counts.
   */
  const endReason = (): Promise<string | undefined> =>
    Promise.race([transport.ended, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))])

  /** Initializes a session or, if the server refuses `initialize`, uses the stateless protocol of MCP 2026-07-28. */
  async function openSession (limit: AbortSignal): Promise<ServerSession> {
    // The client closes the transport if the server refuses `initialize`, but the stateless protocol still needs the transport.
    transport.close = async () => {}
    try {
      await client.connect(transport, { signal: limit, timeout: NEVER_MS })
      return {
        isStateless: false,
        faultOf: () => undefined,
        capabilities: (client.getServerCapabilities() ?? {}) as Json,
        instructions: client.getInstructions(),
        version: client.getServerVersion() as Json | undefined,
        request: requestInSession
      }
    } catch (error) {
      if (limit.aborted || await endReason() !== undefined) throw error
      const elicit = (params: Json, asked: AbortSignal) =>
        elicitor.elicit({ ...params.mode === 'url' && { elicitationId: newId() }, ...params }, asked).catch((refused) => {
          throw refused instanceof FormRefused ? new Error(`The user was not asked: ${refused.message}`) : refused
        })
      const parts = { transport, clock, signal, limit, capabilities: CAPABILITIES, logLevel: logs.level, elicit, onToolsChanged }
      const stateless = await openStatelessSession(parts)
      if (stateless === undefined) throw error
      return stateless
    } finally {
      transport.close = close
    }
  }

  try {
    const message = `it did not answer within ${connectMs / 1000} s`
    await withDeadline({ clock, ms: connectMs, signal, message }, async (limit) => {
      // Raced, because the SDK's pending request would reject without the reason why the server ended.
      const ended = transport.ended.then((why) => {
        throw new Error(why)
      })
      ended.catch(() => {})
      session = await Promise.race([openSession(limit), ended])
      const { onmessage: handle } = transport
      transport.onmessage = (message, extra) => {
        if (!notes.take(message)) handle?.(message, extra)
      }
      if (!session.isStateless && session.capabilities.logging !== undefined) {
        request('logging/setLevel', { level: logs.level }, signal).catch(() => {})
      }
      current = await Promise.race([listTools(limit), ended])
    })
  } catch (error) {
    const why = abortKind(error) === undefined ? await endReason() : undefined
    // The local `close` is the transport's own: after an aborted attempt, the property `transport.close` can still hold the replacement.
    await close()
    // If the server refuses to initialize, the client disconnects by itself. Then the error tells more than the end of the connection.
    const known = why === DISCONNECTED ? undefined : why
    throw signal.aborted ? signal.reason : new Error(known ?? wordsOf(error))
  }

  /** Sends a ping. If the server does not answer in time, stops the server, and its supervisor restarts it. */
  function probe () {
    withDeadline({ clock, ms: PING_MS, signal }, (limit) => request(session.isStateless ? 'server/discover' : 'ping', {}, limit))
      .catch((error) => {
        if (abortKind(error) === 'timeout') transport.stop('it stopped answering')
      })
  }

  /**
   * Runs the requests that `work` sends for one tool call, with a `meta` that asks the server to report progress, and converts the errors.
   */
  async function onBehalf ({ signal: limit, progress = () => {} }: CallContext, work: (meta: Json) => Promise<Json>): Promise<Json> {
    try {
      return await notes.during(progress, (progressToken) => work({ _meta: { progressToken } }))
    } catch (error) {
      if (abortKind(error) === 'timeout') probe()
      if (limit.aborted || error instanceof NotSent) throw error
      if (error instanceof McpError && error.code === ErrorCode.UrlElicitationRequired) {
        throw new ToolFailed(addressesRequired(error.data))
      }
      const why = await endReason()
      throw new ToolFailed(
        why === undefined
          ? wordsOf(error)
          : `The tool server was lost during the call: ${why}. What the call did by then is not known.`
      )
    }
  }

  return {
    get definitions () {
      return current.definitions
    },
    get warnings () {
      return current.warnings
    },
    instructions: session!.instructions?.slice(0, LONGEST_INSTRUCTIONS),
    capabilities: session!.capabilities,
    version: session!.version,
    ended: transport.ended,
    close: () => transport.close(),

    call (tool, input, context) {
      const { signal: limit, progress = () => {} } = context
      const isTask = current.definitions.find(({ name }) => name === tool)?.isTask
      return onBehalf(context, (meta) => {
        const params = { name: tool, arguments: input, ...meta }
        return isTask ? callAsTask(params, { request, clock, signal: limit, progress }) : request('tools/call', params, limit)
      })
    },

    ask: (method, params, context) => onBehalf(context, (meta) => request(method, { ...params, ...meta }, context.signal)),

    async list (what, limit) {
      if (session.capabilities[what] === undefined) return []
      const { [what]: entries } = await request(`${what}/list`, {}, limit)
      return Array.isArray(entries) ? entries.filter((entry) => typeof entry === 'object' && entry !== null) : []
    }
  }
}

const runsTasks = (capabilities: ServerCapabilities): boolean => capabilities.tasks?.requests?.tools?.call !== undefined

const LONGEST_MESSAGE = 4_000
/** The most tools for which a warning says why they were left out. */
const MOST_WARNED = 20

const leftOut = (tool: unknown, fault: string) =>
  `The tool ${JSON.stringify(String((tool as Json | null)?.name).slice(0, 100))} was left out: ${fault}.`

/** Returns the message of a server's error, without the prefix that the SDK adds. */
function wordsOf (error: unknown): string {
  const { message, data, issues } = error as Error & { data?: unknown, issues?: Array<{ path: PropertyKey[], message: string }> }
  // The SDK reports an invalid answer to `initialize` as a list of schema issues.
  if (Array.isArray(issues)) return `its first answer is not of MCP (${issues[0]?.path.join('.')}: ${issues[0]?.message})`
  return wordsOfError(message.replace(/^MCP error -?\d+: /, ''), data).slice(0, LONGEST_MESSAGE)
}

type Params = Record<string, unknown>

/**
 * Handles the notifications that a server might send in large numbers, before the SDK validates each message: progress of calls, and log
 * messages, which are passed to `logged`.
 */
function createServerNotes (logged: (params: Params) => void) {
  const calls = new Map<number, (progress: ToolProgress) => void>()
  let last = 0

  return {
    /** Handles a message if it is such a notification. Returns true if it was one. */
    take (message: JSONRPCMessage): boolean {
      if (!('method' in message) || 'id' in message) return false
      const params = message.params ?? {}
      if (message.method === 'notifications/progress') {
        const progress = readProgress(params)
        if (progress !== undefined) calls.get(Number(params.progressToken))?.(progress)
        return true
      }
      if (message.method !== 'notifications/message') return false
      logged(params)
      return true
    },

    /** Runs `work` with a new progress token, and passes the progress that the server reports for this token to `progress`. */
    async during<T> (progress: (progress: ToolProgress) => void, work: (progressToken: number) => Promise<T>): Promise<T> {
      const token = ++last
      calls.set(token, progress)
      try {
        return await work(token)
      } finally {
        calls.delete(token)
      }
    }
  }
}

function readProgress ({ progress, total, message }: Params): ToolProgress | undefined {
  if (typeof progress !== 'number') return undefined
  return { progress, ...typeof total === 'number' && { total }, ...typeof message === 'string' && message !== '' && { message } }
}

/** How long the server must keep the result of a task, in milliseconds. */
const TTL_MS = 3_600_000
/** The shortest and longest time between two polls of a task, and the default if the server names none, in milliseconds. */
const SHORTEST_POLL_MS = 100
const LONGEST_POLL_MS = 10_000
const POLL_MS = 1_000
const CANCEL_MS = 5_000

interface TaskParts {
  request: (method: string, params: Json, signal: AbortSignal) => Promise<Json>
  clock: Clock
  signal: AbortSignal
  progress: (progress: ToolProgress) => void
}

/**
 * Calls a tool that its server runs only as a task (MCP 2025-11-25, experimental): starts the task, polls it until it ends and returns the
 * result of the task. A change of the status message counts as progress. Cancels the task if the signal aborts. Throws ToolFailed if the
 * server cancelled the task.
 */
async function callAsTask (params: Json, { request, clock, signal, progress }: TaskParts): Promise<Json> {
  const created = await request('tools/call', { ...params, task: { ttl: TTL_MS } }, signal)
  let task = created.task as Json | undefined
  if (typeof task?.taskId !== 'string') return created
  const { taskId } = task
  let status = ''
  try {
    for (let changes = 0; task.status === 'working'; task = await request('tasks/get', { taskId }, signal)) {
      const seen = `${task.statusMessage ?? ''}`
      if (seen !== status) progress({ progress: ++changes, message: status = seen })
      const { pollInterval } = task
      const ms = typeof pollInterval === 'number' ? Math.min(Math.max(pollInterval, SHORTEST_POLL_MS), LONGEST_POLL_MS) : POLL_MS
      await clock.sleep(ms, signal)
    }
    if (task.status === 'cancelled') throw new ToolFailed(`The tool server cancelled the call. ${task.statusMessage ?? ''}`.trim())
    // A task that waits for input takes this path too: the request for its result lets the server ask for the input.
    return await request('tasks/result', { taskId }, signal)
  } catch (error) {
    if (signal.aborted) withDeadline({ clock, ms: CANCEL_MS }, (limit) => request('tasks/cancel', { taskId }, limit)).catch(() => {})
    throw error
  }
}
