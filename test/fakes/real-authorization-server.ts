import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import Provider from 'oidc-provider'
import { startToolServer } from '../harness/mcp-http.ts'
import { sendJson } from './sending.ts'
import { startSite } from './site.ts'

interface Options {
  /** Clients that are registered in advance. */
  clients?: object[]
  /** Whether clients may register themselves. */
  registration?: boolean
  /** Published client metadata documents, by address. */
  documents?: Record<string, object>
}

const INTERACTION = /^\/interaction\/[\w-]+$/
let key: object | undefined

/**
 * Starts the widely used authorization server `oidc-provider`, with registration, PKCE, resource indicators, rotating refresh tokens,
 * revocation and client metadata documents. Its user agrees to everything. `addServer` starts a tool server that accepts its tokens.
 */
export async function startRealAuthorizationServer (
  t: { teardown(handler: () => unknown): unknown },
  { clients = [], registration = true, documents = {} }: Options = {}
) {
  const site = await startSite(t)
  const issuer = site.url
  key ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const revoked: string[] = []
  const provider = new Provider(issuer, {
    clients,
    cookies: { keys: ['a test'] },
    jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256' }] },
    scopes: ['openid', 'offline_access', 'tools'],
    pkce: { required: () => true },
    ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 3600, IdToken: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    fetch: async (url: URL) => {
      const document = documents[String(url)]
      return document === undefined ? new Response('', { status: 404 }) : Response.json(document)
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registration },
      revocation: { enabled: true },
      clientIdMetadataDocument: { enabled: Object.keys(documents).length > 0, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, audience: string) => ({ scope: 'tools', audience, accessTokenFormat: 'opaque' })
      }
    }
  })
  provider.on('grant.revoked', (_ctx, grantId) => revoked.push(grantId))

  /** Acts as the user on the authorization page: signs in and agrees. */
  async function interact (req: IncomingMessage, res: ServerResponse) {
    const { prompt, params, session, grantId } = await provider.interactionDetails(req, res)
    if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: 'ada' } }, {})
    const grant = grantId === undefined
      ? new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
      : await provider.Grant.find(grantId)
    grant.addOIDCScope(params.scope)
    if (params.resource !== undefined) grant.addResourceScope(params.resource, params.scope)
    return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true })
  }
  const callback = provider.callback()
  site.server.removeAllListeners('request').on('request', (req, res) => {
    site.requests.push({ path: req.url!, headers: req.headers, method: req.method!, body: '', from: req.socket.localAddress! })
    if (INTERACTION.test(req.url!)) void interact(req, res)
    else callback(req, res)
  })

  return {
    issuer,
    requests: site.requests,
    /** The revoked grants. */
    revoked,
    /** Resolves to the access or refresh token; undefined if the token is not valid. */
    find: async (token: string) => await provider.AccessToken.find(token) ?? provider.RefreshToken.find(token),

    /** Starts a tool server that accepts the tokens that were issued for it. */
    async addServer () {
      const seen = new Set<string>()
      const server = await startToolServer(t, {
        async before (req, res) {
          const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1]
          const found = token && await provider.AccessToken.find(token)
          if (found?.isValid && found.aud === `http://${req.headers.host}/mcp`) {
            seen.add(token!)
            return false
          }
          const at = `http://${req.headers.host}/.well-known/oauth-protected-resource/mcp`
          res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${at}"` }).end()
          return true
        },
        pages: {
          '/.well-known/oauth-protected-resource/mcp': (req: IncomingMessage, res: ServerResponse) =>
            sendJson(res, { resource: `http://${req.headers.host}/mcp`, authorization_servers: [issuer], scopes_supported: ['tools'] })
        }
      })
      return {
        ...server,
        /** Invalidates the access token that was used last; its refresh token stays valid. */
        async expire () {
          await (await provider.AccessToken.find([...seen].at(-1)!)).destroy()
        },
        /** Revokes the user's authorization. */
        async revoke () {
          const { grantId } = await provider.AccessToken.find([...seen].at(-1)!)
          await Promise.all([provider.AccessToken, provider.RefreshToken].map((model) => model.revokeByGrantId(grantId)))
        },
        tokens: () => [...seen]
      }
    }
  }
}

/**
 * Creates a browser that keeps cookies, which the pages of real authorization servers need. The returned function opens a page and returns
 * the address at which the redirects end.
 */
export function createBrowser () {
  const cookies = new Map<string, string>()
  return async (address: string) => {
    for (let url = address; ;) {
      const response = await fetch(url, { redirect: 'manual', headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') } })
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      const location = response.headers.get('location')
      if (location === null) return { url, status: response.status, text: await response.text() }
      await response.body?.cancel()
      url = new URL(location, url).href
    }
  }
}
