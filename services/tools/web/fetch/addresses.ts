import ipaddr from 'ipaddr.js'

/** Where addresses of the public IPv6 internet lie. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/** An IPv4 address as networks see it that have none themselves (RFC 6052). */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** The kind of an address that is no public one, such as "loopback"; undefined for a public one. Throws for what is no address. */
export function notPublic (address: string): string | undefined {
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (parsed.kind() === 'ipv4') return range === 'unicast' ? undefined : range
  if (parsed.match(NAT64)) return notPublic(parsed.toByteArray().slice(12).join('.'))
  if (range !== 'unicast') return range
  return parsed.match(GLOBAL_UNICAST) ? undefined : 'reserved'
}

/** Whether an address is one of this machine's own: any of loopback, none at all, or one of `interfaces`. */
export function isThisMachine (address: string, interfaces: string[]): boolean {
  const parsed = ipaddr.process(address)
  if (['loopback', 'unspecified'].includes(parsed.range())) return true
  return interfaces.some((own) => ipaddr.isValid(own) && ipaddr.process(own).toNormalizedString() === parsed.toNormalizedString())
}
