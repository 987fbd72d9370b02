import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, isAbsolute, resolve as resolvePath, sep } from 'node:path'
import type { McpAddress, McpEntry, McpProcess } from '../../schemas/config.ts'
import type { Clock } from '../lib/clock.ts'
import { childEnvironment, type GuardedChild, looksSecret, namedEnvironment, spawnGuarded } from '../process/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import { NotAnAddress } from './mcp-errors.ts'
import type { SignInClient } from './oauth/authorize.ts'
import { emptyIfDamaged, type StoredRecord } from '../store/index.ts'

export interface EnvironmentParts {
  /** The values of variables and headers from POST /mcp/connect. They are encrypted, and stored nowhere else. */
  stored: StoredRecord<Values>
  clock: Clock
  /** The service's own environment. */
  variables: NodeJS.ProcessEnv
  /** All secrets of the service; `ownSecrets` excludes the secrets of its tool servers. */
  secrets: () => string[]
  ownSecrets: () => string[]
  cwd: () => string
  /** Runs tool servers in boxes (sandboxes). */
  box: Pick<Sandbox, 'startServer' | 'forgetServer'>
}

export type EnvironmentValues = ReturnType<typeof createEnvironmentValues>

/**
 * Manages the environments and headers of the tool servers: stores their values, starts servers with them, and keeps track of secret
 * values.
 */
export function createEnvironmentValues ({ stored, clock, variables, secrets, ownSecrets, cwd, box }: EnvironmentParts) {
  /** Every value that a server was started with; `secretValues` are those that count as secret. */
  const seen = new Set<string>()
  const secretValues = new Set<string>()
  let values: Values = {}

  async function update (change: (before: Values) => Values): Promise<void> {
    values = await stored.update(change).catch((error) => stored.replace(change(emptyIfDamaged(error))))
  }

  /**
   * Creates the function that replaces variables in an entry. An entry can name the variables that child processes are allowed to get, but
   * never the service's own variables and secrets.
   */
  const expansion = () =>
    createExpansion({ ...namedEnvironment(variables, ownSecrets()), ...editorVariables(cwd()) }, {
      isSet: (name) => variables[name] !== undefined,
      used: (name, value) => void (looksSecret(name, value) && secretValues.add(value))
    })

  function resolve (entry: McpEntry, given: Values): Values {
    const resolved = resolveValues(entry, { ...values, ...given }, expansion())
    for (const value of Object.values(resolved)) seen.add(value)
    return resolved
  }

  return {
    /** Reads the stored values. A damaged record counts as empty. Rejects if the store cannot be read. */
    async load (): Promise<void> {
      values = await stored.get().catch(emptyIfDamaged)
    },

    /** Starts the process of an entry. `given` holds values that are not stored yet. Throws an Error that names a missing value. */
    async spawn (entry: McpProcess, given: Values = {}): Promise<GuardedChild> {
      const env = resolve(entry, given)
      const expand = expansion()
      const { command, args, hidden } = resolveProgram(entry, { ...values, ...given }, expand)
      for (const value of hidden) seen.add(value)
      for (const value of [...secretsIn(env), ...hidden]) secretValues.add(value)
      const { name, sandbox = false } = entry
      if (sandbox !== false) {
        if (entry.cwd !== undefined) throw new Error('its entry has "cwd" and "sandbox": a program in a box starts in a folder of its own')
        return box.startServer({ name, command, args, env, ...sandbox !== true && sandbox })
      }
      const folder = await workingFolder(entry.cwd === undefined ? undefined : expand(entry.cwd, 'cwd'), cwd())
      return spawnGuarded(command, args, { cwd: folder, env: { ...childEnvironment(variables, secrets()), ...env }, stdin: 'pipe', clock })
    },

    /** Returns the address and the headers for requests to the server of an entry. Throws an Error that names a missing value. */
    address (entry: McpAddress, given: Values = {}): { url: URL, headers: Values } {
      const headers = resolve(entry, given)
      const { url, values: parameters } = showQuery(entry.url, { ...values, ...given })
      for (const value of [...secretsInHeaders(headers), ...Object.values(parameters)]) {
        seen.add(value)
        secretValues.add(value)
      }
      return { url, headers }
    },

    /** Returns the OAuth client with which this service signs in at the server of an entry. Throws an Error that names a missing value. */
    client ({ name, clientId, clientSecret, redirectUri }: McpAddress, given: Values = {}): SignInClient {
      const expand = expansion()
      const secret = clientSecret && resolveSecret(name, clientSecret, { ...values, ...given }, expand)
      if (secret !== undefined) {
        if (clientId === undefined) throw new Error('its entry has a clientSecret and no clientId')
        seen.add(secret)
        secretValues.add(secret)
      }
      return {
        ...clientId !== undefined && { clientId: expand(clientId, 'clientId') },
        ...secret !== undefined && { clientSecret: secret },
        ...redirectUri !== undefined && { redirectUri }
      }
    },

    /** Returns the stored values of a server. */
    of: (server: string): Values => valuesOfServer(values, server),

    /** Replaces all stored values of a server, durably. */
    replace: (server: string, next: Values): Promise<void> => update((before) => ({ ...valuesWithoutServer(before, server), ...next })),

    /** Returns the secret values, which no other child process is allowed to get. */
    secrets: (): string[] => [...secretValues],

    /**
     * Returns the values to redact in errors and in stderr: every value of at least 8 characters, except paths and plain words. Redacting
     * too much does little harm to a diagnostic text.
     */
    longValues: (): string[] => [...seen].filter((value) => value.length >= 8 && !/^[./~]|^[a-z]+$/i.test(value))
  }
}

type Values = Record<string, string>

/** A reference in config.json to a value in the encrypted store, such as `secret:mcp/<server>/<variable>`. */
const REFERENCE = /^secret:(mcp\/[A-Za-z0-9._-]{1,64}\/[^/]+)$/
const storedKey = (server: string, variable: string) => `mcp/${server}/${variable}`
const referenceTo = (server: string, variable: string): string => `secret:${storedKey(server, variable)}`
/** Returns the key of the stored value that a reference names; undefined if the text is not a reference. */
const storedAt = (text: string): string | undefined => REFERENCE.exec(text)?.[1]

/** Patterns for names and values of variables. A match marks the value as secret; other values are settings or paths. */
const SECRET_NAME = /key|token|secret|passw|passphrase|credential|auth|cookie|session|webhook|dsn$|pat$/i
const SECRET_VALUE = [/:\/\/[^/\s]*:[^/\s]*@/, /^(?![./~])(?=.*\d)(?=.*[a-z])(?!https?:\/\/)[\w.~+/=:-]{16,}$/i]

/**
 * Splits a client secret into a reference, for config.json, and the secret under its key. No header can have the name that the key
 * contains.
 */
export function hideClientSecret (server: string, secret: string): { clientSecret: string, values: Values } {
  const { references, values } = toReferences(server, { [CLIENT_SECRET]: secret })
  return { clientSecret: references[CLIENT_SECRET], values }
}
const CLIENT_SECRET = '@clientSecret'

/** Splits an environment into references, for config.json, and the values that they name, for the encrypted store. */
export function toReferences (server: string, env: Values): { references: Values, values: Values } {
  const names = Object.keys(env)
  return {
    references: Object.fromEntries(names.map((name) => [name, referenceTo(server, name)])),
    values: Object.fromEntries(names.map((name) => [storedKey(server, name), env[name]]))
  }
}

/** Returns the stored values of one server. */
export const valuesOfServer = (stored: Values, server: string): Values => pick(stored, (name) => name.startsWith(storedKey(server, '')))
/** Returns the stored values of all other servers. */
export const valuesWithoutServer = (stored: Values, server: string): Values =>
  pick(stored, (name) => !name.startsWith(storedKey(server, '')))

const pick = (stored: Values, isSelected: (name: string) => boolean): Values =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => isSelected(name)))

/**
 * Returns the environment, or the headers, of an entry. References are replaced by stored values, and variables by `expand`. Throws an
 * Error for the first missing value; its message is a clause, such as "nothing is stored for its variable TOKEN".
 */
export function resolveValues (entry: McpEntry, stored: Values, expand: Expansion = createExpansion({})): Values {
  const [kind, values] = entry.url === undefined ? ['variable', entry.env] : ['header', entry.headers]
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => {
      const reference = storedAt(value)
      if (reference === undefined) return [name, expand(value, `${kind} ${name}`)]
      if (!Object.hasOwn(stored, reference)) {
        throw new Error(`nothing is stored for its ${kind} ${name}; connect it again with POST /mcp/connect`)
      }
      return [name, stored[reference]]
    })
  )
}

function resolveSecret (server: string, text: string, stored: Values, expand: Expansion): string {
  const reference = storedAt(text)
  if (reference !== storedKey(server, CLIENT_SECRET)) return expand(text, 'clientSecret')
  if (!Object.hasOwn(stored, reference)) throw new Error('nothing is stored for its clientSecret; connect it again with POST /mcp/connect')
  return stored[reference]
}

/**
 * Returns the command and the arguments with which an entry is started, and as `hidden` the secret parts of arguments from the encrypted
 * store.
 */
function resolveProgram ({ name, command, args = [] }: McpProcess, stored: Values, expand: Expansion) {
  const hidden: string[] = []
  const shown = args.map((arg, at) => {
    const reference = storedAt(arg)
    // A reference to any other stored value is not resolved, because POST /mcp/connect saves arguments unchanged.
    if (reference !== storedKey(name, argumentKey(at))) return expand(arg, `argument ${at + 1}`)
    if (!Object.hasOwn(stored, reference)) throw new Error(`nothing is stored for its argument ${at + 1}; connect it again`)
    hidden.push(...secretPart(stored[reference]))
    return stored[reference]
  })
  return { command: expand(command, 'command'), args: shown, hidden }
}

type Variables = Record<string, string | undefined>
/**
 * Replaces the variables in a text; `what` names the part of the entry for errors. Throws an Error for a variable that has no default and
 * is either not set or withheld from servers.
 */
type Expansion = (text: string, what: string) => string

/** Matches `${VAR}`, `${env:VAR}` and `${VAR:-default}`. */
const VARIABLE = /\$\{(?:env:)?(\w+|\/)(?::-([^}]*))?\}/g

interface Expanded {
  /** True if a variable that servers are not allowed to get is set. Only the error message depends on it. */
  isSet(name: string): boolean
  /** Called with the name of each replaced variable and the value that replaces it. */
  used(name: string, value: string): void
}

const createExpansion = (variables: Variables, parts?: Expanded): Expansion => (text, what) =>
  text.replace(VARIABLE, (_whole, variable, otherwise) => {
    const value = variables[variable] || otherwise || variables[variable]
    if (value !== undefined) {
      parts?.used(variable, value)
      return value
    }
    if (otherwise !== undefined) return ''
    if (parts?.isSet(variable)) throw new Error(`its ${what} names ${variable}, which this service keeps to itself: no server gets it`)
    throw new Error(`its ${what} is to come from the environment variable ${variable}, which is not set; set it and restart`)
  })

/** Returns the variables that VS Code and Cursor define in their configuration files. */
const editorVariables = (workspace: string) => ({
  workspaceFolder: workspace,
  workspaceFolderBasename: basename(workspace),
  userHome: homedir(),
  pathSeparator: sep,
  '/': sep
})

/**
 * Returns the folder in which a program starts; the workspace if the entry names none. `~` stands for the user's home, and other relative
 * paths are resolved against the workspace. Throws an Error if the folder does not exist.
 */
async function workingFolder (given: string | undefined, workspace: string): Promise<string> {
  if (given === undefined) return workspace
  const folder = resolvePath(workspace, given.replace(/^~(?=$|[\\/])/, homedir()))
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) {
    const from = isAbsolute(given) || given.startsWith('~') ? '' : ', seen from the working folder of the service,'
    throw new Error(`its working folder ${given}${from} ${found === undefined ? 'does not exist' : 'is not a folder'}`)
  }
  return folder
}

/** Returns the secret values and, for `Bearer x` and the like, the credentials without the scheme. */
const secretsInHeaders = (values: Values): string[] => secretsIn(values).flatMap((value) => [value, value.replace(/^\w+ +/, '')])

const isSecret = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) || SECRET_VALUE.some((pattern) => pattern.test(value))

/** Returns the secret values. They are withheld from other child processes and redacted in results. */
export const secretsIn = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => isSecret(name, value) ? [value] : [])

const argumentKey = (at: number) => `#${at}`
const OPTION = /^--?[\w-]+$/
/** Matches a named value in an argument: `--api-key=x`, `TOKEN=x`, `Authorization: x`. */
const NAMED_VALUE = /^-{0,2}([\w-]+)(?:=|:\s*)(.+)$/s
const USER_INFO = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:([^/?#@]+)@/i

/**
 * Returns the texts to redact for a secret argument: the whole argument and, if it has them, the value after a name and the password in a
 * URL.
 */
const secretPart = (arg: string): string[] =>
  [arg, NAMED_VALUE.exec(arg)?.[2].replace(/^\w+ +/, ''), USER_INFO.exec(arg)?.[1]].filter((each) => each !== undefined)

/**
 * Splits arguments into arguments for config.json, with references in place of secret ones, and the values that the references name. An
 * argument that contains a variable stays as it is.
 */
export function hideArguments (server: string, args: string[]): { args: string[], values: Values } {
  const isHidden = (arg: string, at: number) => {
    const named = NAMED_VALUE.exec(arg)
    const follows = at > 0 && OPTION.test(args[at - 1]) && SECRET_NAME.test(args[at - 1]) && !arg.startsWith('-')
    const isSecret = follows || (named !== null && SECRET_NAME.test(named[1])) || USER_INFO.test(arg)
    return !hasVariable(arg) && (isSecret || storedAt(arg) !== undefined)
  }
  const hidden = args.flatMap((arg, at) => isHidden(arg, at) ? [[argumentKey(at), arg]] : [])
  const { references, values } = toReferences(server, Object.fromEntries(hidden))
  return { args: args.map((arg, at) => references[argumentKey(at)] ?? arg), values }
}

/** True if a text contains variables, which are replaced when the server is connected. */
export const hasVariable = (text: string): boolean => text.search(VARIABLE) !== -1

/** Returns the names of the environment variables in a text, without the variables that editors define. */
export const variablesIn = (text: string): string[] =>
  [...text.matchAll(VARIABLE)].map(([, name]) => name).filter((name) => !Object.hasOwn(editorVariables(''), name))

/**
 * Splits an address into an address for config.json, with references in place of secret query parameters, and the values that the
 * references name. Throws NotAnAddress (400).
 */
export function hideQuery (server: string, address: string): { url: string, values: Values } {
  if (!URL.canParse(address)) throw new NotAnAddress(server)
  const url = new URL(address)
  const parameters = [...url.searchParams]
  const hidden = parameters.map(([name, value], at) =>
    isSecret(name, value) || storedAt(value) !== undefined ? { at, key: `?${at}.${encodeURIComponent(name)}`, value } : undefined
  ).filter((each) => each !== undefined)
  if (hidden.length === 0) return { url: address, values: {} }
  for (const { at, key } of hidden) parameters[at] = [parameters[at][0], referenceTo(server, key)]
  url.search = new URLSearchParams(parameters).toString()
  return { url: url.href, values: toReferences(server, Object.fromEntries(hidden.map(({ key, value }) => [key, value]))).values }
}

/**
 * Returns the address with stored values in place of the references in its query, and these values. Throws an Error for a missing value.
 */
function showQuery (address: string, stored: Values): { url: URL, values: Values } {
  const url = new URL(address)
  const values: Values = {}
  const parameters = [...url.searchParams].map(([name, value]): [string, string] => {
    const key = storedAt(value)
    if (key === undefined) return [name, value]
    if (!Object.hasOwn(stored, key)) {
      throw new Error(`nothing is stored for the parameter ${name} of its url; connect it again with POST /mcp/connect`)
    }
    values[name] = stored[key]
    return [name, stored[key]]
  })
  if (Object.keys(values).length > 0) url.search = new URLSearchParams(parameters).toString()
  return { url, values }
}

/** Returns the address without the query parameters that are references to stored values. */
export function withoutHidden (address: string): string {
  const url = new URL(address)
  const shown = [...url.searchParams].filter(([, value]) => storedAt(value) === undefined)
  if (shown.length === url.searchParams.size) return address
  url.search = new URLSearchParams(shown).toString()
  return url.href
}
