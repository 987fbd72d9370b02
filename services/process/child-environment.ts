import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

/**
 * Matches variables of the service that no child gets: its settings, token and passphrase, and the keys of the model gateway and of the
 * trace collector. Also ELECTRON_RUN_AS_NODE, which would make every Electron app that a command starts run as Node.
 */
const SERVICE_VARIABLE = /^(?:(?:LOCAL_AGENT|AI_GATEWAY)_|OTEL_EXPORTER_OTLP_(?:TRACES_)?HEADERS$|ELECTRON_RUN_AS_NODE$)/i

/**
 * The minimum length of a secret that is searched for inside of values. A shorter one is only compared with the whole value, because it
 * occurs in ordinary text.
 */
const MIN_SECRET_LENGTH = 8

/** Names of variables that look like secrets. */
const SECRET_NAMES = [
  /TOKENS?(?:_|$)|SECRET|PASSW|PASSPHRASE|CREDENTIAL|APIKEY|COOKIE|BEARER|SIGNATURE/,
  /(?:^|_)(?:KEYS?|AUTH|PAT|DSN|JWT|SAS|PASS|PWD|PSK|PIN|OTP|PRIVATE)(?:_|$)/
]
/** Variables with such a name that hold no secret, and that shells, ssh and git need. */
const NO_SECRET = /^(?:PWD|SSH_AUTH_SOCK|GIT_CONFIG_KEY_\d+)$/
/** Matches a URL that contains a password. Proxy variables are allowed to have one, because without it programs would reach nothing. */
const LOGIN = /[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@/i
const PROXY = /_PROXY$/i

/** Whether a variable looks like a secret of the user, by its name or by its value. */
export const looksSecret = (name: string, value: string): boolean =>
  (!NO_SECRET.test(name) && SECRET_NAMES.some((pattern) => pattern.test(name.toUpperCase()))) || (LOGIN.test(value) && !PROXY.test(name))

/**
 * Returns the environment for a child process, without the variables that look like secrets. Only a tool server gets such a variable, if
 * its entry names the variable.
 */
export const childEnvironment = (environment: NodeJS.ProcessEnv, secrets: Iterable<string> = []): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(namedEnvironment(environment, secrets)).filter(([name, value]) => !looksSecret(name, value!)))

/**
 * Returns the variables that the entry of a tool server can name: those of the service's environment, without the service's own ones and
 * without any whose value contains one of `secrets`.
 */
export function namedEnvironment (environment: NodeJS.ProcessEnv, secrets: Iterable<string>): NodeJS.ProcessEnv {
  const known = [...secrets].filter((secret) => secret !== '')
  const reveals = (value: string) =>
    known.some((secret) => value === secret || (secret.length >= MIN_SECRET_LENGTH && value.includes(secret)))
  const isPublic = ([name, value]: [string, string | undefined]) => value !== undefined && !SERVICE_VARIABLE.test(name) && !reveals(value)
  return Object.fromEntries(Object.entries(environment).filter(isPublic))
}

interface Parts {
  variables: NodeJS.ProcessEnv
  /** Returns the current secrets. */
  secrets: () => Iterable<string>
  /** Removes the values of these variables from the memory that other processes can read; see scrubEnvironment. */
  scrub: (names: string[]) => void
}

/**
 * Creates a function that returns the environment for a child process. Variables withheld from children are also scrubbed from
 * the service's own environment block.
 */
export function createChildEnvironment ({ variables, secrets, scrub }: Parts): () => NodeJS.ProcessEnv {
  const scrubbed = new Set<string>()
  return () => {
    const environment = childEnvironment(variables, secrets())
    const withheld = Object.keys(variables).filter((name) => !Object.hasOwn(environment, name) && !scrubbed.has(name))
    if (withheld.length > 0) scrub(withheld)
    for (const name of withheld) scrubbed.add(name)
    return environment
  }
}

/** Indexes of env_start and env_end among the fields of proc(5), stat, after the name. */
const [ENV_START, ENV_END] = [47, 48]

/**
 * Overwrites the values of these variables in the process's initial environment block. /proc/<pid>/environ shows that block to
 * every process of the same user, including commands that the agent runs, even after a deletion from process.env.
 * `process.env` keeps the values in separate memory. Returns false where this is impossible: only Linux lets a process write
 * to its own memory by address.
 */
export function scrubEnvironment (names: string[]): boolean {
  for (const name of names) if (process.env[name] !== undefined) process.env[name] = `${process.env[name]}`
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    wipe(names, Number(fields[ENV_START]), Number(fields[ENV_END]))
    return true
  } catch {
    return false
  }
}

function wipe (names: string[], start: number, end: number): void {
  const memory = openSync('/proc/self/mem', 'r+')
  try {
    const block = Buffer.alloc(end - start)
    readSync(memory, block, 0, block.length, start)
    for (let at = 0, next; at < block.length; at = next + 1) {
      next = block.indexOf(0, at)
      if (next === -1) next = block.length
      const equals = block.indexOf('=', at)
      if (equals === -1 || equals >= next || !names.includes(block.toString('utf8', at, equals))) continue
      const value = next - equals - 1
      if (value > 0) writeSync(memory, Buffer.alloc(value), 0, value, start + equals + 1)
    }
  } finally {
    closeSync(memory)
  }
}

/**
 * Variables that describe this process and would change what a command does. For example, npm installs fewer packages under
 * NODE_ENV=production.
 */
const OWN = new RegExp(
  '^(?:NODE_ENV|NODE_CHANNEL_FD|NODE_CHANNEL_SERIALIZATION_MODE|NODE_UNIQUE_ID|ELECTRON_RUN_AS_NODE|' +
    'npm_(?:lifecycle|package)_.*)$'
)

/** Returns an editor for git, as a shell command: it changes nothing and prints the advice. */
const noEditor = (advice: string): string => `echo 'No editor opens in a command. ${advice}' >&2; :`

/** Variables that keep programs from waiting for a person who edits, scrolls or types: nobody sees these programs. */
const UNATTENDED: NodeJS.ProcessEnv = {
  EDITOR: process.platform === 'win32' ? 'cmd.exe /d /c rem' : 'true',
  GIT_EDITOR: noEditor('The text was taken as it is: give a message with -m or -F.'),
  GIT_SEQUENCE_EDITOR: noEditor(
    'The list was taken as it is: to change it, set GIT_SEQUENCE_EDITOR to a command that edits the file, such as sed -i.'
  ),
  PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS_REQUIRE: 'never',
  DEBIAN_FRONTEND: 'noninteractive',
  // npm answers its own questions with the defaults.
  npm_config_yes: 'true',
  npm_config_update_notifier: 'false'
}
const SAME = { VISUAL: UNATTENDED.EDITOR, GIT_PAGER: UNATTENDED.PAGER, MANPAGER: UNATTENDED.PAGER, SYSTEMD_PAGER: UNATTENDED.PAGER }

/**
 * Returns the environment of commands: that of children, without the variables that describe how the service was started, and with those
 * that keep programs from waiting for a person.
 */
export const commandEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(environment).filter(([name]) => !OWN.test(name))),
  ...UNATTENDED,
  ...SAME
})
