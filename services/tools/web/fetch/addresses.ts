import ipaddr from 'ipaddr.js'

/** The range of public IPv6 addresses. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/** IPv4 addresses as seen from IPv6-only networks (RFC 6052). */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** Returns the kind of an address that is not public, such as "loopback"; undefined for a public address. Throws for invalid addresses. */
export function nonPublicKind (address: string): string | undefined {
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (parsed.kind() === 'ipv4') return range === 'unicast' ? undefined : range
  if (parsed.match(NAT64)) return nonPublicKind(parsed.toByteArray().slice(12).join('.'))
  if (range !== 'unicast') return range
  return parsed.match(GLOBAL_UNICAST) ? undefined : 'reserved'
}

/** Returns whether an address is one of this machine: loopback, unspecified (0.0.0.0, ::) or one of `interfaces`. */
export function isThisMachine (address: string, interfaces: string[]): boolean {
  const parsed = ipaddr.process(address)
  if (['loopback', 'unspecified'].includes(parsed.range())) return true
  return interfaces.some((own) => ipaddr.isValid(own) && ipaddr.process(own).toNormalizedString() === parsed.toNormalizedString())
}
