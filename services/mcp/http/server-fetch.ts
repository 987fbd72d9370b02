import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Clock } from '../../lib/clock.ts'
import { VERSION } from '../../lib/version.ts'
import { codingsIn, readAtMost } from '../../lib/line-reader.ts'
import { createConnections } from '../../models/index.ts'
import type { ServerAccess } from '../oauth/server-access.ts'
import { reasonOf } from '../../tools/index.ts'
import type { PendingRequest } from '../envelope.ts'
import { guardEvents, readAnswer } from './guard-answers.ts'
import { Unreachable } from '../server-transport.ts'

/** A message that is being sent, and the state of its HTTP exchanges. */
export interface Sending {
  /** The message, if it is a request. */
  request?: PendingRequest
  /** Ends the exchanges of the message. */
  abort: AbortController
  /** True once there was a connection to the server. Before that, nothing was sent. */
  isConnected: boolean
  /** True if the server answers with an event stream. */
  hasStream: boolean
  /** Headers that repeat parts of the message, for the stateless protocol. */
  headers: Record<string, string>
}

/**
 * The message that the current HTTP exchange belongs to. The SDK's transport sends all exchanges through one `fetch`, including the
 * exchanges that resume the stream of an answer.
 */
export const currentSending = new AsyncLocalStorage<Sending>()

/** Runs `send` with a new Sending, which the HTTP exchanges of the message find in `currentSending`. */
export const sendAs = <T>(
  request: PendingRequest | undefined,
  send: (sending: Sending) => Promise<T>,
  headers: Record<string, string> = {}
): Promise<T> => {
  const sending: Sending = { request, abort: new AbortController(), isConnected: false, hasStream: false, headers }
  return currentSending.run(sending, () => send(sending))
}

/** The most bytes that are read of a response without a message: an error, or a document that is not needed. */
const LONGEST_OTHER = 64 * 1024
/** The most event streams that the SDK can open in a minute, because a server can make it reopen them. */
const MAX_STREAMS_PER_MINUTE = 20
const MINUTE_MS = 60_000

interface Parts {
  url: URL
  /** The headers of every request. They are sent only to the origin of `url`, or to its https version. */
  headers: Record<string, string>
  /** The access that the user has authorized; undefined if `headers` contain the authorization. */
  access?: ServerAccess
  clock: Clock
  countUnsolicited: (bytes: number) => void
}

/**
 * Creates the `fetch` for a server's MCP requests. Responses are limited in size, redirects are not followed, and nothing is sent to an
 * origin other than that of `url` or its https version. The exchanges of a message (see currentSending) end with the message.
 */
export function createServerFetch ({ url: server, headers: own, access, clock, countUnsolicited }: Parts) {
  const connections = createConnections(clock)
  const awaitTurn = createThrottle(clock)

  /** Sends a request with the user's token. If the server refuses the token, refreshes it and sends the request again. */
  const fetch: FetchLike = async (address, init) => {
    const token = access?.token()
    const response = await exchange(address, token, init)
    const challenge = access === undefined ? undefined : await challengeIn(response)
    if (challenge === undefined) return response
    const renewed = await access!.renew(token, challenge)
    init?.signal?.throwIfAborted()
    const again = await exchange(address, renewed, init)
    const refused = await challengeIn(again)
    if (refused !== undefined) throw access!.refused(refused)
    return again
  }

  async function exchange (address: string | URL, token: string | undefined, { method = 'GET', headers, body, signal }: RequestInit = {}) {
    const url = new URL(address)
    if (!isSameServer(server, url)) throw new Unreachable(`it points to another server (${url.origin})`)
    const sending = currentSending.getStore()
    const either = AbortSignal.any([signal, sending?.abort.signal].filter((each) => each != null))
    if (method === 'GET') await awaitTurn(either)
    const response = await connections.exchange({
      method,
      url: url.href,
      headers: {
        'user-agent': `local-agent-service/${VERSION}`,
        ...Object.fromEntries(new Headers(headers)),
        ...sending?.headers,
        ...lowerCase(own),
        ...token !== undefined && { authorization: `Bearer ${token}` }
      },
      ...typeof body === 'string' && { body },
      signal: either,
      isSentOnce: sending?.request?.method === 'tools/call',
      onConnect () {
        if (sending !== undefined) sending.isConnected = true
      }
    }).catch((error) => {
      either.throwIfAborted()
      throw new Unreachable(`it cannot be reached: ${reasonOf(error)}`, (error as NodeJS.ErrnoException).code === 'ECONNREFUSED')
    })
    return toResponse(response, method)
  }

  /**
   * Converts a response to the form that the SDK understands: the SDK reads a message only with the content types and statuses that MCP
   * names.
   */
  async function toResponse (response: IncomingMessage, method: string): Promise<Response> {
    const sending = currentSending.getStore()
    const parts = { request: sending?.request, countUnsolicited }
    const headers = headersOf(response)
    const status = response.statusCode!
    const isOk = status >= 200 && status < 300
    if (codingsIn(response.headers['content-encoding']).length > 0) {
      response.destroy()
      throw new Error('its answer is compressed, which was not asked for')
    }
    if (isOk && isEventStream(response) && (method === 'GET' || parts.request !== undefined)) {
      if (sending !== undefined) sending.hasStream = true
      return new Response(ReadableStream.from(guardEvents(response, parts)), { status: 200, headers })
    }
    if (method === 'GET' && (isOk || status === 405)) {
      response.destroy()
      // The SDK takes 405 as "this server has no event stream". For a GET that resumes the stream of an answer, this is a failure, so 404
      // is returned.
      return new Response(null, { status: parts.request === undefined ? 405 : 404, headers })
    }
    if (!isOk) {
      const text = status === 304 ? null : (await readAtMost(response, LONGEST_OTHER)).bytes.toString()
      return new Response(text, { status, headers })
    }
    const isPage = /^text\/html\b/i.test(response.headers['content-type'] ?? '')
    const answer = isPage ? (await readAtMost(response, LONGEST_OTHER)).bytes.toString() : await readAnswer(response, parts)
    if (answer === undefined || parts.request === undefined) return new Response(null, { status: method === 'POST' ? 202 : 204, headers })
    if (!isPage) headers.set('content-type', 'application/json')
    return new Response(answer, { status: 200, headers })
  }

  return {
    fetch,
    /** Sends a request with the present token. A refusal neither refreshes the token nor asks the user for an authorization. */
    look: (init: RequestInit): Promise<Response> => exchange(server, access?.token(), init),
    close: () => connections.close()
  }
}

/** Returns the challenge of a response that refuses the authorization; undefined if the response does not. */
async function challengeIn (response: Response) {
  if (response.status !== 401 && response.status !== 403) return undefined
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const challenge = extractWWWAuthenticateParams(response)
  return response.status === 401 || challenge.error === 'insufficient_scope' ? challenge : undefined
}

const isEventStream = ({ headers }: IncomingMessage) => /^text\/event-stream\b/i.test(headers['content-type'] ?? '')

const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** True if `to` has the origin of `from`, or the https version of that origin. */
const isSameServer = (from: URL, to: URL): boolean =>
  from.origin === to.origin || (from.protocol === 'http:' && to.protocol === 'https:' && from.host === to.host && from.port === '')

/** Returns the headers that the SDK reads. */
function headersOf ({ headers }: IncomingMessage): Headers {
  const read = ['content-type', 'location', 'mcp-session-id', 'www-authenticate'] as const
  return new Headers(read.flatMap((name) => headers[name] === undefined ? [] : [[name, String(headers[name])] as [string, string]]))
}

/**
 * Returns a function that waits while too many streams were opened in the last minute. The function rejects with the signal's abort reason.
 */
function createThrottle (clock: Clock) {
  let opened: number[] = []
  return async (signal: AbortSignal) => {
    opened = opened.slice(-MAX_STREAMS_PER_MINUTE)
    const oldest = opened.length < MAX_STREAMS_PER_MINUTE ? -Infinity : opened[0]
    const wait = oldest + MINUTE_MS - clock.monotonic()
    opened.push(Math.max(clock.monotonic(), oldest + MINUTE_MS))
    if (wait > 0) await clock.sleep(wait, signal)
  }
}
