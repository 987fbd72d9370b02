import type { AuthorizationServerMetadata, OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Revocation } from './token-requests.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'

/** What a user has authorized: the access of this service to a tool server. */
export interface Authorization {
  /** The address of the tool server: its tokens are for no other. */
  url: string
  /** The issuer. */
  authorizationServer: string
  metadata?: AuthorizationServerMetadata
  /** Where its tokens are revoked; absent when it does not say. */
  revocation?: Revocation
  /** The resource that the tokens are for (RFC 8707), if the server names one. */
  resource?: string
  client: OAuthClientInformationMixed
  /** Absent when they are worth nothing any more. */
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

    /** Saves an authorization, durably. It is used even when that fails: the one before it may be worth nothing any more. */
    async save (name: string, authorization: Authorization): Promise<void> {
      values = { ...values, [name]: authorization }
      remember(authorization)
      await update((before) => ({ ...before, [name]: authorization }))
    },

    /** Deletes what is authorized for a server, unless it is for this address. Returns what was deleted. */
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

    /** The name of a server that has its tokens from the same client of the same authorization server. */
    sharing: ({ authorizationServer, client }: Authorization): string | undefined =>
      Object.keys(values).find((name) => {
        const { tokens, ...other } = values[name]
        const isSame = other.authorizationServer === authorizationServer && other.client.client_id === client.client_id
        return isSame && tokens !== undefined
      }),

    /** Runs work on the access to one server one after the other: a token may be refreshed once only. */
    locked: createKeyedLock(),

    secrets: (): string[] => [...seen]
  }
}

const LONGEST = 300

/** Describes why an authorization failed, as a clause: the SDK's errors hold whole documents, and words of the authorization server. */
export function describeOAuthError (error: unknown): string {
  const { name, message } = error as Error
  if (name === 'ZodError') return 'its authorization server answered something that OAuth does not know'
  if (error instanceof SyntaxError) return 'its authorization server answered something that is not JSON'
  return message.replace(/: Invalid OAuth error response:.*/s, '').replace(/\p{Cc}+/gu, ' ').slice(0, LONGEST).replace(/\.?\s*$/, '')
}
