import type { Clock } from '../../lib/clock.ts'
import { Unreachable } from '../server-transport.ts'
import { type Authorization, type Authorizations, describeOAuthError } from './authorizations.ts'
import type { Challenge, PendingAuthorization } from './authorize.ts'
import type { NetworkRules } from './oauth-fetch.ts'

/** Statuses with which a token endpoint refuses for now, not for good. */
const TEMPORARY = [408, 425, 429]

/** The server wants the user to authorize this service. */
export class AuthorizationNeeded extends Unreachable {}

const OPEN_IT = 'it waits for its user: open authorizationUrl in a browser'
const ASK_FOR_IT = 'POST /mcp/connect with its name and url begins an authorization'

interface Parts {
  name: string
  url: string
  authorizations: Authorizations
  rules: NetworkRules
  clock: Clock
  /** Called when an authorization has come to nothing. */
  onChange: () => void
}

export type ServerAccess = ReturnType<typeof createServerAccess>

/** The access of this service to one tool server over HTTP, as far as its user has authorized it (OAuth 2.1). */
export function createServerAccess ({ name, url, authorizations, rules, clock, onChange }: Parts) {
  const closing = new AbortController()
  const server = new URL(url)
  let challenge: Challenge = {}
  let isNeeded = false
  let granted = Promise.withResolvers<void>()
  let starting: Promise<string> | undefined
  let pending: PendingAuthorization | undefined
  /** Why the last authorization came to nothing. */
  let failure: string | undefined

  const current = () => authorizations.of(name, server.href)

  /** Returns a new token for the refused one; throws AuthorizationNeeded. Concurrent calls refresh once. */
  const renew = (refused: string | undefined, found: Challenge & { error?: string }) =>
    authorizations.locked(name, async () => {
      const authorization = current()
      if (authorization !== undefined && authorization.tokens.access_token !== refused) return authorization.tokens.access_token
      const isEnough = found.error !== 'insufficient_scope'
      const refreshed = authorization?.tokens.refresh_token !== undefined && isEnough ? await refresh(authorization) : undefined
      if (refreshed === undefined) throw need(found)
      await authorizations.save(name, refreshed)
      return refreshed.tokens.access_token
    })

  /** Returns undefined when the authorization server refuses: the user must authorize again. */
  async function refresh (authorization: Authorization): Promise<Authorization | undefined> {
    const { authorizationServer, metadata, client, tokens: { refresh_token: refreshToken }, resource } = authorization
    const [{ refreshAuthorization }, { createOAuthFetch }] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/auth.js'),
      import('./oauth-fetch.ts')
    ])
    const oauth = createOAuthFetch({ server, rules, clock, signal: closing.signal })
    let status = 0
    const options = {
      ...metadata && { metadata },
      ...resource !== undefined && { resource },
      clientInformation: client,
      refreshToken: refreshToken!,
      fetchFn: async (...request: Parameters<typeof oauth.fetch>) => {
        const response = await oauth.fetch(...request)
        status = response.status
        return response
      }
    }
    try {
      return { ...authorization, tokens: await refreshAuthorization(authorizationServer, options) }
    } catch (error) {
      if (status >= 300 && status < 500 && !TEMPORARY.includes(status)) return undefined
      throw new Unreachable(`its token cannot be refreshed: ${describeOAuthError(error)}`)
    }
  }

  function need ({ resourceMetadataUrl, scope }: Challenge): AuthorizationNeeded {
    challenge = { ...resourceMetadataUrl && { resourceMetadataUrl }, ...scope !== undefined && { scope } }
    isNeeded = true
    return new AuthorizationNeeded('it waits for its user to authorize it')
  }

  async function start (): Promise<string> {
    failure = undefined
    try {
      const { startAuthorizing } = await import('./authorize.ts')
      const save = async (authorization: Authorization) => {
        closing.signal.throwIfAborted()
        await authorizations.save(name, authorization)
      }
      const begun = await startAuthorizing({ server, challenge, rules, clock, signal: closing.signal, save })
      pending = begun
      void begun.done.then(() => {
        pending = undefined
        isNeeded = false
        granted.resolve()
        granted = Promise.withResolvers()
      }, (error: Error) => {
        pending = undefined
        failure = error.message
        if (!closing.signal.aborted) onChange()
      })
      return begun.authorizationUrl
    } catch (error) {
      failure = `its authorization cannot be begun: ${(error as Error).message}`
      throw new Error(failure)
    } finally {
      starting = undefined
    }
  }

  return {
    /** The address of the server. */
    url: server.href,
    /** The token for a request; undefined when there is none. */
    token: (): string | undefined => current()?.tokens.access_token,
    renew,
    /** The error of a server that refuses the token it has just been given. */
    need,

    /** Whether the user must authorize this service before it can be connected. */
    get isNeeded () {
      return isNeeded
    },
    /** The page that the user is to open; undefined when no authorization waits for the user. */
    get authorizationUrl () {
      return pending?.authorizationUrl
    },
    /** Whether an authorization has been begun since one is needed. */
    get wasBegun () {
      return pending !== undefined || failure !== undefined
    },
    /** Why the server is not connected, a clause. */
    get reason () {
      return pending === undefined ? `${failure ?? 'it waits for its user to authorize it'}; ${ASK_FOR_IT}` : OPEN_IT
    },

    /** Begins an authorization, unless one waits for the user. Returns the page to open; rejects with an Error that holds a clause. */
    begin: async (): Promise<string> => pending?.authorizationUrl ?? (starting ??= start()),

    /** Resolves once the user has authorized; rejects with the signal's reason. */
    async granted (signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      const aborted = Promise.withResolvers<never>()
      const abort = () => aborted.reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      await Promise.race([granted.promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort))
    },

    /** Ends an authorization that waits. */
    async close (): Promise<void> {
      closing.abort(new Error('it was disconnected'))
      await starting?.catch(() => {})
      await pending?.done.catch(() => {})
    }
  }
}
