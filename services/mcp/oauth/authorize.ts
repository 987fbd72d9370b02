import { randomBytes } from 'node:crypto'
import type { OAuthServerInfo } from '@modelcontextprotocol/sdk/client/auth.js'
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthProtectedResourceMetadata
} from '@modelcontextprotocol/sdk/shared/auth.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { isObject, readJson } from '../../lib/json.ts'
import { type Authorization, describeOAuthError } from './authorizations.ts'
import { createOAuthFetch, isLoopbackHost, type NetworkRules } from './oauth-fetch.ts'
import { openRedirectListener, REDIRECT_URI, type RedirectAnswer } from './redirect-listener.ts'
import { readRevocation, requestTokens } from './token-requests.ts'

/** The time that the user has to authorize, in milliseconds. */
const ANSWER_MS = 10 * 60 * 1000

/** The fields of a server's authorization challenge, the `WWW-Authenticate` header (RFC 9728, RFC 6750), that are used. */
export interface Challenge {
  resourceMetadataUrl?: URL
  scope?: string
}

/** The OAuth client as which this service signs in. Without a clientId or published metadata, it registers at each authorization server. */
export interface SignInClient {
  /** The id of a client that the user registered by hand. */
  clientId?: string
  clientSecret?: string
  /** The address on this machine to which the browser is redirected; REDIRECT_URI by default. */
  redirectUri?: string
  /** The URL of this service's published client metadata, for authorization servers that read these in place of a registration. */
  metadataUrl?: string
}

interface Parts {
  server: URL
  challenge: Challenge
  client: SignInClient
  /** The issuer at which `client.clientId` was first used. The id is sent to no other authorization server. */
  boundTo?: string
  rules: NetworkRules
  clock: Clock
  /** Cancels the authorization and closes its listener. */
  signal: AbortSignal
  /** Saves the authorization. Once this has resolved, the user's browser shows that the authorization worked. */
  save: (authorization: Authorization) => Promise<void>
}

/** An authorization that waits for the user. */
export interface PendingAuthorization {
  /** The page that the user must open. */
  authorizationUrl: string
  /** Resolves when the authorization is saved. Rejects with an Error whose message is a clause. */
  done: Promise<void>
}

/**
 * Begins the authorization of this service at a tool server, in three steps. Finds the authorization server (RFC 9728, RFC 8414). Uses the
 * client of the entry or the published metadata, or registers (RFC 7591). Listens for the redirect. Each authorization registers again,
 * because many servers also compare the port of the redirect. Rejects with an Error whose message is a clause.
 */
export async function startAuthorizing (parts: Parts): Promise<PendingAuthorization> {
  const { server, client: own, rules, clock, signal, save } = parts
  const state = randomBytes(32).toString('base64url')
  const listener = await openRedirectListener(state, own.redirectUri)
  const oauth = createOAuthFetch({ server, rules, clock, signal })

  async function begin () {
    const sdk = await import('@modelcontextprotocol/sdk/client/auth.js')
    const resourceMetadataUrl = parts.challenge.resourceMetadataUrl
    const documents = notedBy(oauth.fetch)
    const found = await sdk.discoverOAuthServerInfo(server, { resourceMetadataUrl, fetchFn: documents.fetch })
    // If the SDK cannot read metadata, it continues without them, even if `fetch` refused their address.
    const refused = oauth.refused()
    if (refused !== undefined) throw refused
    checkServer(found, parts)
    const { authorizationServerMetadata: metadata, resourceMetadata } = found
    const resource = await sdk.selectResourceURL(server, {} as never, resourceMetadata) && resourceMetadata?.resource
    const scope = scopeOf(parts.challenge, found)
    const { redirectUrl } = listener
    const client = await clientOf({ own, found, scope, redirectUrl, fetch: oauth.fetch, register: sdk.registerClient })
    const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(found.authorizationServerUrl, {
      clientInformation: client,
      redirectUrl,
      state,
      ...metadata && { metadata },
      ...scope !== undefined && { scope },
      // Passed as the server writes it: converting it to a URL would add a slash to an origin.
      ...resource !== undefined && { resource: resource as unknown as URL }
    })
    const revocation = metadata && readRevocation(documents.last())
    const authorization: Authorization = {
      url: server.href,
      authorizationServer: issuerOf(found),
      ...metadata && { metadata },
      ...revocation && { revocation },
      ...resource !== undefined && { resource },
      client
    }
    const namesIssuer = documents.last().authorization_response_iss_parameter_supported === true
    return { authorizationUrl: checkedPage(authorizationUrl), codeVerifier, authorization, namesIssuer }
  }

  async function receive (answer: RedirectAnswer, { authorization, codeVerifier, namesIssuer }: Awaited<ReturnType<typeof begin>>) {
    checkAnswer(answer, authorization, namesIssuer)
    if (answer.code === undefined) throw new Error(answer.refusal)
    const tokens = await requestTokens({
      ...authorization,
      fetch: oauth.fetch,
      grant: {
        grant_type: 'authorization_code',
        code: answer.code,
        code_verifier: codeVerifier,
        redirect_uri: listener.redirectUrl
      }
    })
    await save({ ...authorization, tokens })
  }

  try {
    const begun = await begin()
    const done = withDeadline({ clock, ms: ANSWER_MS, signal, message: 'nobody authorized it within 10 minutes' }, () => listener.answer)
      .then((answer) => receive(answer, begun))
      .then(() => listener.finish(200, 'Authorized: the agent can use the tool server now. You can close this page.'), async (error) => {
        const why = describeOAuthError(error)
        await listener.finish(400, `Not authorized: ${why}. You can close this page and begin again.`)
        throw new Error(why)
      })
    done.catch(() => {})
    return { authorizationUrl: begun.authorizationUrl, done }
  } catch (error) {
    await listener.finish(400, 'Not authorized.')
    throw new Error(describeOAuthError(oauth.refused() ?? error))
  }
}

/** Wraps `fetch` so that `last` returns the most recent metadata document of an authorization server, complete. */
function notedBy (fetch: FetchLike) {
  let last: Record<string, unknown> = {}
  return {
    last: () => last,
    fetch: (async (url, init) => {
      const response = await fetch(url, init)
      if (!/\/\.well-known\/(?:oauth-authorization-server|openid-configuration)\b/.test(String(url)) || !response.ok) return response
      const text = await response.text()
      // If the text is not JSON, the SDK reports the error.
      const found: unknown = readJson(text)
      if (isObject(found)) last = found
      return new Response(text, response)
    }) as FetchLike
  }
}

/**
 * Returns the address of an authorization page. Throws an Error if it is neither https nor on this machine, or contains a name or password.
 */
function checkedPage (page: URL): string {
  const isSafe = page.protocol === 'https:' || (page.protocol === 'http:' && isLoopbackHost(page.hostname))
  if (!isSafe) throw new Error(`its authorization page (${page.protocol}//${page.host}) is not https`)
  if (page.username !== '' || page.password !== '') throw new Error('its authorization page is named with a password')
  return page.href
}

const sameOrigin = (a: string | undefined, b: string) => a !== undefined && URL.parse(a)?.origin === new URL(b).origin
/** True if the issuer is the named one, exactly or with a final slash in `named`, which libraries add to the address of an origin. */
const isIssuer = (issuer: string, named: string) => issuer === named || `${issuer}/` === named
const issuerOf = ({ authorizationServerMetadata: metadata, authorizationServerUrl: named }: OAuthServerInfo) => metadata?.issuer ?? named

/**
 * Throws an Error if the metadata belong to another issuer than the named authorization server, or if this service cannot get a client
 * there.
 */
function checkServer (found: OAuthServerInfo, { client: own, boundTo }: Pick<Parts, 'client' | 'boundTo'>) {
  const { authorizationServerMetadata: metadata, authorizationServerUrl: named, resourceMetadata } = found
  // Tool servers of MCP 2025-03-26 name no authorization server. The metadata are at their own origin, and the issuer can have a path.
  const isOwn = resourceMetadata === undefined && sameOrigin(metadata?.issuer, named)
  if (metadata !== undefined && !isOwn && !isIssuer(metadata.issuer, named)) {
    throw new Error(`the metadata of its authorization server ${named} is of another issuer (${metadata.issuer})`)
  }
  const issuer = issuerOf(found)
  if (own.clientId !== undefined && boundTo !== undefined && boundTo !== issuer) {
    throw new Error(`its authorization server is ${issuer} now, and its clientId belongs to ${boundTo}; if you trust that, delete the ` +
      'server and connect it again')
  }
  const hasClient = own.clientId !== undefined || isPublished(own, metadata) || metadata === undefined
  if (!hasClient && metadata.registration_endpoint === undefined) {
    throw new Error('its authorization server does not support dynamic client registration: register a client there by hand, with the ' +
      `redirect address ${REDIRECT_URI}, and connect it again with its clientId, and clientSecret if it has one`)
  }
}

/** True if the authorization server accepts published client metadata, and this service has some. */
const isPublished = (own: SignInClient, metadata: AuthorizationServerMetadata | undefined): boolean =>
  own.metadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true

/**
 * Returns the scope that the server requires, else all scopes that the server supports; undefined for none. Adds the scope for refresh
 * tokens if the authorization server supports it.
 */
function scopeOf ({ scope }: Challenge, { resourceMetadata, authorizationServerMetadata: metadata }: Scoped): string | undefined {
  const wanted = scope ?? resourceMetadata?.scopes_supported?.join(' ')
  if (!wanted || wanted.split(' ').includes('offline_access')) return wanted || undefined
  return metadata?.scopes_supported?.includes('offline_access') ? `${wanted} offline_access` : wanted
}
interface Scoped {
  resourceMetadata?: OAuthProtectedResourceMetadata
  authorizationServerMetadata?: AuthorizationServerMetadata
}

interface ClientParts {
  own: SignInClient
  found: OAuthServerInfo
  scope: string | undefined
  redirectUrl: string
  fetch: FetchLike
  register: typeof import('@modelcontextprotocol/sdk/client/auth.js').registerClient
}

/** Returns the client of the entry, else the published one, else a newly registered one. */
async function clientOf ({ own, found, scope, redirectUrl, fetch, register }: ClientParts): Promise<OAuthClientInformationMixed> {
  const { authorizationServerMetadata: metadata, authorizationServerUrl } = found
  if (own.clientId !== undefined) {
    return { client_id: own.clientId, ...own.clientSecret !== undefined && { client_secret: own.clientSecret } }
  }
  if (isPublished(own, metadata)) return { client_id: own.metadataUrl! }
  const methods = metadata?.token_endpoint_auth_methods_supported ?? ['none']
  // A client without a secret is registered, unless the server requires one.
  const method = ['none', 'client_secret_basic', 'client_secret_post'].find((each) => methods.includes(each)) ?? 'none'
  const clientMetadata = {
    client_name: 'Local Agent Service',
    application_type: 'native',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method
  }
  return register(authorizationServerUrl, {
    ...metadata && { metadata },
    clientMetadata,
    ...scope !== undefined && { scope },
    fetchFn: fetch
  })
}

/**
 * Throws an Error if the redirect names another issuer (RFC 9207), or none although the authorization server declares that it always does.
 */
function checkAnswer ({ iss }: RedirectAnswer, { authorizationServer: issuer, metadata }: Authorization, namesIssuer: boolean) {
  const isRight = iss === undefined ? !namesIssuer : metadata === undefined ? isIssuer(iss, issuer) : iss === issuer
  if (!isRight) throw new Error('the answer came from another authorization server')
}
