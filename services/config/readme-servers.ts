import { Check } from '@sinclair/typebox/value'
import { isOwnHeader, type McpEntry, McpEntrySchema } from '../../schemas/config.ts'
import { isObject } from '../lib/json.ts'

/** One entry of an `mcpServers` or `servers` object, converted to an entry of `mcp`. */
export interface ReadServer {
  /** The key of the entry in the object. */
  from: string
  /** The name of the server, made of the key: characters other than letters, digits, dots, dashes and underscores become dashes. */
  name: string
  entry?: McpEntry
  /** Why the entry cannot be used, as a clause such as "its args are not a list"; absent if there is an `entry`. */
  problem?: string
  /** The ids of VS Code inputs for which no value is given. */
  inputs: string[]
  /** Sentences about fields of the entry that are ignored or changed. */
  notes: string[]
}

/** The error for an entry that cannot be used. The message is a clause, such as "its args are not a list". */
class Unusable extends Error {}

type Json = Record<string, any>

const HTTP = ['http', 'https', 'streamable-http', 'streamablehttp', 'streamable_http', 'remote']
const STDIO = ['stdio', 'local']
const LONGEST_NAME = 64
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/
const INPUT = /\$\{input:([^}]*)\}/g
const VARIABLE = /\$\{(?:env:)?\w+(?::-[^}]*)?\}/
/** Matches variables that only an editor can replace. */
const OF_EDITORS = /\$\{(?:command|config|workspaceFolder|input|extensionInstallFolder):[^}]*\}/
/**
 * Match placeholders that READMEs show for the reader's own value: `<YOUR_TOKEN>`, `your-api-key`,
 * `YOUR_KEY_HERE`, `ntn_****`, `/path/to/`.
 */
const PLACEHOLDERS = [
  /<[A-Za-z][\w .-]*>|\[[A-Z_ ]*(?:YOUR|USERNAME)[A-Z_ ]*\]|_here$|\*{3,}/i,
  /(?:^|[=\s:"]|:\/\/)(?:[a-z]{2,4}[-_])?your[-_.]|\/path\/to\/|\/Users\/username\b/i
]
/** Fields of an entry that have the same meaning in an entry of `mcp`. */
const OWN_FIELDS = ['approval', 'timeoutMs', 'connectMs', 'tools', 'enabled', 'sandbox']

const CLIENT_FIELDS = ['clientId', 'clientSecret', 'redirectUri']

/** The clause about a server with an unsupported transport. */
export const SSE_ONLY = 'it speaks HTTP with SSE, the transport before Streamable HTTP, which this service does not. Use its address for ' +
  'Streamable HTTP, which often ends in /mcp, or a program that translates, such as npx -y mcp-remote with the address'

/**
 * Converts the entries of an `mcpServers` or `servers` object in the form of Claude Desktop, Cursor and VS Code. `values`:
 * the values of VS Code inputs, by id. An entry is converted completely or gets a `problem`; nothing is guessed.
 */
export function readServers (servers: ReadonlyArray<[name: string, entry: unknown]>, values: Record<string, string> = {}): ReadServer[] {
  const names = new Set<string>()
  return servers.map(([from, raw]) => {
    const name = nameOf(from)
    const read: ReadServer = { from, name, inputs: [], notes: [] }
    try {
      if (name === '') throw new Unusable('its name has no letters or digits')
      if (names.has(name)) throw new Unusable(`its name is ${name} here, as that of another entry`)
      read.entry = readEntry(raw, read, values)
      names.add(name)
      if (name !== from) read.notes.push(`It is called ${name} here.`)
    } catch (error) {
      if (!(error instanceof Unusable)) throw error
      read.problem = error.message
    }
    return read
  })
}

const nameOf = (key: string) => key.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+/, '').slice(0, LONGEST_NAME).replace(/-+$/, '')

function readEntry (raw: unknown, read: ReadServer, values: Record<string, string>): McpEntry {
  if (!isObject(raw)) throw new Unusable('it is not an object')
  const url = urlOf(raw)
  const kind = kindOf(raw, url)
  const own = Object.fromEntries(OWN_FIELDS.filter((field) => raw[field] !== undefined).map((field) => [field, raw[field]]))
  if (raw.disabled === true) own.enabled = false
  for (const [field, says] of UNUSED) if (raw[field] !== undefined) read.notes.push(says)
  const parts = kind === 'stdio' ? processOf(raw) : { url: textOf(url, 'its url'), ...headersOf(raw, read), ...clientOf(raw) }
  const filled = fill(parts, read, values)
  const entry = { name: read.name, ...filled, ...own }
  if (!Check(McpEntrySchema, entry)) throw new Unusable(`${kind === 'stdio' ? '' : 'its url or '}a field of it is not valid`)
  return entry
}

const UNUSED = [
  ['envFile', 'Its envFile is not read: write what it needs into env.'],
  ['autoApprove', 'Its autoApprove is not used: accept the server, or set its approval, here.'],
  ['alwaysAllow', 'Its alwaysAllow is not used: accept the server, or set its approval, here.'],
  ['timeout', 'Its timeout is not used: timeoutMs sets it here, in milliseconds.'],
  ['auth', 'Its auth is not used: clientId and clientSecret name a registered client here.'],
  ['oauth', 'Its oauth is not used: clientId and clientSecret name a registered client here.']
] as const

function urlOf (raw: Json): unknown {
  const [url, ...more] = [raw.url, raw.serverUrl, raw.httpUrl].filter((each) => each !== undefined)
  if (more.length > 0) throw new Unusable('it has more than one url')
  return url
}

function kindOf ({ type, transport, transportType, command }: Json, url: unknown): 'stdio' | 'http' {
  const said = [type, transport, transportType].find((each) => typeof each === 'string')?.toLowerCase()
  if (command !== undefined && url !== undefined) throw new Unusable('it has a command and a url')
  if (command === undefined && url === undefined) throw new Unusable('it has neither a command nor a url')
  if (said === 'sse') throw new Unusable(SSE_ONLY)
  if (said !== undefined && ![...HTTP, ...STDIO].includes(said)) throw new Unusable('its type is none of stdio, http and sse')
  const kind = command === undefined ? 'http' : 'stdio'
  if (said !== undefined && STDIO.includes(said) !== (kind === 'stdio')) {
    throw new Unusable(kind === 'stdio' ? 'its type is that of a url, and it has a command' : 'its type is stdio, and it has no command')
  }
  return kind
}

function processOf ({ command, args, env, cwd }: Json) {
  const program = textOf(command, 'its command')
  if (/^[^\\/]+\s/.test(program)) {
    throw new Unusable(`its command holds spaces: ${JSON.stringify(program.split(/\s/)[0])} is the command, and the rest belongs in args`)
  }
  if (args !== undefined && args !== null && !Array.isArray(args)) throw new Unusable('its args are not a list')
  const list = (args ?? []).map((each: unknown, at: number) => textOf(each, `its args[${at}]`, true))
  const variables = textsOf(env, 'env')
  const wrong = Object.keys(variables).find((name) => !ENVIRONMENT_NAME.test(name))
  if (wrong !== undefined) throw new Unusable(`its env has ${JSON.stringify(wrong.slice(0, 100))}, a name that no variable can have`)
  return {
    command: program,
    ...list.length > 0 && { args: list },
    ...Object.keys(variables).length > 0 && { env: variables },
    ...cwd !== undefined && { cwd: textOf(cwd, 'its cwd') }
  }
}

function headersOf ({ headers, requestInit }: Json, { notes }: ReadServer) {
  const given = textsOf(headers ?? (isObject(requestInit) ? requestInit.headers : undefined), 'headers')
  const kept = Object.entries(given).filter(([name]) => !isOwnHeader(name))
  const left = Object.keys(given).filter(isOwnHeader)
  if (left.length > 0) notes.push(`The protocol sets ${left.join(', ')} itself.`)
  return kept.length > 0 ? { headers: Object.fromEntries(kept) } : {}
}

/** Returns the OAuth client fields with which this service signs in at the address of the server. */
function clientOf (raw: Json) {
  if (raw.clientSecret !== undefined && raw.clientId === undefined) throw new Unusable('it has a clientSecret and no clientId')
  const given = CLIENT_FIELDS.filter((field) => raw[field] !== undefined)
  return Object.fromEntries(given.map((field) => [field, textOf(raw[field], `its ${field}`)]))
}

function textOf (value: unknown, what: string, takesNumbers = false): string {
  if (takesNumbers && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  if (typeof value !== 'string' || value.trim() === '') throw new Unusable(`${what} ${value === '' ? 'is empty' : 'is not a text'}`)
  if (value.includes('\0')) throw new Unusable(`${what} holds a NUL character`)
  return value
}

function textsOf (values: unknown, what: string): Record<string, string> {
  if (values === undefined || values === null) return {}
  if (!isObject(values)) throw new Unusable(`its ${what} are not an object`)
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === '' ? '' : textOf(value, `its ${what}.${name}`, true)])
  )
}

/** Replaces VS Code inputs by their values. Throws Unusable if an input, a placeholder or an editor's variable remains. */
function fill (parts: Json, read: ReadServer, values: Record<string, string>): Json {
  const filled = mapTexts(parts, (text, where) => {
    let hasInput = false
    const result = text.replace(INPUT, (whole, id) => {
      if (!Object.hasOwn(values, id)) {
        if (!read.inputs.includes(id)) read.inputs.push(id)
        return whole
      }
      if (values[id].includes('${')) throw new Unusable(`the value for ${JSON.stringify(id)} holds a variable`)
      hasInput = true
      return values[id]
    })
    if (hasInput && VARIABLE.test(text)) throw new Unusable(`${where} mixes an input with a variable`)
    return result
  })
  const missing = read.inputs.map((id) => JSON.stringify(id))
  if (missing.length > 0) throw new Unusable(`it needs a value for ${missing.join(' and ')}`)
  mapTexts(parts, (text, where) => {
    const of = OF_EDITORS.exec(text.replaceAll(INPUT, ''))
    if (of !== null) throw new Unusable(`${where} holds ${of[0].slice(0, 100)}, for which only an editor has a value`)
    if (PLACEHOLDERS.some((pattern) => pattern.test(text))) {
      throw new Unusable(`${where} still holds a placeholder of the README: put your own value there`)
    }
    return text
  })
  return filled
}

function mapTexts (value: any, change: (text: string, where: string) => string, where = 'its'): any {
  if (typeof value === 'string') return change(value, where)
  const below = (each: unknown, name: string | number) =>
    mapTexts(each, change, where === 'its' ? `its ${name}` : typeof name === 'number' ? `${where}[${name}]` : `${where}.${name}`)
  if (Array.isArray(value)) return value.map(below)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, below(each, name)]))
}
