import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { isObject, readJson } from '../../lib/json.ts'
import { SSE_ONLY } from '../../config/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { AuthorizationNeeded, type ServerAccess } from '../oauth/server-access.ts'
import { failedAnswer, isAnswer, readMessages, wordsOfError } from '../envelope.ts'
import { createUnsolicitedBudget } from '../message-limits.ts'
import { DISCONNECTED, NotSent, type ServerTransport, type StderrTail, Unreachable } from '../server-transport.ts'
import { requestHeaders } from '../parameter-headers.ts'
import { STATELESS_VERSION } from '../stateless-session.ts'
import { currentSending, sendAs, type Sending, createServerFetch } from './server-fetch.ts'

/** The time limit for sending a notification or an answer of ours, and for opening a new session, in milliseconds. */
const SEND_MS = 30_000
/** The most notifications and answers of ours that can be in flight at once: a server could ask for any number. */
const MAX_SENDING = 256
/** The time limit for the request that ends the session at the server, in milliseconds. */
const GOODBYE_MS = 1_500
/** The time that a server has to end the stream of an answer after it sent the answer, in milliseconds. */
const STREAM_END_MS = 1_000

/** The time limit for the check whether a server that refuses `initialize` uses the older transport (HTTP with SSE), in milliseconds. */
const PROBE_MS = 5_000
/** The statuses with which servers of the older transport refuse `initialize`. */
const REFUSED: unknown[] = [400, 404, 405]

interface Parts {
  url: URL
  headers: Record<string, string>
  /** The access that the user has authorized; undefined if the entry's headers contain the authorization. */
  access?: ServerAccess
  clock: Clock
  /** Receives errors that belong to no call. */
  tail: StderrTail
}

/**
 * Exchanges messages with a server over Streamable HTTP, through the SDK's transport, and adds to it: limits (see createServerFetch); the
 * end of a request ends its HTTP exchanges; a request whose answer can no longer arrive fails at once; if the server has lost the session,
 * a new session is opened and the request is sent again; if the server cannot be reached, the connection ends.
 */
export function createHttpTransport ({ url, headers, access, clock, tail }: Parts): ServerTransport {
  const ended = Promise.withResolvers<string>()
  const over = new AbortController()
  const pending = new Map<RequestId, Sending>()
  const http = createServerFetch({
    url,
    headers,
    access,
    clock,
    countUnsolicited: createUnsolicitedBudget(clock, (why) => end(why))
  })
  let session: StreamableHTTPClientTransport
  let initialize: JSONRPCRequest | undefined
  let protocolVersion: string | undefined
  let renewing: Promise<void> | undefined
  let unanswered = 0

  async function openSession (onmessage: (message: JSONRPCMessage) => void): Promise<StreamableHTTPClientTransport> {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    const opened = new StreamableHTTPClientTransport(url, { fetch: http.fetch })
    opened.onmessage = onmessage
    opened.onerror = (error) => {
      const { message } = error
      const sending = currentSending.getStore()
      if (error instanceof AuthorizationNeeded) return end(message)
      if (opened !== session || over.signal.aborted || sending?.abort.signal.aborted) return
      tail.add(`(http) ${message.slice(0, 200)}\n`)
      if (!/^Maximum reconnection attempts/.test(message)) return
      // Without its event stream, the server cannot send anything any more.
      if (sending?.request === undefined) end('its stream of events was lost')
      else fail(sending.request.id, 'The stream of its answer was lost.')
    }
    await opened.start()
    return opened
  }

  function deliver (message: JSONRPCMessage) {
    if (isAnswer(message)) {
      const request = pending.get(message.id as RequestId)
      // The request was cancelled or has failed already.
      if (request === undefined) return
      pending.delete(message.id as RequestId)
      tail.mark()
      void clock.sleep(STREAM_END_MS, over.signal).catch(() => {}).finally(() => request.abort.abort('answered'))
    }
    transport.onmessage?.(message)
  }

  const fail = (id: RequestId, why: string) => {
    if (pending.has(id)) deliver(failedAnswer(id, why))
  }

  function end (why: string) {
    if (over.signal.aborted) return
    over.abort('ended')
    for (const { abort } of pending.values()) abort.abort('ended')
    void session?.close()
    http.close()
    ended.resolve(why)
    transport.onclose?.()
  }

  /**
   * Ends the connection in the next turn of the event loop. The end fails all waiting requests, and requests that were never sent must fail
   * as unsent before that.
   */
  function endUnreachable ({ message }: Unreachable) {
    for (const { isConnected, abort } of pending.values()) if (!isConnected) abort.abort(new Unreachable(message, true))
    setImmediate(() => end(message))
  }

  /** Sends a message in the present session. If the server has lost the session, opens a new one and sends the message once more. */
  async function sendInSession (message: JSONRPCMessage): Promise<void> {
    const used = session
    try {
      await used.send(message)
    } catch (error) {
      if (!isLostSession(error, used.sessionId)) throw error
      if (used === session) await (renewing ??= renew().finally(() => (renewing = undefined)))
      await session.send(message)
    }
  }

  /** Opens a new session with the client's original `initialize` request. The server's tools might differ, so they are listed again. */
  async function renew () {
    const lost = session
    const answer = Promise.withResolvers<JSONRPCMessage>()
    const begun = await openSession((message) => session === begun ? deliver(message) : answer.resolve(message))
    try {
      await withDeadline({ clock, ms: SEND_MS, signal: over.signal }, async () => {
        await sendAs(initialize!, () => begun.send(initialize!))
        if ('error' in await answer.promise) throw new Error('it begins no new one')
        begun.setProtocolVersion(protocolVersion!)
        session = begun
        await sendAs(undefined, () => begun.send({ jsonrpc: '2.0', method: 'notifications/initialized' }))
      })
    } catch (error) {
      void begun.close()
      end(`its session ended, and ${describeRefusal(error)}`)
      throw error
    }
    for (const [id, { hasStream }] of pending) if (hasStream) fail(id, 'The session ended during the call.')
    void lost.close()
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  }

  async function sendRequest (message: JSONRPCRequest, sending: Sending) {
    pending.set(message.id, sending)
    if (message.method === 'initialize') initialize = message
    try {
      await sendInSession(message)
    } catch (error) {
      pending.delete(message.id)
      throw error
    }
    if (!sending.hasStream) fail(message.id, 'The server did not answer the call.')
  }

  async function sendOther (message: JSONRPCMessage, { abort }: Sending) {
    if (unanswered >= MAX_SENDING) return end('it sends more requests than it takes answers to')
    unanswered++
    await withDeadline({ clock, ms: SEND_MS, signal: over.signal }, () => sendInSession(message)).catch((error) => {
      abort.abort('timeout')
      throw error
    }).finally(() => unanswered--)
  }

  const transport: ServerTransport = {
    ended: ended.promise,
    takesHeaders: true,
    stop: end,
    async start () {
      session = await openSession(deliver)
    },
    setProtocolVersion (version) {
      protocolVersion = version
      session.setProtocolVersion(version)
    },
    async send (message, { headers = {} } = {}) {
      if (over.signal.aborted) throw new NotSent('The tool server is not connected any more.')
      const isStateless = protocolVersion === STATELESS_VERSION
      try {
        if ('method' in message && 'id' in message) {
          const about = isStateless ? { ...requestHeaders(message.method, message.params), ...headers } : {}
          await sendAs(message, (sending) => sendRequest(message, sending), about)
          // The stateless protocol sends neither notifications nor answers: ending the HTTP exchange cancels a request.
        } else if (!isStateless) await sendAs(undefined, (sending) => sendOther(message, sending))
      } catch (error) {
        // A notification has no answer, so its failure is only logged. The next request shows whether the server is still there.
        if ('method' in message && !('id' in message)) return tail.add(`(http) ${message.method}: ${describeRefusal(error)}\n`)
        if (error instanceof Unreachable) endUnreachable(error)
        const refusal = isStateless ? errorIn(error) : undefined
        if (refusal !== undefined && 'id' in message) {
          return transport.onmessage?.({ jsonrpc: '2.0', id: message.id as RequestId, error: refusal })
        }
        const isRefusedFirst = 'method' in message && message.method === 'initialize' && REFUSED.includes((error as HttpError).code)
        const why = isRefusedFirst && await isSseOnly() ? SSE_ONLY : describeRefusal(error)
        throw error instanceof Unreachable && error.isUnsent ? new NotSent(why) : new Error(why)
      } finally {
        if ('method' in message && message.method === 'notifications/cancelled') cancel(message.params?.requestId as RequestId)
      }
    },
    async close () {
      if (session?.sessionId !== undefined && !over.signal.aborted) {
        await withDeadline({ clock, ms: GOODBYE_MS, signal: over.signal }, () => session.terminateSession()).catch(() => {})
      }
      end(DISCONNECTED)
    }
  }

  /**
   * True if the server uses the transport that preceded Streamable HTTP: the first event of its stream names the address for POST requests.
   * False if the server does not answer in time.
   */
  const isSseOnly = (): Promise<boolean> =>
    withDeadline({ clock, ms: PROBE_MS, signal: over.signal }, async (signal) => {
      const { body } = await http.look({ headers: { accept: 'text/event-stream' }, signal })
      const reader = body!.getReader()
      const { value = new Uint8Array() } = await reader.read()
      void reader.cancel().catch(() => {})
      return Buffer.from(value).includes('event: endpoint')
    }).catch(() => false)

  function cancel (id: RequestId) {
    const request = pending.get(id)
    pending.delete(id)
    request?.abort.abort('cancelled')
  }
  return transport
}

/** The fields of the SDK's StreamableHTTPError that are used here. Importing the class would load the SDK. */
interface HttpError extends Error {
  code?: unknown
}

const LONGEST_QUOTE = 300
const PREFIX = /^Streamable HTTP error: (?:Error POSTing to endpoint: |Failed to open SSE stream: )?/

/** True if an error says that the server does not know the session any more. The specification requires 404, but some servers send 400. */
function isLostSession (error: unknown, sessionId: string | undefined): boolean {
  const { code, message } = error as HttpError
  return sessionId !== undefined && (code === 404 || (code === 400 && /session/i.test(message)))
}

/** Returns the JSON-RPC error in the body of a failed HTTP response (4xx), for the stateless protocol; undefined for none. */
function errorIn (error: unknown): { code: number, message: string, data?: unknown } | undefined {
  const { code, message } = error as HttpError
  if (typeof code !== 'number' || code < 400 || code >= 500 || !PREFIX.test(message)) return undefined
  const body = readJson(message.replace(PREFIX, ''))
  const [found] = typeof body?.error?.code === 'number' ? readMessages({ jsonrpc: '2.0', id: 0, error: body.error }) : []
  return found !== undefined && 'error' in found ? found.error : undefined
}

/** Returns a clause that says why the server did not accept a message. */
function describeRefusal (error: unknown): string {
  const { code, message } = error as HttpError
  const said = message.replace(PREFIX, '')
  if (code === -1) return `it answered with something else than a message (${said.slice(0, LONGEST_QUOTE)})`
  if (typeof code !== 'number' || !PREFIX.test(message)) return message
  const quote = textOf(said.replace(" (redirectPolicy: 'same-origin')", '')).slice(0, LONGEST_QUOTE).trim()
  return `it answered ${code}${quote === '' ? '' : `: ${quote}`}`
}

/** Returns the error message in a response body of JSON-RPC or OAuth, or the body as it is; '' for an HTML page. */
function textOf (body: string): string {
  if (/^\s*</.test(body)) return ''
  const { error, error_description: description, message, detail } = readJson(body) ?? {}
  if (isObject(error)) return wordsOfError(String(error.message ?? ''), error.data)
  const words = description ?? message ?? detail ?? error ?? body
  return typeof words === 'string' ? words : JSON.stringify(words)
}
