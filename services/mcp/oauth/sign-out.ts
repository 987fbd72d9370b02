import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { type Authorizations, describeOAuthError } from './authorizations.ts'
import type { NetworkRules } from './oauth-fetch.ts'

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
 * revokes them (RFC 7009). It resolves to a sentence about what stays at the authorization server, or undefined when nothing does.
 */
export function createSignOut ({ authorizations, rules, clock, signal }: Parts) {
  return async (name: string, except?: string): Promise<string | undefined> => {
    const forgotten = await authorizations.forget(name, except)
    if (forgotten?.tokens === undefined) return undefined
    const { url, authorizationServer, revocation, client, tokens } = forgotten
    const stays = (why: string) =>
      `The access to ${JSON.stringify(name)} is deleted here, and stays valid at ${authorizationServer}: ${why}.`
    // Servers end all that a client has of a user with one token of it.
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
