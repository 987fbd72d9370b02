import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import type { HandOver } from './services/config/stdin-secrets.ts'
import { Usage } from './services/lib/usage-error.ts'
import { VERSION } from './services/lib/version.ts'

const HELP = `local-agent ${VERSION}: a local HTTP server that hosts an AI agent

  local-agent [--port <n>] [--host <addr>] [--parent-pid <pid>] [--stdin]
  local-agent rotate-key   enciphers all data anew with a new key, while no service runs: with a new key file, or with
                           the passphrase in LOCAL_AGENT_NEW_PASSPHRASE

  --port <n>     port to listen on; 0 picks a free one (LOCAL_AGENT_PORT, config.json; 3001)
  --host <addr>  address to listen on (127.0.0.1); another than loopback needs LOCAL_AGENT_TOKEN
  --parent-pid <pid>
                 end when this process has ended: the one that starts the service gives its own id
  --stdin        take secrets from the first line of standard input, a pipe or socket, and end when it ends:
                 {"token": "…", "passphrase": "…", "gatewayKey": "…", "keys": {"<provider>": "…"}}, any of them or {}
  --version, --help

  LOCAL_AGENT_HOME        folder of configuration, key and data (~/.local-agent)
  LOCAL_AGENT_TOKEN       bearer token that every request then needs
  LOCAL_AGENT_PASSPHRASE  encrypts the store instead of the key file
  AI_GATEWAY_API_KEY, AI_GATEWAY_BASE_URL`

export interface Options extends HandOver {
  host: string
  port?: number
  home?: string
  gatewayBaseURL?: string
  /** The process to end with. */
  parentPid?: number
}

/**
 * Reads arguments and environment, and with `--stdin` what `readHandOver` reads, which wins over the environment; an empty
 * variable is unset. A text is to be printed, and that is all. Throws Usage.
 */
export async function readOptions (
  args: string[],
  env: NodeJS.ProcessEnv,
  readHandOver: () => Promise<HandOver>
): Promise<Options | string> {
  const values = parse(args)
  if (values.help) return HELP
  if (values.version) return VERSION
  const of = (name: string) => env[name] || undefined
  const host = values.host ?? '127.0.0.1'
  if (host === '') throw new Usage('--host must be an address or a name, such as 127.0.0.1.')
  const listenOn = port('--port', values.port) ?? port('LOCAL_AGENT_PORT', of('LOCAL_AGENT_PORT'))
  const parentPid = processId(values['parent-pid'])
  const given = values.stdin ? await readHandOver() : {}
  const token = given.token ?? of('LOCAL_AGENT_TOKEN')
  if (token !== undefined && (token !== token.trim() || /\p{Cc}/u.test(token))) {
    const name = given.token === undefined ? 'LOCAL_AGENT_TOKEN' : 'The token on standard input'
    throw new Usage(`${name} begins or ends with a blank, or holds a control character such as a line end: no request could carry it.`)
  }
  if (!isLoopback(host) && token === undefined) {
    throw new Usage(`--host ${host} would let other machines in: set LOCAL_AGENT_TOKEN, or use 127.0.0.1.`)
  }
  return {
    host,
    port: listenOn,
    home: of('LOCAL_AGENT_HOME'),
    token,
    passphrase: given.passphrase ?? of('LOCAL_AGENT_PASSPHRASE'),
    gatewayKey: given.gatewayKey ?? of('AI_GATEWAY_API_KEY'),
    gatewayBaseURL: of('AI_GATEWAY_BASE_URL'),
    keys: given.keys,
    parentPid
  }
}

function parse (args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        'parent-pid': { type: 'string' },
        stdin: { type: 'boolean' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' }
      }
    }).values
  } catch (error) {
    throw new Usage(`${(error as Error).message}\n\n${HELP}`)
  }
}

function port (name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (!/^\d{1,5}$/.test(text) || number > 65535) throw new Usage(`${name} must be a port number from 0 to 65535, not "${text}".`)
  return number
}

function processId (text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new Usage(`--parent-pid must be the id of a process, not "${text}".`)
  return Number(text)
}

function isLoopback (host: string) {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
