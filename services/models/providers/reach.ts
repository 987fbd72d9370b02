import { BlockList, isIP } from 'node:net'

/** Where a model server is: on this machine, in the user's own network, or anywhere else. */
export type Reach = 'machine' | 'network' | 'cloud'

/** Names that no public server has: RFC 6761, 6762 and 8375, ICANN's `.internal`, and names without a dot. */
const OWN_NAME = /^[^.]+$|\.(?:local|lan|internal|home\.arpa)$/i
const THIS_MACHINE = /^(?:.+\.)?localhost$/i

const machine = new BlockList()
machine.addSubnet('127.0.0.0', 8)
machine.addAddress('0.0.0.0')
machine.addAddress('::1', 'ipv6')
machine.addAddress('::', 'ipv6')

const network = new BlockList()
network.addSubnet('10.0.0.0', 8)
network.addSubnet('172.16.0.0', 12)
network.addSubnet('192.168.0.0', 16)
network.addSubnet('169.254.0.0', 16)
// Shared address space, which private overlay networks use (RFC 6598).
network.addSubnet('100.64.0.0', 10)
network.addSubnet('fc00::', 7, 'ipv6')
network.addSubnet('fe80::', 10, 'ipv6')

/** Returns where the server of an http address is, judging by the text alone: no name is looked up. */
export function reachOf (address: string): Reach {
  if (!URL.canParse(address)) return 'cloud'
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const family = isIP(host)
  if (family === 0) return THIS_MACHINE.test(host) ? 'machine' : OWN_NAME.test(host) ? 'network' : 'cloud'
  const kind = family === 6 ? 'ipv6' : 'ipv4'
  return machine.check(host, kind) ? 'machine' : network.check(host, kind) ? 'network' : 'cloud'
}
