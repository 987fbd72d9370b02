import { createHash, timingSafeEqual } from 'node:crypto'
import { defineError } from '../lib/service-error.ts'

const Unauthorized = defineError(
  'ERR_UNAUTHORIZED',
  'This service needs a token: send one header Authorization: Bearer <LOCAL_AGENT_TOKEN>.'
)

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Returns the bearer token in the `authorization` headers of a request (RFC 6750); undefined unless there is exactly
 * one such header. The scheme is case-insensitive (RFC 9110, 11.1). Headers arrive as Latin-1, but the token is UTF-8.
 */
export function bearerOf (authorization: string[]): string | undefined {
  const token = authorization.length === 1 ? /^bearer +(\S.*)$/i.exec(authorization[0])?.[1] : undefined
  return token === undefined ? undefined : Buffer.from(token, 'latin1').toString()
}

/**
 * Creates the check of the `authorization` headers of a request. It throws Unauthorized (401) for a wrong token,
 * and compares in constant time.
 */
export function createTokenCheck (token: string): (authorization: string[]) => void {
  const expected = digest(token)
  return (authorization) => {
    const token = bearerOf(authorization)
    if (token === undefined || !timingSafeEqual(digest(token), expected)) throw new Unauthorized()
  }
}

const BadTarget = defineError('ERR_BAD_REQUEST', '%s')
const Forbidden = defineError('ERR_FORBIDDEN', '%s')

/** The error for requests that arrive after the shutdown has begun. */
export const Draining = defineError('ERR_DRAINING', 'The service is shutting down; try again after its restart.')

/**
 * HTTP origins of apps in a desktop shell (Tauri 2, which differs by system). Requests from these origins are always allowed, as from the
 * service's own origins. A command in a box (a sandbox) cannot serve a page under any of them.
 */
export const SHELL_ORIGINS = ['tauri://localhost', 'http://tauri.localhost', 'https://tauri.localhost']
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']
const HOST = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/
const MAX_PORT = 65_535

/** The parts of a request that identify its caller. `headers`: by lower-case name, each with all values that were sent. */
interface Caller {
  url: string
  headers: Partial<Record<string, string[]>>
}

interface GateParts {
  /** The address to which the port is bound. */
  host: string
  /** Returns the allowed origins besides those of the port itself. */
  allowedOrigins: () => string[]
  /** Allowed host names besides those of the loopback address and of the bound address. */
  names?: string[]
  /** Sentences for the errors about a wrong host name (`host`) and about a wrong origin (`origin`). */
  advice?: { host: string, origin: string }
}

const ADVICE = { host: 'Call it as 127.0.0.1, localhost or [::1].', origin: 'Add it to allowedOrigins in config.json if it is your app.' }

/**
 * Creates the check whether a caller is allowed to use the service. The check keeps foreign web pages out. Origin and
 * Sec-Fetch-Site reveal a page that calls the address of the service; Host reveals a page that uses a name of
 * its own which resolves to the service. See https://fetch.spec.whatwg.org and "DNS rebinding".
 */
export function createGate ({ host, allowedOrigins, names = [], advice = ADVICE }: GateParts) {
  const bound = (host.includes(':') ? `[${host}]` : host).toLowerCase()
  const anyAddress = ['0.0.0.0', '[::]'].includes(bound)

  /**
   * Whether a name in a Host header belongs to the service. The bound address does. If the port is bound to all
   * addresses, every literal IP address does as well, because DNS rebinding needs a name.
   */
  const isOwnName = (name: string) =>
    LOOPBACK_NAMES.includes(name) || name === bound || names.includes(name) ||
    (anyAddress && /^(\[.*\]|[\d.]+)$/.test(name))

  return {
    /**
     * Checks the caller of a request. Returns the allowed origin; undefined if the request has none. Throws
     * BadTarget (400) or Forbidden (403).
     */
    check ({ url, headers }: Caller): string | undefined {
      if (!url.startsWith('/')) throw new BadTarget('The request target must be a path, such as /health.')
      const hosts = headers.host ?? []
      const match = hosts.length === 1 ? HOST.exec(hosts[0]) : null
      if (match === null || Number(match[2] ?? 0) > MAX_PORT) throw new BadTarget('The request needs exactly one well-formed Host header.')
      const name = match[1].toLowerCase()
      const port = match[2] ?? '80'
      if (!isOwnName(name)) {
        throw new Forbidden(`Host "${name}" is not this service. ${advice.host}`)
      }
      const origins = headers.origin ?? []
      if (origins.length > 1) throw new Forbidden('The request has more than one Origin.')
      if (origins.length === 1) {
        const [origin] = origins
        if (!isAllowedOrigin(origin, name, port)) {
          throw new Forbidden(`Origin "${origin}" may not call this service. ${advice.origin}`)
        }
        return origin
      }
      const sites = headers['sec-fetch-site'] ?? []
      if (sites.some((site) => !['same-origin', 'none'].includes(site.trim().toLowerCase()))) {
        throw new Forbidden('Requests from other sites are refused.')
      }
      return undefined
    }
  }

  /**
   * True if an origin is allowed to call the service. The service's own page can have been opened by any of the service's
   * names. `name` and `port` are those of the Host header of this request.
   */
  function isAllowedOrigin (origin: string, name: string, port: string) {
    const own = [...LOOPBACK_NAMES, bound, name].some((each) =>
      origin === `http://${each}:${port}` || (port === '80' && origin === `http://${each}`)
    )
    return own || allowedOrigins().includes(origin)
  }
}
