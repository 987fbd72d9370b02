import type { AuthorizationServerMetadata, OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import { isObject, readJson } from '../../lib/json.ts'

/** The common parts of requests that this service sends to an authorization server as its client. */
interface ClientRequest {
  client: OAuthClientInformationMixed
  fetch: FetchLike
}

interface TokenRequest extends ClientRequest {
  /** The issuer. The token endpoint is derived from it if no metadata name one. */
  authorizationServer: string
  metadata?: AuthorizationServerMetadata
  /** The resource that the tokens are for (RFC 8707). */
  resource?: string
  /** The grant: its type, and the code or the refresh token. */
  grant: Record<string, string>
}

/** Thrown if an authorization server refuses a request. The message is a clause. */
export class RequestRefused extends Error {
  readonly status: number
  /** The OAuth name of the error, such as invalid_grant; undefined if the response has none. */
  readonly error: string | undefined
  constructor (status: number, error: string | undefined, message: string) {
    super(message)
    this.status = status
    this.error = error
  }
}

/**
 * Gets tokens from the token endpoint. The SDK's own requests are not used: they send a client secret unescaped, and send a code twice if
 * the client is refused. Rejects with RequestRefused, with the error of `fetch`, or with an Error whose message is a clause.
 */
export async function requestTokens ({ authorizationServer, metadata, resource, grant, ...request }: TokenRequest): Promise<OAuthTokens> {
  const { body } = await post({
    ...request,
    endpoint: metadata?.token_endpoint ?? new URL('/token', authorizationServer).href,
    methods: metadata?.token_endpoint_auth_methods_supported,
    parameters: { ...grant, ...resource !== undefined && { resource } }
  })
  return readTokens(body)
}

interface RevocationRequest extends ClientRequest {
  revocation: Revocation | undefined
  tokens: OAuthTokens
}

/** The endpoint where an authorization server revokes tokens, and the methods by which clients can authenticate there. */
export interface Revocation {
  endpoint: string
  methods?: string[]
}

/**
 * Revokes tokens (RFC 7009). The refresh token goes first, because most servers then also end the access tokens issued with it. Rejects
 * with the errors of requestTokens, or with an Error if the server has no revocation endpoint.
 */
export async function requestRevocation ({ revocation, tokens, ...request }: RevocationRequest): Promise<void> {
  if (revocation === undefined) throw new Error('it names no address for that')
  const revoke = (token: string, hint: string) => post({ ...request, ...revocation, parameters: { token, token_type_hint: hint } })
  if (tokens.refresh_token !== undefined) await revoke(tokens.refresh_token, 'refresh_token')
  await revoke(tokens.access_token, 'access_token').catch((error) => {
    // The refresh token is revoked, so a refusal does not matter: the access token has ended with it, or expires soon.
    if (tokens.refresh_token === undefined || !(error instanceof RequestRefused)) throw error
  })
}

/**
 * Returns the revocation endpoint in the metadata of an authorization server; undefined for none. The SDK drops it from OpenID Connect
 * metadata.
 */
export function readRevocation (metadata: Record<string, unknown>): Revocation | undefined {
  const { revocation_endpoint: endpoint } = metadata
  const methods = metadata.revocation_endpoint_auth_methods_supported ?? metadata.token_endpoint_auth_methods_supported
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return undefined
  return { endpoint, ...Array.isArray(methods) && { methods: methods.filter((each) => typeof each === 'string') } }
}

interface Post extends ClientRequest {
  endpoint: string
  /** The methods by which clients can authenticate at the endpoint. */
  methods?: string[]
  parameters: Record<string, string>
}

async function post ({ endpoint, methods, parameters, client, fetch }: Post): Promise<{ body: unknown }> {
  const body = new URLSearchParams(parameters)
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const { client_id: id, client_secret: secret } = client
  const method = methodOf(client, methods)
  if (method === 'client_secret_basic') headers.authorization = `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret!)}`)}`
  else body.set('client_id', id)
  if (method === 'client_secret_post') body.set('client_secret', secret!)
  const response = await fetch(endpoint, { method: 'POST', headers, body })
  const answer: unknown = readJson(await response.text())
  const { error, error_description: description } = isObject(answer) ? answer : {}
  if (response.ok && typeof error !== 'string') return { body: answer }
  if (response.status >= 300 && response.status < 400) {
    throw new RequestRefused(response.status, undefined, `Redirect to ${response.headers.get('location')} not followed`)
  }
  const name = typeof error === 'string' ? error : undefined
  const said = typeof description === 'string' && description !== '' ? description : name
  throw new RequestRefused(response.status, name, said ?? `its authorization server answered ${response.status}`)
}

/**
 * Returns the method by which a client authenticates: the registered one, else a method that the server supports for clients with a secret,
 * else the default of RFC 8414.
 */
function methodOf (client: OAuthClientInformationMixed, methods: string[] = []): string {
  if (client.client_secret === undefined) return 'none'
  const registered = 'token_endpoint_auth_method' in client ? client.token_endpoint_auth_method : undefined
  const known = ['client_secret_basic', 'client_secret_post', 'none']
  if (registered !== undefined && known.includes(registered) && (methods.length === 0 || methods.includes(registered))) return registered
  return known.find((method) => methods.includes(method)) ?? 'client_secret_basic'
}

/** Encodes a client id or secret for HTTP Basic authentication (RFC 6749, section 2.3.1). */
const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

/** Reads the response of a token endpoint (RFC 6749, section 5.1). Throws an Error whose message is a clause. */
function readTokens (answer: unknown): OAuthTokens {
  if (!isObject(answer)) throw new Error('its authorization server answered something that is not JSON')
  const text = (name: string) => typeof answer[name] === 'string' && answer[name] !== '' ? { [name]: answer[name] } : {}
  const { access_token: access, token_type: type = 'Bearer', expires_in: seconds } = answer
  if (typeof access !== 'string' || !/^[\x21-\x7e]+$/.test(access)) throw new Error('its access token is missing or malformed')
  if (String(type).toLowerCase() !== 'bearer') throw new Error(`its access token is of another type (${String(type).slice(0, 40)})`)
  return {
    access_token: access,
    token_type: 'Bearer',
    ...Number.isFinite(Number(seconds ?? NaN)) && { expires_in: Number(seconds) },
    ...text('scope'),
    ...text('id_token'),
    ...text('refresh_token')
  }
}
