import { parseArgs } from 'node:util'
import type { lazyCompilers } from './plugins/core/compilers.ts'
import type { StdinSecrets } from './services/config/stdin-secrets.ts'
import { isLoopback } from './services/lib/is-loopback.ts'
import { Usage } from './services/lib/usage-error.ts'
import type { ServiceLog } from './services/log/service-log.ts'
import { BUILD } from './services/lib/version.ts'
import type { Provider } from './services/models/providers/provider.ts'
import type { AwakeProgram } from './services/process/keep-awake.ts'
import type { BoxKind } from './services/sandbox/sandbox.ts'
import type { LockOptions } from './services/store/directory-lock.ts'
import type { Perform } from './services/tools/host.ts'

/** The settings from the environment, the command line and standard input. An absent value means the default. */
export interface Settings extends LockOptions {
  /** `{config_dir}`: configuration, key and data. */
  home: string
  host: string
  /** The bearer token that every request needs. */
  token?: string
  /** Protects the store instead of the key file. */
  passphrase?: string
  gatewayKey?: string
  gatewayBaseURL?: string
  /** API keys of direct providers by provider name. They take precedence over config.json and are not stored. */
  keys?: Record<string, string>
  /** The working folder of tools when neither the request nor config.json names one. */
  cwd: string
  /** Time limits for receiving a request, in milliseconds. */
  arrival?: { headers: number, body: number, lookedAfter: number }
  /** Executes the calls of tools in their place and, with a provider, answers in the place of every model: see services/recordings/. */
  replay?: { perform: Perform, wasOffered?: (name: string) => boolean, provider?: Provider }
  /** Called when all data and the configuration were replaced: the service must be closed and built again. */
  replaced?: () => void
  /** What makes boxes for commands; found out when absent. For tests. */
  boxes?: BoxKind
  /** The programs that keep the machine awake; those of the system when absent. For tests. */
  awakePrograms?: readonly AwakeProgram[]
  /** Compiles the routes' schemas; tests replace it to observe compilations. */
  compilers?: typeof lazyCompilers
  /** The destination of log lines; it must not block. Defaults to process.stderr. `useFile` is told the file of config.json. */
  log?: { write(line: string): void, useFile?: ServiceLog['useFile'] }
}

const HELP = `local-agent ${BUILD}: a local HTTP server that hosts an AI agent

  local-agent [--port <n>] [--host <addr>] [--parent-pid <pid>] [--stdin]
  local-agent rotate-key   encrypts all data with a new key while no service runs: with a new key file, or with
                           the passphrase in LOCAL_AGENT_NEW_PASSPHRASE
  local-agent acp          lets an editor use the agent over stdin and stdout, by the Agent Client Protocol (docs/acp.md)
  local-agent reach        lets a phone decide approvals; \`reach list\`, \`reach revoke <device>\`, \`reach off\` (docs/reach.md)
  local-agent test <file…> replays recordings of runs, without a key or a network; \`local-agent test --help\`

  --port <n>     port to listen on; 0 picks a free one (LOCAL_AGENT_PORT, config.json; 3001)
  --host <addr>  address to listen on (127.0.0.1); any address other than loopback needs LOCAL_AGENT_TOKEN
  --parent-pid <pid>
                 shut down when this process has ended; the starting process passes its own id
  --stdin        read secrets from the first line of standard input, a pipe or socket, and shut down when it ends:
                 {"token": "…", "passphrase": "…", "gatewayKey": "…", "keys": {"<provider>": "…"}}, any of them or {}
  --version, --help

  LOCAL_AGENT_HOME        folder of configuration, key and data (~/.local-agent)
  LOCAL_AGENT_TOKEN       bearer token that every request must send
  LOCAL_AGENT_PASSPHRASE  encrypts the store instead of the key file
  AI_GATEWAY_API_KEY, AI_GATEWAY_BASE_URL`

/** The commands beside that which starts the service; their own modules take no arguments, but are asked for help here. */
const COMMANDS = ['rotate-key', 'acp', 'reach']

interface Options extends StdinSecrets {
  host: string
  port?: number
  home?: string
  gatewayBaseURL?: string
  /** The id of the process whose end shuts the service down. */
  parentPid?: number
  /** The parent is npx, which no option named. */
  isUnderNpx?: boolean
}

/**
 * Reads the arguments and the environment and, with `--stdin`, the secrets of `readHandOver`, which take precedence over the
 * environment. An empty variable counts as unset. Returns a string when the command only prints that text. Throws Usage.
 */
export async function readOptions (
  args: string[],
  env: NodeJS.ProcessEnv,
  readHandOver: () => Promise<StdinSecrets>
): Promise<Options | string> {
  const values = parse(COMMANDS.includes(args[0]) ? args.slice(1) : args)
  if (values.help) return HELP
  if (values.version) return BUILD
  const variable = (name: string) => env[name] || undefined
  const host = values.host ?? '127.0.0.1'
  if (host === '') throw new Usage('--host must be an address or a name, such as 127.0.0.1.')
  const listenOn = port('--port', values.port) ?? port('LOCAL_AGENT_PORT', variable('LOCAL_AGENT_PORT'))
  const namedPid = processId(values['parent-pid'])
  const npxPid = shellOfNpx(env)
  const secrets = values.stdin ? await readHandOver() : {}
  const token = secrets.token ?? variable('LOCAL_AGENT_TOKEN')
  if (token !== undefined && (token !== token.trim() || /\p{Cc}/u.test(token))) {
    const name = secrets.token === undefined ? 'LOCAL_AGENT_TOKEN' : 'The token on standard input'
    throw new Usage(`${name} begins or ends with a space, or holds a control character such as a newline; no HTTP header can carry it.`)
  }
  if (!isLoopback(host) && token === undefined) {
    throw new Usage(`--host ${host} would allow access from other machines: set LOCAL_AGENT_TOKEN, or use 127.0.0.1.`)
  }
  return {
    host,
    port: listenOn,
    home: variable('LOCAL_AGENT_HOME'),
    token,
    passphrase: secrets.passphrase ?? variable('LOCAL_AGENT_PASSPHRASE'),
    gatewayKey: secrets.gatewayKey ?? variable('AI_GATEWAY_API_KEY'),
    gatewayBaseURL: variable('AI_GATEWAY_BASE_URL'),
    keys: secrets.keys,
    parentPid: namedPid ?? npxPid,
    isUnderNpx: namedPid === undefined && npxPid !== undefined
  }
}

/** Returns the id of the shell in which `npx local-agent` runs the service: npx ends it, and passes its signals no further. */
const shellOfNpx = ({ npm_lifecycle_event: event, npm_lifecycle_script: command = '' }: NodeJS.ProcessEnv): number | undefined =>
  event === 'npx' && /^\W?local-agent\b/.test(command) ? process.ppid : undefined

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
