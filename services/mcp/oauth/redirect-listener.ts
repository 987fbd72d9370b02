import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const MAX_CONNECTIONS = 8
const ARRIVAL_MS = 10_000
const LONGEST_HEADERS = 16 * 1024
/** The names of errors that RFC 6749 and OpenID Connect define, and others like them; any other text is not quoted. */
const ERROR_NAME = /^[a-z_]{1,64}$/

/** The parameters of the redirect that are used. */
export interface RedirectAnswer {
  code: string
  iss?: string
}

export type RedirectListener = Awaited<ReturnType<typeof openRedirectListener>>

/** Why the answer of an authorization server is not accepted; the message is a clause. */
export class RedirectRefused extends Error {}

/**
 * Listens on a random port of 127.0.0.1 and at a random path for one GET: the redirect with which the authorization server sends the
 * user's browser back. `answer` resolves to its code once its state was compared, and rejects with RedirectRefused.
 */
export async function openRedirectListener (state: string) {
  const path = `/${randomBytes(24).toString('base64url')}`
  const answer = Promise.withResolvers<RedirectAnswer>()
  answer.promise.catch(() => {})
  /** The browser that waits to be told what happened. */
  let browser: ServerResponse | undefined

  const server = createServer({ maxHeaderSize: LONGEST_HEADERS, headersTimeout: ARRIVAL_MS, requestTimeout: ARRIVAL_MS })
  server.on('request', (req, res) => {
    const url = URL.parse(req.url ?? '', 'http://127.0.0.1')
    if (url?.pathname !== path || req.headers.host !== new URL(redirectUrl).host) return void tell(res, 404, 'There is nothing here.')
    if (req.method !== 'GET') return void tell(res.setHeader('allow', 'GET'), 405, 'Only GET is answered here.')
    if (browser !== undefined) return void tell(res, 410, 'This page has been used already.')
    browser = res
    try {
      answer.resolve(readRedirect(url.searchParams, state))
    } catch (error) {
      answer.reject(error)
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`

  return {
    redirectUrl,
    answer: answer.promise,
    /** Tells the browser that has come what happened, and closes. */
    async finish (status: number, text: string): Promise<void> {
      if (browser !== undefined && !browser.destroyed) await tell(browser, status, text)
      server.close()
      server.closeAllConnections()
    }
  }
}

/** Sends a plain page; resolves once it is sent or the browser is gone. */
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

function readRedirect (parameters: URLSearchParams, state: string): RedirectAnswer {
  const only = (name: string): string | undefined => {
    const [value, ...more] = parameters.getAll(name)
    if (more.length > 0) throw new RedirectRefused(`the authorization server answered with more than one ${name}`)
    return value
  }
  if (only('state') !== state) throw new RedirectRefused('the authorization server answered with a wrong state')
  const error = only('error')
  if (error !== undefined) {
    throw new RedirectRefused(`the authorization server refused it${ERROR_NAME.test(error) ? ` (${error})` : ''}`)
  }
  const [code, iss] = [only('code'), only('iss')]
  if (!code) throw new RedirectRefused('the authorization server answered without a code')
  return { code, ...iss !== undefined && { iss } }
}
