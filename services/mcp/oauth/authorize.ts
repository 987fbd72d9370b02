import { randomBytes } from 'node:crypto'
import { auth, type OAuthClientProvider, type OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { Authorization } from './authorizations.ts'
import { describeOAuthError } from './describe-oauth-error.ts'
import { createOAuthFetch, isLoopbackHost, type NetworkRules } from './oauth-fetch.ts'
import { openRedirectListener, type RedirectAnswer } from './redirect-listener.ts'

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
