import type { AuthorizationServerMetadata, OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Revocation } from './token-requests.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { NetworkRules } from './oauth-fetch.ts'

/** The access of this service to one tool server, as the user authorized it. */
export interface Authorization {
  /** The address of the tool server. The tokens are sent to no other address. */
  url: string
  /** The issuer of the tokens. */
  authorizationServer: string
  metadata?: AuthorizationServerMetadata
  /** The endpoint that revokes the tokens; absent if the metadata of the authorization server name none. */
  revocation?: Revocation
  /** The resource that the tokens are for (RFC 8707), if the server names one. */
  resource?: string
  client: OAuthClientInformationMixed
  /** Absent if the authorization server has refused to refresh the tokens. */
  tokens?: OAuthTokens
}
export type StoredAuthorizations = Record<string, Authorization>

export type Authorizations = ReturnType<typeof createAuthorizations>

/** Stores the tokens and the client registrations for tool servers, encrypted, by the name of the server. */
export function createAuthorizations (stored: StoredRecord<StoredAuthorizations>) {
  /** Every token and client secret since the start of the service, for redaction. */
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
    /** Reads the stored record. A damaged record counts as empty. Rejects if the store cannot be read. */
    async load (): Promise<void> {
      values = { ...await stored.get().catch(emptyIfDamaged) }
      Object.values(values).forEach(remember)
    },

    /** Returns the authorization for a server, if it is for this address. */
    of: (name: string, url: string): Authorization | undefined => {
      const found = Object.hasOwn(values, name) ? values[name] : undefined
      return found?.url === url ? found : undefined
    },

    /**
     * Saves an authorization, durably. If saving fails, the authorization is used all the same, because the previous one might be invalid
     * now.
     */
    async save (name: string, authorization: Authorization): Promise<void> {
      values = { ...values, [name]: authorization }
      remember(authorization)
      await update((before) => ({ ...before, [name]: authorization }))
    },

    /** Deletes the authorization for a server and returns it. Does nothing and returns undefined if it is for the address `except`. */
    async forget (name: string, except?: string): Promise<Authorization | undefined> {
      if (!Object.hasOwn(values, name) || values[name].url === except) return undefined
      const forgotten = values[name]
      const without = (all: StoredAuthorizations) => Object.fromEntries(Object.entries(all).filter(([each]) => each !== name))
      values = without(values)
      await update(without)
      return forgotten
    },

    /** Returns the names of the servers with an authorization. */
    names: (): string[] => Object.keys(values),

    /** Returns the name of another server whose tokens were issued to the same client by the same authorization server. */
    sharing: ({ authorizationServer, client }: Authorization): string | undefined =>
      Object.keys(values).find((name) => {
        const { tokens, ...other } = values[name]
        const isSame = other.authorizationServer === authorizationServer && other.client.client_id === client.client_id
        return isSame && tokens !== undefined
      }),

    /** Runs work on the access to one server after any earlier work on it has ended, because a refresh token can be used only once. */
    locked: createKeyedLock(),

    secrets: (): string[] => [...seen]
  }
}

const LONGEST = 300

/**
 * Returns a clause that says why an authorization failed, LONGEST characters at most. Parts of the message that quote a response of the
 * authorization server are removed.
 */
export function describeOAuthError (error: unknown): string {
  const { name, message } = error as Error
  if (name === 'ZodError') return 'its authorization server answered something that OAuth does not know'
  if (error instanceof SyntaxError) return 'its authorization server answered something that is not JSON'
  return message.replace(/: Invalid OAuth error response:.*/s, '').replace(/\p{Cc}+/gu, ' ').slice(0, LONGEST).replace(/\.?\s*$/, '')
}

/** The time limit for revoking the tokens of a server, for all requests together, in milliseconds. */
const REVOKE_MS = 5_000

interface Parts {
  authorizations: Authorizations
  rules: NetworkRules
  clock: Clock
  signal: AbortSignal
}

/**
 * Returns a function that deletes the tokens for a tool server and revokes them (RFC 7009), unless they are for the address `except`. The
 * function resolves to a sentence about access that stays valid at the authorization server; undefined if none does.
 */
export function createSignOut ({ authorizations, rules, clock, signal }: Parts) {
  return async (name: string, except?: string): Promise<string | undefined> => {
    const forgotten = await authorizations.forget(name, except)
    if (forgotten?.tokens === undefined) return undefined
    const { url, authorizationServer, revocation, client, tokens } = forgotten
    const stays = (why: string) =>
      `The access to ${JSON.stringify(name)} is deleted here, and stays valid at ${authorizationServer}: ${why}.`
    // When one token is revoked, some servers end everything that the user has granted to the client.
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
