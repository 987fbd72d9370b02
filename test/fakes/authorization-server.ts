import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendJson } from './sending.ts'
import { startSite } from './site.ts'

export interface AuthorizationServerOptions {
  /** Changes the metadata that the server publishes. */
  metadata?: (metadata: Record<string, unknown>) => object
  /** Changes the query parameters with which the browser is redirected back. */
  redirect?: (parameters: URLSearchParams) => void
  /** Answers a request of the token endpoint instead of the server. Returns true if it has answered. */
  token?: (res: ServerResponse, grant: URLSearchParams) => boolean | Promise<boolean>
  /** Answers a client registration instead of the server. */
  register?: (res: ServerResponse, body: any) => void
  /**
   * The server has a revocation endpoint. This function answers a request to it instead of the server, and returns true if it has answered
   * or never will.
   */
  revocation?: (res: ServerResponse) => boolean
  /** The server issues no refresh tokens. */
  refresh?: 'none'
  expiresIn?: number
  host?: string
}

const random = () => randomBytes(12).toString('hex')

/**
 * An authorization server that checks the requests of clients (registration, PKCE with S256, single use of codes and refresh tokens). Its
 * options make it misbehave. Its authorization page agrees at once and redirects the browser back.
 */
export async function startAuthorizationServer (
  t: { teardown(handler: () => unknown): unknown },
  options: AuthorizationServerOptions = {}
) {
  const clients = new Map<string, any>()
  const codes = new Map<string, URLSearchParams>()
  const valid = new Set<string>()
  const refreshTokens = new Set<string>()
  /** The grant types of all token requests. */
  const grants: string[] = []
  /** Descriptions of requests that broke a rule. */
  const faults: string[] = []

  const refuse = (res: ServerResponse, error: string, why: string) => {
    faults.push(why)
    sendJson(res, { error, error_description: why }, 400)
  }

  function issue (res: ServerResponse) {
    const [access, refresh] = [`access-canary-${random()}`, `refresh-canary-${random()}`]
    valid.add(access)
    refreshTokens.add(refresh)
    sendJson(res, {
      access_token: access,
      ...options.refresh === undefined && { refresh_token: refresh },
      token_type: 'Bearer',
      expires_in: options.expiresIn ?? 3600
    })
  }

  async function exchange (res: ServerResponse, grant: URLSearchParams) {
    grants.push(grant.get('grant_type')!)
    if (await options.token?.(res, grant)) return undefined
    if (grant.get('grant_type') === 'refresh_token') {
      const token = grant.get('refresh_token')!
      if (!refreshTokens.has(token)) return refuse(res, 'invalid_grant', 'unknown refresh token')
      refreshTokens.delete(token)
      return issue(res)
    }
    const asked = codes.get(grant.get('code')!)
    codes.delete(grant.get('code')!)
    if (asked === undefined) return refuse(res, 'invalid_grant', 'unknown code')
    const challenge = createHash('sha256').update(grant.get('code_verifier') ?? '').digest('base64url')
    const isProven = asked.get('code_challenge_method') === 'S256' && challenge === asked.get('code_challenge')
    if (!isProven) return refuse(res, 'invalid_grant', 'PKCE')
    if (grant.get('redirect_uri') !== asked.get('redirect_uri')) return refuse(res, 'invalid_grant', 'redirect_uri')
    if (grant.get('client_id') !== asked.get('client_id')) return refuse(res, 'invalid_client', 'client_id')
    return issue(res)
  }

  function authorize (req: IncomingMessage, res: ServerResponse) {
    const asked = new URL(req.url!, site.url).searchParams
    const client = clients.get(asked.get('client_id')!)
    if (!client?.redirect_uris.includes(asked.get('redirect_uri'))) return refuse(res, 'invalid_request', 'redirect_uri is not registered')
    const code = random()
    codes.set(code, asked)
    const parameters = new URLSearchParams({ code, state: asked.get('state')!, iss: site.url })
    options.redirect?.(parameters)
    return res.writeHead(302, { location: `${asked.get('redirect_uri')}?${parameters}` }).end()
  }

  const site = await startSite(t, {
    '/.well-known/oauth-authorization-server': (_req, res) => {
      const metadata = {
        issuer: site.url,
        authorization_endpoint: `${site.url}/authorize`,
        token_endpoint: `${site.url}/token`,
        registration_endpoint: `${site.url}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
        ...options.revocation && { revocation_endpoint: `${site.url}/revoke` }
      }
      sendJson(res, options.metadata?.(metadata) ?? metadata)
    },
    '/register': (_req, res) => {
      const body = JSON.parse(site.requests.at(-1)!.body)
      if (options.register !== undefined) return options.register(res, body)
      const client = { ...body, client_id: `client-${random()}` }
      clients.set(client.client_id, client)
      return sendJson(res, client, 201)
    },
    '/authorize': authorize,
    '/revoke': (_req, res) => options.revocation?.(res) || res.end(),
    '/token': (_req, res) => exchange(res, new URLSearchParams(site.requests.at(-1)!.body))
  }, options.host === undefined ? {} : { host: options.host })

  return {
    ...site,
    clients,
    grants,
    faults,
    /** Returns true if a tool server should accept this token. */
    isValid: (token: string) => valid.has(token),
    /** Invalidates the access tokens; the refresh tokens stay valid. */
    expire: () => valid.clear(),
    /** Revokes the user's authorization. */
    revoke () {
      valid.clear()
      refreshTokens.clear()
    }
  }
}
export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>

/**
 * Returns the handlers of a tool server that refuses requests without a token of the authorization server, and publishes the metadata that
 * names this server.
 */
export function guardedBy (authorization: AuthorizationServer, metadata: (found: Record<string, unknown>) => object = (found) => found) {
  return {
    before (req: IncomingMessage, res: ServerResponse): boolean {
      const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1]
      if (token !== undefined && authorization.isValid(token)) return false
      const at = `http://${req.headers.host}/.well-known/oauth-protected-resource/mcp`
      res.writeHead(401, { 'www-authenticate': `Bearer error="invalid_token", resource_metadata="${at}"` }).end('no entry')
      return true
    },
    pages: {
      '/.well-known/oauth-protected-resource/mcp': (req: IncomingMessage, res: ServerResponse) =>
        sendJson(
          res,
          metadata({
            resource: `http://${req.headers.host}/mcp`,
            authorization_servers: [authorization.url],
            scopes_supported: ['tools']
          })
        )
    }
  }
}
