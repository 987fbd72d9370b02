import { randomBytes } from 'node:crypto'
import { auth, type OAuthClientProvider, type OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { type Authorization, describeOAuthError } from './authorizations.ts'
import { createOAuthFetch, isLoopbackHost, type NetworkRules } from './oauth-fetch.ts'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Time that the user has to authorize. */
const ANSWER_MS = 10 * 60 * 1000

/** What a server said when it refused a request (RFC 9728, RFC 6750). */
export interface Challenge {
  resourceMetadataUrl?: URL
  scope?: string
}

interface Parts {
  server: URL
  challenge: Challenge
  rules: NetworkRules
  clock: Clock
  /** Ends the authorization and its listener. */
  signal: AbortSignal
  /** Keeps what was authorized; the user's browser is told that it worked when this has resolved. */
  save: (authorization: Authorization) => Promise<void>
}

/** An authorization that waits for the user. */
export interface PendingAuthorization {
  /** The page that the user is to open. */
  authorizationUrl: string
  /** Resolves when the access was saved; rejects with an Error whose message is a clause. */
  done: Promise<void>
}

/**
 * Begins the authorization of this service at a tool server: finds its authorization server (RFC 9728, RFC 8414), registers there as
 * a client (RFC 7591) and listens for the redirect. Each authorization is a registration of its own, because its redirect goes to a
 * port and a path of its own. Rejects with an Error whose message is a clause.
 */
export async function startAuthorizing ({ server, challenge, rules, clock, signal, save }: Parts): Promise<PendingAuthorization> {
  const state = randomBytes(32).toString('base64url')
  const listener = await openRedirectListener(state)
  const oauth = createOAuthFetch({ server, rules, clock, signal })
  const provider = createProvider(listener.redirectUrl, state, oauth.refused)
  const options = { serverUrl: server, ...challenge, fetchFn: oauth.fetch }

  async function receive (answer: RedirectAnswer) {
    provider.checkIssuer(answer)
    await auth(provider, { ...options, authorizationCode: answer.code })
    await save(provider.result(server.href))
  }

  try {
    await auth(provider, options)
    const authorizationUrl = checkedPage(provider.page())
    const done = withDeadline({ clock, ms: ANSWER_MS, signal, message: 'nobody authorized it within 10 minutes' }, () => listener.answer)
      .then(receive)
      .then(() => listener.finish(200, 'Authorized: the agent can use the tool server now. You can close this page.'), async (error) => {
        const why = describeOAuthError(error)
        await listener.finish(400, `Not authorized: ${why}. You can close this page and begin again.`)
        throw new Error(why)
      })
    done.catch(() => {})
    return { authorizationUrl, done }
  } catch (error) {
    await listener.finish(400, 'Not authorized.')
    throw new Error(describeOAuthError(oauth.refused() ?? error))
  }
}

/** Returns the address of the page, if a browser may be sent there. */
function checkedPage (page: URL): string {
  const isSafe = page.protocol === 'https:' || (page.protocol === 'http:' && isLoopbackHost(page.hostname))
  if (!isSafe) throw new Error(`its authorization page (${page.protocol}//${page.host}) is not https`)
  if (page.username !== '' || page.password !== '') throw new Error('its authorization page is named with a password')
  return page.href
}

const sameOrigin = (a: string | undefined, b: string) => a !== undefined && URL.parse(a)?.origin === new URL(b).origin
const sameIssuer = (a: string, b: string) => a.replace(/\/$/, '') === b.replace(/\/$/, '')

/** The SDK's view of one authorization; it holds everything in memory until `result` is asked for. */
function createProvider (redirectUrl: string, state: string, refused: () => Error | undefined) {
  let discovery: OAuthDiscoveryState | undefined
  let client: OAuthClientInformationMixed | undefined
  let tokens: OAuthTokens | undefined
  let verifier = ''
  let page: URL | undefined
  const metadata = () => discovery?.authorizationServerMetadata

  /** A client that needs no secret, unless the server wants one. */
  function authMethod () {
    const methods = metadata()?.token_endpoint_auth_methods_supported ?? ['none']
    return ['none', 'client_secret_basic', 'client_secret_post'].find((method) => methods.includes(method)) ?? 'none'
  }

  const provider = {
    redirectUrl,
    get clientMetadata () {
      return {
        client_name: 'Local Agent Service',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: authMethod()
      }
    },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation (information) {
      client = information
    },
    tokens: () => undefined,
    saveTokens (given) {
      if (!/^[\x21-\x7e]+$/.test(given.access_token)) throw new Error('its access token is none')
      tokens = given
    },
    redirectToAuthorization (url) {
      page = url
    },
    saveCodeVerifier (given) {
      verifier = given
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState (found) {
      // The SDK goes on without metadata that it could not read.
      const refusal = refused()
      if (refusal !== undefined) throw refusal
      const issuer = found.authorizationServerMetadata?.issuer
      // Tool servers of 2025-03-26 name no authorization server: their own origin holds the metadata, also of an issuer with a path.
      const isOwn = found.resourceMetadata === undefined && sameOrigin(issuer, found.authorizationServerUrl)
      if (issuer !== undefined && !isOwn && !sameIssuer(issuer, found.authorizationServerUrl)) {
        throw new Error(`the metadata of its authorization server ${found.authorizationServerUrl} is of another issuer (${issuer})`)
      }
      discovery = found
    }
  } satisfies OAuthClientProvider

  return Object.assign(provider, {
    /** The page at which the user authorizes. */
    page (): URL {
      if (page === undefined) throw new Error('its authorization server names no page')
      return page
    },

    /** Compares the issuer that sent the answer (RFC 9207). Throws an Error. */
    checkIssuer ({ iss }: RedirectAnswer) {
      const about = metadata()
      const isNamed = (about as Record<string, unknown> | undefined)?.authorization_response_iss_parameter_supported === true
      if (iss === undefined ? isNamed : !sameIssuer(iss, about?.issuer ?? discovery!.authorizationServerUrl)) {
        throw new Error('the answer came from another authorization server')
      }
    },

    result: (url: string): Authorization => ({
      url,
      authorizationServer: discovery!.authorizationServerUrl,
      ...discovery!.authorizationServerMetadata && { metadata: discovery!.authorizationServerMetadata },
      ...discovery!.resourceMetadata && { resource: discovery!.resourceMetadata.resource },
      client: client!,
      tokens: tokens!
    })
  })
}

const MAX_CONNECTIONS = 8
const ARRIVAL_MS = 10_000
const LONGEST_HEADERS = 16 * 1024
/** The names of errors that RFC 6749 and OpenID Connect define, and others like them; any other text is not quoted. */
const ERROR_NAME = /^[a-z_]{1,64}$/

/** The parameters of the redirect that are used. */
interface RedirectAnswer {
  code: string
  iss?: string
}

/** Why the answer of an authorization server is not accepted; the message is a clause. */
class RedirectRefused extends Error {}

/**
 * Listens on a random port of 127.0.0.1 and at a random path for one GET: the redirect with which the authorization server sends the
 * user's browser back. `answer` resolves to its code once its state was compared, and rejects with RedirectRefused.
 */
async function openRedirectListener (state: string) {
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
