import { lookup, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import { AddressRefused } from './send.ts'
import ipaddr from 'ipaddr.js'

interface PolicyParts {
  /** Returns the current config.fetch.allowPrivate. */
  allowPrivate: () => boolean
  /** Returns the ports that this service listens on. */
  ownPorts: () => number[]
  /** Looks up all addresses of a host name. */
  resolve?: (host: string) => Promise<LookupAddress[]>
  /** Returns the kind of a refused address, such as "loopback"; undefined if the address is allowed. */
  refusedKind?: (address: string, port: number) => string | undefined
}

export type AddressPolicy = ReturnType<typeof createAddressPolicy>

const resolveAll = async (host: string) => promisify(lookup)(host, { all: true })

/** Matches names that always mean this machine, whatever a resolver answers (RFC 6761, section 6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/
const LOOPBACK: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]

/**
 * Decides which hosts tools can send requests to: public hosts and, if the configuration allows it, private hosts, but never this service
 * itself.
 */
export function createAddressPolicy ({ allowPrivate, ownPorts, resolve = resolveAll, refusedKind = nonPublicKind }: PolicyParts) {
  function check (host: string, address: string, port: number) {
    const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []).map((each) => each.address)
    if (ownPorts().includes(port) && isThisMachine(address, interfaces)) {
      throw new AddressRefused(`${host}:${port} is this service itself, which its own tools may not call.`)
    }
    const kind = allowPrivate() ? undefined : refusedKind(address, port)
    if (kind !== undefined) {
      throw new AddressRefused(
        `${host} is not on the public internet (${kind} address), so it is not fetched from. The user can allow this with "fetch": ` +
        '{"allowPrivate": true} in config.json.'
      )
    }
  }

  return {
    /**
     * Returns the addresses of a host, each of which was checked. Callers must connect only to these, because the name might resolve to
     * other addresses a moment later (DNS rebinding). If one address is refused, the host is. At 127.0.0.1, `ports` are allowed. Throws
     * AddressRefused, or the error of the lookup.
     */
    async addresses (url: URL, ports: readonly number[] = []): Promise<LookupAddress[]> {
      const host = url.hostname.replace(/^\[|\]$/g, '')
      const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
      if (ports.includes(localPort(url) ?? -1)) return [LOOPBACK[0]]
      const family = isIP(host)
      const found = family > 0 ? [{ address: host, family }] : LOCALHOST.test(host) ? LOOPBACK : await resolve(host)
      if (found.length === 0) throw new AddressRefused(`There is no host named ${host}.`)
      for (const { address } of found) check(host, address, port)
      return found
    }
  }
}

/** Returns the port in a URL whose host is 127.0.0.1 or localhost; undefined for any other host. */
function localPort ({ hostname, protocol, port }: URL): number | undefined {
  if (hostname !== '127.0.0.1' && !LOCALHOST.test(hostname)) return undefined
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}

/** The range of all public IPv6 addresses. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/** The range that represents IPv4 addresses in IPv6-only networks (RFC 6052). */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/**
 * Returns the kind of an address that is not public, such as "loopback"; undefined for a public address. Throws if the address is invalid.
 */
export function nonPublicKind (address: string): string | undefined {
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (parsed.kind() === 'ipv4') return range === 'unicast' ? undefined : range
  if (parsed.match(NAT64)) return nonPublicKind(parsed.toByteArray().slice(12).join('.'))
  if (range !== 'unicast') return range
  return parsed.match(GLOBAL_UNICAST) ? undefined : 'reserved'
}

/** True if an address belongs to this machine: loopback, unspecified (0.0.0.0, ::) or one of `interfaces`. */
export function isThisMachine (address: string, interfaces: string[]): boolean {
  const parsed = ipaddr.process(address)
  if (['loopback', 'unspecified'].includes(parsed.range())) return true
  return interfaces.some((own) => ipaddr.isValid(own) && ipaddr.process(own).toNormalizedString() === parsed.toNormalizedString())
}
