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
  /** Values of environments from POST /mcp/connect. They are encrypted, and stored nowhere else. */
  stored: StoredRecord<Values>
  clock: Clock
  /** The service's own environment. */
  variables: NodeJS.ProcessEnv
  /** All secrets of the service; `ownSecrets` leaves out those of its tool servers. */
  secrets: () => string[]
  ownSecrets: () => string[]
  cwd: () => string
  /** Runs servers in boxes. */
  box: Pick<Sandbox, 'startServer' | 'forgetServer'>
}

export type EnvironmentValues = ReturnType<typeof createEnvironmentValues>

/**
 * Manages the environments and headers of the tool servers: stores their values, starts servers with them, and knows which values are
 * secret.
 */
export function createEnvironmentValues ({ stored, clock, variables, secrets, ownSecrets, cwd, box }: EnvironmentParts) {
  /** Every value that a server was started with, and the subset that counts as secret. */
  const seen = new Set<string>()
  const secretValues = new Set<string>()
  let values: Values = {}

  async function update (change: (before: Values) => Values): Promise<void> {
    values = await stored.update(change).catch((error) => stored.replace(change(emptyIfDamaged(error))))
  }

  /** Returns the variables that an entry may name: those that children may get, never the service's own variables and secrets. */
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
    /** Reads the stored values. A damaged record counts as empty; rejects when the store cannot be read. */
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

    /** Returns the address and the headers for requests of an entry. Throws an Error that names a missing value. */
    address (entry: McpAddress, given: Values = {}): { url: URL, headers: Values } {
      const headers = resolve(entry, given)
      const { url, values: parameters } = showQuery(entry.url, { ...values, ...given })
      for (const value of [...secretsInHeaders(headers), ...Object.values(parameters)]) {
        seen.add(value)
        secretValues.add(value)
      }
      return { url, headers }
    },

    /** Returns the client with which this service signs in at the server of an entry. Throws an Error that names a missing value. */
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

    /** The stored values of a server. */
    of: (server: string): Values => valuesOfServer(values, server),

    /** Replaces the stored values of a server by `next`, durably. */
    replace: (server: string, next: Values): Promise<void> => update((before) => ({ ...valuesWithoutServer(before, server), ...next })),

    /** Returns the values that no other child may see. */
    secrets: (): string[] => [...secretValues],

    /**
     * Returns the values to redact in errors and in stderr: all of at least 8 characters, except paths and plain words. A diagnostic text
     * suffers little if too much is redacted.
     */
    longValues: (): string[] => [...seen].filter((value) => value.length >= 8 && !/^[./~]|^[a-z]+$/i.test(value))
  }
}

type Values = Record<string, string>

/** A reference in config.json to a value in the encrypted store, such as `secret:mcp/<server>/<variable>`. */
const REFERENCE = /^secret:(mcp\/[A-Za-z0-9._-]{1,64}\/[^/]+)$/
const storedKey = (server: string, variable: string) => `mcp/${server}/${variable}`
const referenceTo = (server: string, variable: string): string => `secret:${storedKey(server, variable)}`
/** Returns the key of the stored value that a text refers to; undefined if it is not a reference. */
const storedAt = (text: string): string | undefined => REFERENCE.exec(text)?.[1]

/** Patterns of variable names and values that mark a value as secret, as opposed to a setting or a path. */
const SECRET_NAME = /key|token|secret|passw|passphrase|credential|auth|cookie|session|webhook|dsn$|pat$/i
const SECRET_VALUE = [/:\/\/[^/\s]*:[^/\s]*@/, /^(?![./~])(?=.*\d)(?=.*[a-z])(?!https?:\/\/)[\w.~+/=:-]{16,}$/i]

/** Returns a reference for config.json in place of a client's secret, and the secret under its key. No header has the name that is used. */
export function hideClientSecret (server: string, secret: string): { clientSecret: string, values: Values } {
  const { references, values } = toReferences(server, { [CLIENT_SECRET]: secret })
  return { clientSecret: references[CLIENT_SECRET], values }
}
const CLIENT_SECRET = '@clientSecret'

/** Splits an environment into references, for config.json, and the values that they refer to, for the encrypted store. */
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
 * Returns the environment, or the headers, of an entry: references are replaced by stored values, variables as `expand` does. Throws an
 * Error for the first missing value; its message is a clause that completes "… is not connected: ".
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

/** Returns the command and the arguments with which an entry is started, and which of the arguments are `hidden` in config.json. */
function resolveProgram ({ name, command, args = [] }: McpProcess, stored: Values, expand: Expansion) {
  const hidden: string[] = []
  const shown = args.map((arg, at) => {
    const reference = storedAt(arg)
    // Only the entry's own stored values are used: POST /mcp/connect saves arguments unchanged.
    if (reference !== storedKey(name, argumentKey(at))) return expand(arg, `argument ${at + 1}`)
    if (!Object.hasOwn(stored, reference)) throw new Error(`nothing is stored for its argument ${at + 1}; connect it again`)
    hidden.push(...secretPart(stored[reference]))
    return stored[reference]
  })
  return { command: expand(command, 'command'), args: shown, hidden }
}

type Variables = Record<string, string | undefined>
/** Replaces the variables in a text; `what` names the part of the entry. Throws an Error for a variable that is not set or withheld. */
type Expansion = (text: string, what: string) => string

/** `${VAR}`, `${env:VAR}`, `${VAR:-default}`. */
const VARIABLE = /\$\{(?:env:)?(\w+|\/)(?::-([^}]*))?\}/g

interface Expanded {
  /** Whether a variable that may not be named is set. */
  isSet(name: string): boolean
  /** Called with the value that replaces a variable. */
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

/** Returns the variables that VS Code and Cursor define themselves. */
const editorVariables = (workspace: string) => ({
  workspaceFolder: workspace,
  workspaceFolderBasename: basename(workspace),
  userHome: homedir(),
  pathSeparator: sep,
  '/': sep
})

/** Returns the folder in which a program starts. Throws an Error if it does not exist. */
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

/** Like secretsIn, plus the part behind the scheme of an authorization. */
const secretsInHeaders = (values: Values): string[] => secretsIn(values).flatMap((value) => [value, value.replace(/^\w+ +/, '')])

const isSecret = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) || SECRET_VALUE.some((pattern) => pattern.test(value))

/** Returns the values that are secret: they are removed from the environment of other children and redacted in results. */
export const secretsIn = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => isSecret(name, value) ? [value] : [])

const argumentKey = (at: number) => `#${at}`
const OPTION = /^--?[\w-]+$/
/** `--api-key=x`, `TOKEN=x`, `Authorization: x`. */
const NAMED_VALUE = /^-{0,2}([\w-]+)(?:=|:\s*)(.+)$/s
const USER_INFO = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:([^/?#@]+)@/i

/** Returns the parts of an argument that have to be redacted. */
const secretPart = (arg: string): string[] =>
  [arg, NAMED_VALUE.exec(arg)?.[2].replace(/^\w+ +/, ''), USER_INFO.exec(arg)?.[1]].filter((each) => each !== undefined)

/** Splits arguments into those for config.json, where the secret ones are references, and the values that they refer to. */
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

/** True if a text contains variables that are replaced when its server is connected. */
export const hasVariable = (text: string): boolean => text.search(VARIABLE) !== -1

/** Returns the environment variables in a text. */
export const variablesIn = (text: string): string[] =>
  [...text.matchAll(VARIABLE)].map(([, name]) => name).filter((name) => !Object.hasOwn(editorVariables(''), name))

/**
 * Splits an address into one for config.json, whose secret query parameters are references, and the values that they refer to. Throws
 * NotAnAddress (400).
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

/** Returns the address with the stored values of its query parameters, and these values. Throws an Error for a missing value. */
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

/** Returns the address without those query parameters that are references. */
export function withoutHidden (address: string): string {
  const url = new URL(address)
  const shown = [...url.searchParams].filter(([, value]) => storedAt(value) === undefined)
  if (shown.length === url.searchParams.size) return address
  url.search = new URLSearchParams(shown).toString()
  return url.href
}
