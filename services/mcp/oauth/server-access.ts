import type { Clock } from '../../lib/clock.ts'
import { Unreachable } from '../server-transport.ts'
import { type Authorization, type Authorizations, describeOAuthError } from './authorizations.ts'
import type { Challenge, PendingAuthorization, SignInClient } from './authorize.ts'
import type { NetworkRules } from './oauth-fetch.ts'
import { RequestRefused, requestTokens } from './token-requests.ts'

/** The statuses with which a token endpoint refuses only temporarily. */
const TEMPORARY = [408, 425, 429]

/** Thrown if the server requires the user to authorize this service. */
export class AuthorizationNeeded extends Unreachable {}

/** Clauses that say why the user has to authorize. */
const NEEDED = {
  first: 'it waits for its user to authorize it',
  ended: 'its sign-in has ended (it was revoked or has expired), and it waits for its user to authorize it anew',
  client: 'its authorization server does not take the client of its sign-in any more, and it waits for its user to authorize it anew',
  wider: 'it wants more than its sign-in allows, and it waits for its user to authorize it anew',
  useless: 'it does not take the token of its sign-in, and it waits for its user to authorize it anew'
}
const OPEN_IT = 'open authorizationUrl in a browser'
const ASK_FOR_IT = 'POST /mcp/connect with its name and url begins an authorization'

interface Parts {
  name: string
  url: string
  authorizations: Authorizations
  /** Returns the OAuth client of the entry. Throws an Error whose message is a clause. */
  client: () => SignInClient
  rules: NetworkRules
  clock: Clock
  /** Called when an authorization has failed. */
  onChange: () => void
}

export type ServerAccess = ReturnType<typeof createServerAccess>

/** Manages the access of this service to one tool server over HTTP, as the user authorizes it (OAuth 2.1). */
export function createServerAccess ({ name, url, authorizations, client, rules, clock, onChange }: Parts) {
  const closing = new AbortController()
  const server = new URL(url)
  let challenge: Challenge = {}
  /** A clause that says why the user has to authorize; undefined if the user does not have to. */
  let needed: string | undefined
  let granted = Promise.withResolvers<void>()
  let starting: Promise<string> | undefined
  let pending: PendingAuthorization | undefined
  /** A clause that says why the last authorization failed. */
  let failure: string | undefined

  /** Returns the stored authorization; undefined if there is none, or if the entry names another client now. */
  const current = () => {
    const found = authorizations.of(name, server.href)
    const { clientId } = client()
    return clientId === undefined || found?.client.client_id === clientId ? found : undefined
  }

  /**
   * Returns a new token in place of the refused one. Concurrent calls refresh the token only once. Throws AuthorizationNeeded, or
   * Unreachable if the refresh failed for now.
   */
  const renew = (refused: string | undefined, found: Challenge & { error?: string }) =>
    authorizations.locked(name, async () => {
      const authorization = current()
      const tokens = authorization?.tokens
      if (tokens === undefined) throw need(found, refused === undefined ? NEEDED.first : NEEDED.ended)
      if (tokens.access_token !== refused) return tokens.access_token
      if (found.error === 'insufficient_scope') throw need(found, NEEDED.wider)
      const why = tokens.refresh_token === undefined ? NEEDED.ended : await refresh(authorization!, tokens.refresh_token)
      if (why === undefined) return current()!.tokens!.access_token
      // The tokens are invalid now. The rest of the record is kept, because it binds the client to its authorization server.
      await authorizations.save(name, { ...authorization!, tokens: undefined })
      throw need(found, why)
    })

  /**
   * Gets new tokens and saves them. Returns undefined, or a clause that says why the user must authorize again. Throws Unreachable if the
   * authorization server cannot be reached or refuses only temporarily.
   */
  async function refresh (authorization: Authorization, refreshToken: string): Promise<string | undefined> {
    const { createOAuthFetch } = await import('./oauth-fetch.ts')
    const { clientSecret } = client()
    const next = {
      ...authorization,
      client: { ...authorization.client, ...clientSecret !== undefined && { client_secret: clientSecret } }
    }
    const { fetch } = createOAuthFetch({ server, rules, clock, signal: closing.signal })
    try {
      const tokens = await requestTokens({ ...next, fetch, grant: { grant_type: 'refresh_token', refresh_token: refreshToken } })
      await authorizations.save(name, { ...next, tokens: { refresh_token: refreshToken, ...tokens } })
      return undefined
    } catch (error) {
      const isForGood = error instanceof RequestRefused && error.status < 500 && !TEMPORARY.includes(error.status)
      if (!isForGood) throw new Unreachable(`its token cannot be refreshed: ${describeOAuthError(error)}`)
      return ['invalid_client', 'unauthorized_client'].includes(error.error ?? '') ? NEEDED.client : NEEDED.ended
    }
  }

  function need ({ resourceMetadataUrl, scope }: Challenge, why: string): AuthorizationNeeded {
    challenge = { ...resourceMetadataUrl && { resourceMetadataUrl }, ...scope !== undefined && { scope } }
    needed = why
    return new AuthorizationNeeded(why)
  }

  async function start (): Promise<string> {
    failure = undefined
    try {
      const { startAuthorizing } = await import('./authorize.ts')
      const save = async (authorization: Authorization) => {
        closing.signal.throwIfAborted()
        await authorizations.save(name, authorization)
      }
      const boundTo = current()?.authorizationServer
      const begun = await startAuthorizing({ server, challenge, client: client(), boundTo, rules, clock, signal: closing.signal, save })
      pending = begun
      void begun.done.then(() => {
        pending = undefined
        needed = undefined
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
    /** Returns the token for a request; undefined if there is none. */
    token: (): string | undefined => current()?.tokens?.access_token,
    renew,
    /** Returns the error for a server that refuses a token which it should accept: one that was just renewed. */
    refused: (found: Challenge & { error?: string }): AuthorizationNeeded =>
      need(found, found.error === 'insufficient_scope' ? NEEDED.wider : NEEDED.useless),

    /** True if the user must authorize this service before the server can be connected. */
    get isNeeded () {
      return needed !== undefined
    },
    /** The page that the user must open; undefined if no authorization is waiting for the user. */
    get authorizationUrl () {
      return pending?.authorizationUrl
    },
    /** True if an authorization is waiting for the user, or has failed. */
    get wasBegun () {
      return pending !== undefined || failure !== undefined
    },
    /** A clause that says why the server is not connected. */
    get reason () {
      const why = needed ?? NEEDED.first
      return pending === undefined ? `${failure ?? why}; ${ASK_FOR_IT}` : `${why}: ${OPEN_IT}`
    },

    /**
     * Begins an authorization, unless one is already waiting for the user. Returns the address of the page that the user must open. Rejects
     * with an Error whose message is a clause.
     */
    begin: async (): Promise<string> => pending?.authorizationUrl ?? (starting ??= start()),

    /** Resolves once the user has authorized. Rejects with the signal's abort reason. */
    async granted (signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      const aborted = Promise.withResolvers<never>()
      const abort = () => aborted.reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      await Promise.race([granted.promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort))
    },

    /** Cancels an authorization that is waiting for the user, and waits for its end. Never rejects. */
    async close (): Promise<void> {
      closing.abort(new Error('it was disconnected'))
      await starting?.catch(() => {})
      await pending?.done.catch(() => {})
    }
  }
}
