import type { IncomingMessage } from 'node:http'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { readAtMost } from '../../lib/line-reader.ts'
import { AddressRefused, createAddressPolicy, nonPublicKind, reasonOf, send } from '../../tools/index.ts'
import { isTooComplex } from '../message-limits.ts'

/** The time limit for one request including the response, in milliseconds. */
const REQUEST_MS = 15_000
/** The most bytes of a response: a metadata document, a registration or tokens. */
const LONGEST_ANSWER = 256 * 1024

export interface NetworkRules {
  /** Returns the current config.fetch.allowPrivate. */
  allowPrivate: () => boolean
  /** The ports that this service listens on. */
  ownPorts: () => number[]
}

interface Parts {
  /** The address of the tool server, as the user entered it. */
  server: URL
  rules: NetworkRules
  clock: Clock
  signal: AbortSignal
}

const isLoopback = (address: string) => nonPublicKind(address) === 'loopback'
/** True if a host name means this machine. */
export const isLoopbackHost = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)

/**
 * Creates the `fetch` of the OAuth client. A tool server chooses the addresses that are requested, so they must be public and https, with
 * two exceptions: the origin that the user entered can be any address, and for a server on this machine, other servers on this machine are
 * allowed. Redirects are not followed. `refused` returns the error for the first refused address.
 */
export function createOAuthFetch ({ server, rules, clock, signal }: Parts) {
  const isLocal = isLoopbackHost(server.hostname)
  const policy = createAddressPolicy({
    ...rules,
    refusedKind: (address) => isLocal && isLoopback(address) ? undefined : nonPublicKind(address)
  })
  let refused: Error | undefined

  const addressesOf = async (url: URL) => {
    if (url.origin === server.origin) return undefined
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname))) {
      throw new AddressRefused(`${url.origin} is not https, so no authorization is asked for there.`)
    }
    return policy.addresses(url)
  }

  const fetch: FetchLike = async (address, { method = 'GET', headers, body } = {}) => {
    const url = new URL(address)
    try {
      if (url.username !== '' || url.password !== '') throw new AddressRefused(`${url.host} is named with a password.`)
      return await withDeadline({ clock, ms: REQUEST_MS, signal }, async (limit) => {
        const addresses = await addressesOf(url)
        const response = await send(url, {
          method: method === 'POST' ? 'POST' : 'GET',
          headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
          ...body != null && { body: String(body) },
          ...addresses && { addresses },
          signal: limit
        })
        // The SDK's error about a redirect names `response.url`, which a constructed Response lacks.
        return Object.defineProperty(await toResponse(response), 'url', { value: url.href })
      })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AddressRefused)) throw new Error(`${url.origin} cannot be asked: ${reasonOf(error).replace(/\.$/, '')}`)
      refused ??= error
      throw error
    }
  }

  return { fetch, refused: () => refused }
}

async function toResponse (response: IncomingMessage): Promise<Response> {
  const { bytes, isCut } = await readAtMost(response, LONGEST_ANSWER)
  response.destroy()
  if (isCut) throw new Error('its answer is too large')
  if (isTooComplex(bytes)) throw new Error('its answer is nested too deep')
  const status = response.statusCode!
  const { location, 'content-type': type } = response.headers
  const headers = { ...location !== undefined && { location }, ...type !== undefined && { 'content-type': type } }
  return new Response([204, 205, 304].includes(status) ? null : bytes.toString(), { status, headers })
}
