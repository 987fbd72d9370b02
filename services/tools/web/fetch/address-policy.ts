import { lookup, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import { isThisMachine, notPublic } from './addresses.ts'
import { AddressRefused } from './fetch-errors.ts'

export interface PolicyParts {
  /** config.fetch.allowPrivate. */
  allowPrivate: () => boolean
  /** Ports that this service listens on. */
  ownPorts: () => number[]
  /** All addresses of a name. */
  resolve?: (host: string) => Promise<LookupAddress[]>
  /** The kind of an address that is not to be connected to; undefined for one that may be. */
  refused?: (address: string, port: number) => string | undefined
}

export type AddressPolicy = ReturnType<typeof createAddressPolicy>

const resolveAll = async (host: string) => promisify(lookup)(host, { all: true })

/** These names mean this machine, whatever a resolver makes of them (RFC 6761, section 6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/
const LOOPBACK: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]

/** Which hosts pages may be fetched from: those on the public internet, and, where allowed, private ones, but never this service. */
export function createAddressPolicy ({ allowPrivate, ownPorts, resolve = resolveAll, refused = notPublic }: PolicyParts) {
  function check (host: string, address: string, port: number) {
    const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []).map((each) => each.address)
    if (ownPorts().includes(port) && isThisMachine(address, interfaces)) {
      throw new AddressRefused(`${host}:${port} is this service itself, which its own tools may not call.`)
    }
    const kind = allowPrivate() ? undefined : refused(address, port)
    if (kind !== undefined) {
      throw new AddressRefused(
        `${host} is not on the public internet (${kind} address), so it is not fetched from. The user can allow this with "fetch": {"allowPrivate": true} in config.json.`
      )
    }
  }

  return {
    /**
     * The addresses a host has now, every one of them checked: connect to these and no others, whatever the name means
     * a moment later. One that is refused refuses the host. Throws AddressRefused, or what the lookup throws.
     */
    async addresses (url: URL): Promise<LookupAddress[]> {
      const host = url.hostname.replace(/^\[|\]$/g, '')
      const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
      const family = isIP(host)
      const found = family > 0 ? [{ address: host, family }] : LOCALHOST.test(host) ? LOOPBACK : await resolve(host)
      if (found.length === 0) throw new AddressRefused(`There is no host named ${host}.`)
      for (const { address } of found) check(host, address, port)
      return found
    }
  }
}
