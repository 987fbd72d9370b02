import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { Clock } from '../lib/clock.ts'
import { VERSION } from '../lib/version.ts'
import { headerFault, parameterHeaders } from './parameter-headers.ts'
import { isAnswer, readCapabilities, withoutNulls } from './envelope.ts'
import type { ServerTransport } from './server-transport.ts'

type Json = Record<string, unknown>

/** The revision of MCP without sessions: each request contains the revision, the client and the client's capabilities. */
export const STATELESS_VERSION = '2026-07-28'

/** The prefix of MCP's own keys in `_meta`. */
const META = 'io.modelcontextprotocol'
/** The most times that a server can answer one request with questions. The elicitor limits the number of questions. */
const MAX_ROUNDS = 32
/** The pause before a request is sent again if the server answered `input_required` without a question, in milliseconds. */
const PATIENCE_MS = 1_000
/** The pause before the service subscribes to changes again after the stream was lost, in milliseconds. */
const LISTEN_AGAIN_MS = 10_000
/** The JSON-RPC errors of a server that does not support a method (-32601), or not with these parameters (-32602). */
const NOT_OFFERED: unknown[] = [-32601, -32602]
const UNSUPPORTED_VERSION = -32022

/** The parts of a session that a connection needs, for every revision of MCP. */
export interface ServerSession {
  capabilities: Json
  instructions?: string
  version?: Json
  /** True for MCP 2026-07-28 and later: there is no ping, and the log level is sent with each request. */
  isStateless: boolean
  /** Returns a clause that says why a tool must not be used; undefined if the tool can be used. */
  faultOf (tool: unknown): string | undefined
  /** Sends a request. Rejects with the signal's abort reason, or with an Error that has the message of the server. */
  request (method: string, params: Json, limit: AbortSignal): Promise<Json>
}

/** A server's error answer, thrown as an Error. */
class Answered extends Error {
  readonly code: unknown
  readonly data: unknown
  constructor ({ code, message, data }: Json) {
    super(message as string)
    this.code = code
    this.data = data
  }
}

interface Parts {
  transport: ServerTransport
  clock: Clock
  /** Ends the session. */
  signal: AbortSignal
  /** Limits the time for finding out whether the server supports this revision. */
  limit: AbortSignal
  capabilities: Json
  /** The lowest MCP log level that the server should send. */
  logLevel: string
  /** Asks the user a question of the server, and returns the answer. Rejects if the question cannot be shown. */
  elicit: (params: Json, signal: AbortSignal) => Promise<Json>
  /** Called when the server's tools have changed, or might have changed. */
  onToolsChanged: () => void
}

/**
 * Tries MCP 2026-07-28 with a server that has refused `initialize`. Resolves to undefined if the server does not support this revision.
 * Rejects with the abort reason of `limit`, or with an Error whose message is a clause if the server names revisions, and this service
 * supports none of them.
 */
export async function openStatelessSession (parts: Parts): Promise<ServerSession | undefined> {
  const { transport, clock, signal, limit, capabilities, logLevel, elicit, onToolsChanged } = parts
  const pending = new Map<RequestId, PromiseWithResolvers<Json>>()
  // The SDK's client has already used the id 0.
  let last = 0
  /** The input schemas of the tools, by name. They mark the parts of a call's input that are repeated in headers. */
  let schemas = new Map<unknown, unknown>()
  let found: Json = {}

  transport.setProtocolVersion?.(STATELESS_VERSION)
  transport.onmessage = (message: JSONRPCMessage) => {
    if (isAnswer(message)) {
      const waiting = pending.get(message.id as RequestId)
      pending.delete(message.id as RequestId)
      if ('error' in message) waiting?.reject(new Answered(message.error as unknown as Json))
      else waiting?.resolve(message.result as Json)
    } else if (!('id' in message) && message.method === 'notifications/tools/list_changed') onToolsChanged()
  }
  transport.onclose = () => {
    for (const { reject } of pending.values()) reject(new Error('The tool server is not connected any more.'))
    pending.clear()
  }

  const envelope = () => ({
    [`${META}/protocolVersion`]: STATELESS_VERSION,
    [`${META}/clientInfo`]: { name: 'local-agent-service', version: VERSION },
    [`${META}/clientCapabilities`]: capabilities,
    ...readCapabilities(found.capabilities).logging !== undefined && { [`${META}/logLevel`]: logLevel }
  })

  async function exchange (method: string, params: Json, limit: AbortSignal): Promise<Json> {
    limit.throwIfAborted()
    const id = ++last
    const answer = Promise.withResolvers<Json>()
    pending.set(id, answer)
    const cancel = () => {
      if (!pending.delete(id)) return
      transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }).catch(() => {})
      answer.reject(limit.reason)
    }
    limit.addEventListener('abort', cancel, { once: true })
    const headers = method === 'tools/call' ? parameterHeaders(schemas.get(params.name), params.arguments) : {}
    const message = { jsonrpc: '2.0' as const, id, method, params: { ...params, _meta: { ...params._meta as Json, ...envelope() } } }
    transport.send(message, { headers }).catch((error) => {
      if (pending.delete(id)) answer.reject(error)
    })
    return answer.promise.finally(() => limit.removeEventListener('abort', cancel))
  }

  /**
   * Returns the user's answers to the questions in `asked`, by the same keys. Throws an Error for a request that this service does not
   * support.
   */
  async function answersTo (asked: Json, limit: AbortSignal): Promise<Json> {
    const answers: Json = {}
    for (const [key, each] of Object.entries(asked)) {
      const { method, params = {} } = (each ?? {}) as { method?: string, params?: Json }
      if (method !== 'elicitation/create') throw new Error(`The tool server asks for ${method}, which this service does not offer.`)
      answers[key] = await elicit(params, limit)
    }
    return answers
  }

  async function request (method: string, params: Json, limit: AbortSignal): Promise<Json> {
    let sent = params
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { resultType, ...result } = await exchange(method, sent, limit)
      if (resultType !== 'input_required') {
        if (method === 'tools/list') remember(result, params.cursor === undefined)
        return result
      }
      const { inputRequests, requestState } = result
      const inputResponses = await answersTo(withoutNulls(inputRequests ?? {}) as Json, limit)
      const isAnswered = Object.keys(inputResponses).length > 0
      if (!isAnswered) await clock.sleep(PATIENCE_MS, limit)
      // The server puts what it needs of earlier rounds into `requestState`, which is sent back unchanged.
      sent = { ...params, ...isAnswered && { inputResponses }, ...requestState != null && { requestState } }
    }
    throw new Error(`The tool server asked for more than ${MAX_ROUNDS} times, and gave no result.`)
  }

  function remember ({ tools }: Json, isFirstPage: boolean) {
    if (isFirstPage) schemas = new Map()
    for (const tool of Array.isArray(tools) ? tools : []) schemas.set(tool?.name, tool?.inputSchema)
  }

  /** Subscribes to changes of the tools, again whenever the stream is lost, until the session or the connection ends. */
  async function listen (signal: AbortSignal) {
    while (!signal.aborted) {
      try {
        await exchange('subscriptions/listen', { notifications: { toolsListChanged: true } }, signal)
      } catch (error) {
        if (signal.aborted || (error instanceof Answered && NOT_OFFERED.includes(error.code))) return
      }
      await clock.sleep(LISTEN_AGAIN_MS, signal)
      onToolsChanged()
    }
  }

  try {
    found = await exchange('server/discover', {}, limit)
  } catch (error) {
    limit.throwIfAborted()
    const { code, data } = error as Answered
    const supported = code === UNSUPPORTED_VERSION ? (data as Json | undefined)?.supported : undefined
    if (Array.isArray(supported) && supported.length > 0) throw new Error(onlySpeaks(supported))
    return undefined
  }
  const { supportedVersions: versions, instructions, _meta: about } = found
  if (!Array.isArray(versions)) return undefined
  if (!versions.includes(STATELESS_VERSION)) throw new Error(onlySpeaks(versions))
  const offered = readCapabilities(found.capabilities)
  const hears = (offered.tools as Json | undefined)?.listChanged === true
  if (hears) {
    const over = new AbortController()
    void transport.ended.then(() => over.abort('ended'))
    listen(AbortSignal.any([signal, over.signal])).catch(() => {})
  }
  return {
    capabilities: offered,
    ...typeof instructions === 'string' && { instructions },
    version: (about as Json | undefined)?.[`${META}/serverInfo`] as Json | undefined,
    isStateless: true,
    faultOf: (tool) => transport.takesHeaders === true ? headerFault((tool as Json | undefined)?.inputSchema) : undefined,
    request
  }
}

function onlySpeaks (versions: unknown[]): string {
  const shown = versions.slice(0, 8).map((version) => String(version).slice(0, 20))
  return `it speaks MCP ${shown.join(', ')}, and this service ${STATELESS_VERSION} and before`
}
