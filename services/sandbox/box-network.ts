import { dirname, join } from 'node:path'
import { childProgram } from '../process/index.ts'
import { isIn } from './box-places.ts'
import { type LookUp, startHostProxy } from './host-proxy.ts'

/** The port at which programs in a box find their proxy. Its network is its own. */
const PROXY_PORT = 3128

interface Parts {
  /** A folder outside the box, for the proxy's socket. */
  folder: string
  hosts: string[]
  lookUp: LookUp
  /** Whether the program in the box gets the child's standard input, after `input`. */
  stdin: 'inherit' | 'ignore'
}

/** Starts the proxy of one box, and returns what leads to it in the box. */
export async function openBoxNetwork ({ folder, hosts, lookUp, stdin }: Parts) {
  const from = join(folder, 'proxy.sock')
  const proxy = await startHostProxy(from, hosts, lookUp)
  const to = '/run/proxy.sock'
  const forwarder = childProgram('box-forwarder', [to, String(PROXY_PORT), stdin])
  const isSource = forwarder.input.length === 0
  const address = `http://127.0.0.1:${PROXY_PORT}`
  const proxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [[name, address], [name.toLowerCase(), address]])
  const own = process.versions.electron === undefined ? forwarder.command : dirname(forwarder.command)
  const isOfSystem = ['/usr', '/opt', '/nix'].some((each) => isIn(each, own))
  return {
    command: [forwarder.command, ...forwarder.args],
    /** To be written to the child's standard input before anything else. */
    input: forwarder.input,
    env: { ...forwarder.env, ...Object.fromEntries(proxied), NO_PROXY: 'localhost,127.0.0.1,::1', NODE_USE_ENV_PROXY: '1' },
    files: [
      { from, to },
      ...isOfSystem ? [] : [{ from: own, to: own }],
      ...isSource ? [{ from: forwarder.args[0], to: forwarder.args[0] }] : []
    ],
    close: () => proxy.close()
  }
}
