import type { AuthorizationServerMetadata, OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Revocation } from './token-requests.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { NetworkRules } from './oauth-fetch.ts'

/** A user's authorization: the access of this service to a tool server. */
export interface Authorization {
  /** The address of the tool server. The tokens are used for no other address. */
  url: string
  /** The issuer. */
  authorizationServer: string
  metadata?: AuthorizationServerMetadata
  /** Where its tokens are revoked; absent if its metadata do not say. */
  revocation?: Revocation
  /** The resource that the tokens are for (RFC 8707), if the server names one. */
  resource?: string
  client: OAuthClientInformationMixed
  /** Absent if the tokens are no longer valid. */
  tokens?: OAuthTokens
}
export type StoredAuthorizations = Record<string, Authorization>

export type Authorizations = ReturnType<typeof createAuthorizations>

/** Keeps the tokens and the client registrations of tool servers, encrypted, by the server's name. */
export function createAuthorizations (stored: StoredRecord<StoredAuthorizations>) {
  /** Every value that was a secret since the start. */
  const seen = new Set<string>()
  let values: StoredAuthorizations = {}

  function remember ({ tokens, client }: Authorization) {
    for (const secret of [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, client.client_secret]) {
      if (secret !== undefined) seen.add(secret)
    }
  }

  async function update (change: (before: StoredAuthorizations) => StoredAuthorizations): Promise<void> {
    await stored.update(change).catch((error) => stored.replace(change(emptyIfDamaged(error))))
  }

  return {
    /** Reads the record. A damaged one counts as empty; rejects when the store cannot be read. */
    async load (): Promise<void> {
      values = { ...await stored.get().catch(emptyIfDamaged) }
      Object.values(values).forEach(remember)
    },

    /** What is authorized for a server at this address. */
    of: (name: string, url: string): Authorization | undefined => {
      const found = Object.hasOwn(values, name) ? values[name] : undefined
      return found?.url === url ? found : undefined
    },

    /** Saves an authorization, durably. It is used even if that fails, because the previous one may be invalid now. */
    async save (name: string, authorization: Authorization): Promise<void> {
      values = { ...values, [name]: authorization }
      remember(authorization)
      await update((before) => ({ ...before, [name]: authorization }))
    },

    /** Deletes the authorization for a server, unless it is for this address. Returns the deleted one. */
    async forget (name: string, except?: string): Promise<Authorization | undefined> {
      if (!Object.hasOwn(values, name) || values[name].url === except) return undefined
      const forgotten = values[name]
      const without = (all: StoredAuthorizations) => Object.fromEntries(Object.entries(all).filter(([each]) => each !== name))
      values = without(values)
      await update(without)
      return forgotten
    },

    /** The servers for which something is authorized. */
    names: (): string[] => Object.keys(values),

    /** Returns the name of another server that has its tokens from the same client of the same authorization server. */
    sharing: ({ authorizationServer, client }: Authorization): string | undefined =>
      Object.keys(values).find((name) => {
        const { tokens, ...other } = values[name]
        const isSame = other.authorizationServer === authorizationServer && other.client.client_id === client.client_id
        return isSame && tokens !== undefined
      }),

    /** Runs work on the access to one server one after the other, because a token may be refreshed only once. */
    locked: createKeyedLock(),

    secrets: (): string[] => [...seen]
  }
}

const LONGEST = 300

/** Returns why an authorization failed, as a clause. The SDK's errors may hold whole documents, and texts of the authorization server. */
export function describeOAuthError (error: unknown): string {
  const { name, message } = error as Error
  if (name === 'ZodError') return 'its authorization server answered something that OAuth does not know'
  if (error instanceof SyntaxError) return 'its authorization server answered something that is not JSON'
  return message.replace(/: Invalid OAuth error response:.*/s, '').replace(/\p{Cc}+/gu, ' ').slice(0, LONGEST).replace(/\.?\s*$/, '')
}

/** Time limit for revoking the tokens of a server, all requests together. */
const REVOKE_MS = 5_000

interface Parts {
  authorizations: Authorizations
  rules: NetworkRules
  clock: Clock
  signal: AbortSignal
}

/**
 * Returns a function that ends the access of this service to a tool server, unless it is for the address `except`: deletes its tokens and
 * revokes them (RFC 7009). It resolves to a sentence about what stays valid at the authorization server; undefined if nothing does.
 */
export function createSignOut ({ authorizations, rules, clock, signal }: Parts) {
  return async (name: string, except?: string): Promise<string | undefined> => {
    const forgotten = await authorizations.forget(name, except)
    if (forgotten?.tokens === undefined) return undefined
    const { url, authorizationServer, revocation, client, tokens } = forgotten
    const stays = (why: string) =>
      `The access to ${JSON.stringify(name)} is deleted here, and stays valid at ${authorizationServer}: ${why}.`
    // With one token, servers end everything that a client has of a user.
    const sharing = authorizations.sharing(forgotten)
    if (sharing !== undefined) return stays(`the tool server ${JSON.stringify(sharing)} is signed in there as the same client`)
    try {
      const [{ createOAuthFetch }, { requestRevocation }] = await Promise.all([import('./oauth-fetch.ts'), import('./token-requests.ts')])
      await withDeadline({ clock, ms: REVOKE_MS, signal, message: 'it did not answer within 5 s' }, async (limit) => {
        const { fetch } = createOAuthFetch({ server: new URL(url), rules, clock, signal: limit })
        await requestRevocation({ revocation, client, tokens, fetch })
      })
      return undefined
    } catch (error) {
      return stays(`${describeOAuthError(error)}. End it there if you want it to end before it expires`)
    }
  }
}
