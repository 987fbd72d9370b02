import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The default address of the redirect. Its port is chosen at random (RFC 8252, section 7.3); its path is fixed. */
export const REDIRECT_URI = 'http://127.0.0.1/oauth/callback'

const MAX_CONNECTIONS = 8
const ARRIVAL_MS = 10_000
const LONGEST_HEADERS = 16 * 1024
/** Matches the names of errors in RFC 6749, OpenID Connect and similar specifications. Any other error text is not quoted. */
const ERROR_NAME = /^[a-z_]{1,64}$/

/** The query parameters of the redirect that are used. */
export interface RedirectAnswer {
  code?: string
  /** A clause that says why the authorization server refused. */
  refusal?: string
  iss?: string
}

/** Thrown if the parameters of the redirect are not acceptable. The message is a clause. */
class RedirectRefused extends Error {}

/**
 * Listens on 127.0.0.1 for one GET: the redirect with which the authorization server sends the user's browser back. The port is the port of
 * `redirectUri`, or a random one. A request without the `state` of this authorization gets an error page and is ignored, because any web
 * page could send one. `answer` resolves to the parameters of the redirect, or rejects with RedirectRefused. The call itself rejects with
 * an Error, whose message is a clause, if the port cannot be used.
 */
export async function openRedirectListener (state: string, redirectUri: string = REDIRECT_URI) {
  const { hostname, port, pathname } = new URL(redirectUri)
  const answer = Promise.withResolvers<RedirectAnswer>()
  answer.promise.catch(() => {})
  /** The response to the user's browser, which waits for the outcome. */
  let browser: ServerResponse | undefined

  const server = createServer({ maxHeaderSize: LONGEST_HEADERS, headersTimeout: ARRIVAL_MS, requestTimeout: ARRIVAL_MS })
  server.on('request', (req, res) => {
    const url = URL.parse(req.url ?? '', 'http://127.0.0.1')
    if (url?.pathname !== pathname || req.headers.host !== host) return void tell(res, 404, 'There is nothing here.')
    if (req.method !== 'GET') return void tell(res.setHeader('allow', 'GET'), 405, 'Only GET is answered here.')
    if (browser !== undefined) return void tell(res, 410, 'This page has been used already.')
    const states = url.searchParams.getAll('state')
    if (states.length !== 1 || states[0] !== state) {
      return void tell(res, 400, 'Not authorized: the answer has a wrong state. It belongs to another authorization.')
    }
    browser = res
    try {
      answer.resolve(readRedirect(url.searchParams))
    } catch (error) {
      answer.reject(error)
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(Number(port), '127.0.0.1').unref()
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    const why = code === 'EADDRINUSE' ? 'is used by another program, or by another authorization' : `cannot be used (${code})`
    throw new Error(`the port ${port} of its redirectUri ${why}`)
  })
  const host = `${hostname}:${(server.address() as AddressInfo).port}`

  return {
    /** The address of the redirect, for the authorization server. If the entry's redirectUri has a port, it is used unchanged. */
    redirectUrl: port === '' ? `http://${host}${pathname}` : redirectUri,
    answer: answer.promise,
    /** Sends the outcome to the waiting browser, and closes the listener. */
    async finish (status: number, text: string): Promise<void> {
      if (browser !== undefined && !browser.destroyed) await tell(browser, status, text)
      server.close()
      server.closeAllConnections()
    }
  }
}

/** Sends a plain-text page. Resolves once the page is sent or the browser has disconnected. Never rejects. */
async function tell (res: ServerResponse<IncomingMessage>, status: number, text: string): Promise<void> {
  res.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    connection: 'close'
  })
  const sent = Promise.race([once(res, 'finish'), once(res, 'close')])
  res.end(`${text}\n`)
  await sent.catch(() => {})
}

function readRedirect (parameters: URLSearchParams): RedirectAnswer {
  const only = (name: string): string | undefined => {
    const [value, ...more] = parameters.getAll(name)
    if (more.length > 0) throw new RedirectRefused(`the authorization server answered with more than one ${name}`)
    return value
  }
  const [error, code, iss] = [only('error'), only('code'), only('iss')]
  const refusal = error === undefined
    ? undefined
    : `the authorization server refused it${ERROR_NAME.test(error) ? ` (${error})` : ''}`
  if (refusal === undefined && !code) throw new RedirectRefused('the authorization server answered without a code')
  return { ...refusal === undefined ? { code } : { refusal }, ...iss !== undefined && { iss } }
}
