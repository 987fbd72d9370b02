import { readFile } from 'node:fs/promises'

/** The state LISTEN of a socket, https://docs.kernel.org/networking/proc_net_tcp.html */
const LISTENS = '0A'

/**
 * Returns whether a program of another user listens at a port of this computer. Always false except on Linux: other systems do not report
 * the user.
 */
export async function isPortOfAnotherUser (port: number, own = process.getuid?.()): Promise<boolean> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/self/net/${name}`, 'utf8').catch(() => '')))
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return tables.join('\n').split('\n').some((line) => {
    const [, address = '', , state, , , , user] = line.trim().split(/\s+/)
    return address.endsWith(ending) && state === LISTENS && Number(user) !== own
  })
}
