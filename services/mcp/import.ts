import type { McpEntry } from '../../schemas/config.ts'
import { MOST_SERVERS } from '../../schemas/config.ts'
import type { ImportBody, ImportedServer } from '../../schemas/mcp-import.ts'
import { type ReadServer, readServers } from '../config/index.ts'
import { isSameConnection } from './config-entries.ts'
import { hasVariable, hideArguments, hideClientSecret, hideQuery, toReferences, variablesIn } from './environment-values.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { NotServers } from './mcp-errors.ts'

type Values = Record<string, string>
/**
 * An entry to be saved, with its secret values. The user has to allow the environment variables in `asks` before the server is connected.
 */
type Saved = { entry: McpEntry, given: Values, asks?: string[] }

interface Parts {
  /** Returns the entry and the stored values of an existing server; undefined if there is no server of that name. */
  present: (name: string) => Saved | undefined
  count: () => number
}

/**
 * Reads a configuration in the form of READMEs. `saved` are the entries to be saved, with references in place of secrets. `servers` reports
 * what happens to each entry, in the order of the file. Throws NotServers (400).
 */
export function readImport (body: ImportBody, { present, count }: Parts): { saved: Saved[], servers: ImportedServer[] } {
  const { text, values = {}, replace = false, ...file } = body
  const { servers, inputs } = findServers(text === undefined ? file : readReadmeText(text))
  const saved: Saved[] = []

  function decide (read: ReadServer): Pick<ImportedServer, 'status' | 'message' | 'inputs' | 'variables'> {
    const { name, entry, problem } = read
    if (read.inputs.length > 0) {
      const missing = read.inputs.map((id) => ({ id, description: inputs[id] || undefined }))
      return { status: 'incomplete', message: `Not saved: ${problem}. Send it in "values".`, inputs: missing }
    }
    if (entry === undefined) return { status: 'refused', message: `Not saved: ${problem}.` }
    const next = toSaved(entry)
    const before = present(name)
    if (before !== undefined) {
      // An entry with variables is saved as disabled until the user accepts it. That difference does not count.
      const present = { ...before, entry: { ...before.entry, enabled: entry.enabled } }
      if (isSame(variablesOf(entry).length > 0 ? present : before, next)) {
        return { status: 'unchanged', message: 'It is there already, with the same settings.' }
      }
      if (!replace) {
        return { status: 'exists', message: 'Not saved: there is another server of its name. Send "replace": true, or change the name.' }
      }
    }
    const added = saved.filter((each) => present(each.entry.name) === undefined).length
    if (before === undefined && count() + added >= MOST_SERVERS) {
      return { status: 'refused', message: `Not saved: there are ${MOST_SERVERS} servers already.` }
    }
    const variables = variablesOf(entry)
    const asks = entry.enabled !== false && variables.length > 0
    saved.push(asks ? { ...next, entry: { ...next.entry, enabled: false }, asks: variables } : next)
    const did = entry.enabled === false ? 'Saved; it is disabled.' : asks ? waitsFor(variables) : 'Saved, and being connected.'
    return {
      status: before === undefined ? 'saved' : 'replaced',
      message: [did, ...read.notes].join(' '),
      ...variables.length > 0 && { variables }
    }
  }

  const answers = readServers(servers, values).map((read) => ({ from: read.from, name: read.name, ...decide(read) }))
  return { saved, servers: answers }
}

/**
 * Replaces the secrets of an entry by references, and returns the secrets as `given`. Texts with variables stay in the entry, because the
 * variables are replaced when the server is connected.
 */
function toSaved (entry: McpEntry): Saved {
  const { name } = entry
  const split = (texts: Values = {}) => {
    const plain = Object.entries(texts).filter(([, text]) => !hasVariable(text))
    const { references, values } = toReferences(name, Object.fromEntries(plain))
    return { texts: { ...texts, ...references }, values }
  }
  if (entry.url === undefined) {
    const env = split(entry.env)
    const args = hideArguments(name, entry.args ?? [])
    return {
      entry: { ...entry, ...entry.args && { args: args.args }, ...entry.env && { env: env.texts } },
      given: { ...env.values, ...args.values }
    }
  }
  const headers = split(entry.headers)
  const hidden = hideQuery(name, entry.url)
  const { clientSecret: secret } = entry
  const { values, ...client } = secret === undefined || hasVariable(secret) ? { values: {} } : hideClientSecret(name, secret)
  return {
    entry: { ...entry, url: hidden.url, ...entry.headers && { headers: headers.texts }, ...client },
    given: { ...headers.values, ...hidden.values, ...values }
  }
}

const isSame = (a: Saved, b: Saved) =>
  isSameConnection(a.entry, b.entry) && Object.keys({ ...a.given, ...b.given }).every((key) => a.given[key] === b.given[key])

const waitsFor = (variables: string[]) =>
  `Saved, and not connected before you accept it: it asks for ${variables.join(', ')} of the environment of this service.`

/** Returns the names of the environment variables that an entry contains. */
function variablesOf (entry: McpEntry): string[] {
  const texts = entry.url === undefined
    ? [entry.command, ...entry.args ?? [], ...Object.values(entry.env ?? {}), entry.cwd ?? '']
    : [...Object.values(entry.headers ?? {}), entry.clientId ?? '', entry.clientSecret ?? '']
  return [...new Set(texts.flatMap(variablesIn))]
}

/**
 * The servers of a README's configuration: entries with their names (a name can occur twice), and VS Code's `inputs`, which entries refer
 * to.
 */
interface ReadmeServers {
  servers: Array<[name: string, entry: unknown]>
  /** The description of each input, by its id. */
  inputs: Record<string, string>
}

const LONGEST_DESCRIPTION = 200

/**
 * Finds the servers in a configuration file of another program: under `mcpServers` (Claude Desktop, Cursor), under `servers` (VS Code),
 * under either inside `mcp`, or else as entries at the top level. Throws NotServers (400).
 */
function findServers (file: Record<string, unknown>): ReadmeServers {
  const mcp = isObject(file.mcp) ? file.mcp : {}
  const objects = [file.mcpServers, file.servers, mcp.mcpServers, mcp.servers].filter((each) => each !== undefined)
  if (objects.length === 0) {
    if (isEntry(file)) throw new NotServers('an entry needs a name, as in {"mcpServers": {"name": {…}}}')
    const bare = [file, mcp].find((each) => Object.values(each).some(isEntry))
    if (bare === undefined) throw new NotServers('it has neither "mcpServers" nor "servers"')
    objects.push(bare)
  }
  const servers = objects.flatMap((object) => {
    if (!isObject(object)) throw new NotServers('"mcpServers" and "servers" are objects, of entries by name')
    return Object.entries(object)
  })
  if (servers.length === 0) throw new NotServers('it names no server')
  const inputs = [file.inputs, mcp.inputs].flatMap((list) => Array.isArray(list) ? list : []).filter(isObject)
  return {
    servers,
    inputs: Object.fromEntries(inputs.map(({ id, description }) => [String(id), String(description ?? '').slice(0, LONGEST_DESCRIPTION)]))
  }
}

const isEntry = (value: unknown) => isObject(value) && (value.command !== undefined || value.url !== undefined)

/** Matches comments and trailing commas, which are removed, and strings, so that their content stays. */
const OUTSIDE_JSON = /"(?:[^"\\]|\\[^])*(?:"|$)|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|,(?=\s*[}\]])/g
const FENCED = /(```|~~~)[^\n]*\n([^]*?)(?:\1|$)/g

/**
 * Parses JSON in the forms of READMEs: fenced, also behind other fenced blocks such as commands, with comments, with trailing commas, or
 * without the outer braces. Throws NotServers (400). The error does not quote the text, which might contain secrets.
 */
function readReadmeText (text: string): Record<string, unknown> {
  const fenced = [...text.matchAll(FENCED)].map(([, , inner]) => inner).filter((inner) => inner.includes('{'))
  const parts = (fenced.length > 0 ? fenced : [text.replace(/^\uFEFF/, '')])
    .map((part) => withoutComments(withoutComments(part)).trim().replace(/,$/, ''))
  let problem = ''
  for (const candidate of parts.flatMap((part) => [part, `{${part}}`])) {
    try {
      const value = parseJson(candidate)
      if (isObject(value)) return value
      problem ||= 'it is not an object of JSON'
    } catch (error) {
      problem ||= `it is not JSON (${(error as Error).message})${/[“”]/.test(candidate) ? ': its quotation marks are curly' : ''}`
    }
  }
  throw new NotServers(problem)
}

const withoutComments = (text: string) => text.replace(OUTSIDE_JSON, (part) => part.startsWith('"') ? part : '')
