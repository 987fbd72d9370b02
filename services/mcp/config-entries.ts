import { isOwnHeader, type Config, type McpAddress, type McpEntry, type McpProcess, ConfigKeys } from '../../schemas/config.ts'
import type { ConnectBody, ServerSettings } from '../../schemas/mcp.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { ClientIdMissing, HeaderNotAllowed, ToolServersInvalid } from './mcp-errors.ts'
import { hideClientSecret, hideQuery, toReferences, type EnvironmentValues } from './environment-values.ts'
import { createNamePatterns } from '../lib/name-patterns.ts'
import { Check } from '@sinclair/typebox/value'
import { readServers, type ConfigService } from '../config/index.ts'
import { isObject } from '../lib/json.ts'

/**
 * True if two entries describe the same connection: command, arguments, environment, working folder and box, or address, headers and OAuth
 * client, are equal, and both are enabled or neither is. Other fields do not matter.
 */
export const isSameConnection = (a: McpEntry, b: McpEntry): boolean => connectionOf(a) === connectionOf(b)

function connectionOf (entry: McpEntry): string {
  const { enabled = true } = entry
  return canonicalJson(
    entry.url === undefined
      ? { enabled, command: entry.command, args: entry.args ?? [], env: entry.env ?? {}, ...placeOf(entry) }
      : { enabled, url: entry.url, headers: entry.headers ?? {}, ...clientOf(entry) }
  )
}

/** Returns the fields of an entry with which this service identifies itself as an OAuth client. */
const clientOf = ({ clientId, clientSecret, redirectUri }: McpAddress) => ({
  ...clientId !== undefined && { clientId },
  ...clientSecret !== undefined && { clientSecret },
  ...redirectUri !== undefined && { redirectUri }
})

/** Returns where a program runs: its working folder if the entry names one, and the settings of its box (its sandbox) if it has one. */
const placeOf = ({ cwd, sandbox = false }: McpProcess) => ({
  ...cwd !== undefined && { cwd },
  ...sandbox !== false && { sandbox: sandbox === true ? {} : sandbox }
})

/**
 * True if a server can require the user to authorize this service: the server is reached over HTTP, and the entry has no `Authorization`
 * header.
 */
export const takesAuthorization = (entry: McpEntry): entry is McpAddress =>
  entry.url !== undefined && !Object.keys(entry.headers ?? {}).some((name) => name.toLowerCase() === 'authorization')

/**
 * Returns the config.json entry for the body of a connect request, and the secret values, which the entry contains as references only.
 * Throws HeaderNotAllowed or ClientIdMissing (400).
 */
export function toEntry (body: ConnectBody): { entry: McpEntry, given: Record<string, string> } {
  const { env, headers, enabled, ...rest } = { env: undefined, headers: undefined, ...body }
  const own = Object.keys(headers ?? {}).find(isOwnHeader)
  if (own !== undefined) throw new HeaderNotAllowed(own)
  const { references, values } = toReferences(body.name, env ?? headers ?? {})
  const referring = Object.keys(references).length > 0 ? { [env === undefined ? 'headers' : 'env']: references } : {}
  const settings = { ...referring, ...enabled === false && { enabled } }
  if (!('url' in rest)) return { entry: { ...rest, ...settings }, given: values }
  const hidden = hideQuery(body.name, rest.url)
  const { clientSecret, ...address } = rest
  if (clientSecret === undefined) return { entry: { ...address, url: hidden.url, ...settings }, given: { ...values, ...hidden.values } }
  if (address.clientId === undefined) throw new ClientIdMissing()
  const client = hideClientSecret(body.name, clientSecret)
  return {
    entry: { ...address, url: hidden.url, clientSecret: client.clientSecret, ...settings },
    given: { ...values, ...hidden.values, ...client.values }
  }
}

/**
 * Returns the origin of a server, to which acceptance is bound: its command, arguments, names of variables, working folder and box, or its
 * address and the names of its headers. Values of variables and headers do not count, so that a token can be renewed.
 */
export const originOf = (entry: McpEntry): string =>
  canonicalJson(
    entry.url === undefined
      ? { command: entry.command, args: entry.args ?? [], env: Object.keys(entry.env ?? {}).sort(), ...placeOf(entry) }
      : { url: entry.url, headers: Object.keys(entry.headers ?? {}).sort() }
  )

/** All connection fields, unset. They give the destructuring below a type that has every field. */
const NONE = {
  args: undefined,
  cwd: undefined,
  env: undefined,
  sandbox: undefined,
  headers: undefined,
  clientId: undefined,
  clientSecret: undefined,
  redirectUri: undefined
}

/**
 * Returns the list with `entry` in place of the first entry of the same name, or appended. Fields that only the previous entry sets are
 * kept, except the connection fields and `enabled`. Later duplicates of the name are removed.
 */
function withEntry (entries: McpEntry[], entry: McpEntry): McpEntry[] {
  const at = entries.findIndex(({ name }) => name === entry.name)
  if (at === -1) return [...entries, entry]
  const { command, args, cwd, env, sandbox, url, headers, clientId, clientSecret, redirectUri, enabled, ...kept } =
    { ...NONE, ...entries[at] }
  return entries.toSpliced(at, 1, { ...kept, ...entry }).filter(({ name }, n) => name !== entry.name || n === at)
}

const matches = createNamePatterns()

/** Returns a sentence that says why the entry's filter excludes a tool, given the server's name of the tool; undefined if it does not. */
export function leftOutBecause ({ tools: { allow, deny = [] } = {} }: McpEntry, tool: string): string | undefined {
  const denied = deny.find((pattern) => matches(pattern, tool))
  if (denied !== undefined) return `Its server's entry denies it: ${JSON.stringify(denied)} in tools.deny.`
  const isAllowed = allow === undefined || allow.some((pattern) => matches(pattern, tool))
  return isAllowed ? undefined : "Its server's entry does not name it in tools.allow."
}

interface Parts {
  config: Pick<ConfigService, 'update'>
  environments: EnvironmentValues
}

/** The keys of config.json under which users paste servers in the form of READMEs. */
const README_KEYS = ['mcpServers', 'servers'] as const

/**
 * Returns the value of `mcpServers` or `servers` with `settings` added to each entry of the name; without `settings`, removes these
 * entries.
 */
function changedEntries (servers: Record<string, unknown>, name: string, settings?: object): Record<string, unknown> {
  const read = readServers(Object.entries(servers))
  const keys = new Set(read.filter((each) => each.name === name && each.entry !== undefined).map(({ from }) => from))
  const kept = Object.entries(servers).filter(([key]) => settings !== undefined || !keys.has(key))
  return Object.fromEntries(kept.map(([key, value]) => [key, keys.has(key) ? { ...value as object, ...settings } : value]))
}

/** Saves tool servers: their entries in config.json, and the secret values that the entries refer to in the encrypted store. */
export function createSavedServers ({ config, environments }: Parts) {
  /**
   * Changes the entries of `names` in config.json: entries of `mcp` by `change`, entries in README form by adding `settings`. Without
   * `settings`, entries in README form are removed. Throws ToolServersInvalid if the present `mcp` is not valid, because saving would lose
   * it.
   */
  async function updateConfig (names: string[], change: (entries: McpEntry[]) => McpEntry[], settings?: ServerSettings) {
    await config.update((current) => {
      const before = current.mcp ?? []
      if (!Check(ConfigKeys.mcp, before)) throw new ToolServersInvalid('"mcp" is not valid')
      const next: Config = { ...current, mcp: change(before) }
      for (const key of README_KEYS) {
        const servers: Record<string, unknown> | undefined = current[key]
        if (isObject(servers)) next[key] = names.reduce((all, name) => changedEntries(all, name, settings), servers)
      }
      const { mcp, ...others } = next
      return current.mcp === undefined && mcp!.length === 0 ? others : next
    })
  }

  /** Saves entries in place of those with the same names: all of them or, if one cannot be saved, none. */
  async function saveAll (saved: Array<{ entry: McpEntry, given: Record<string, string> }>): Promise<void> {
    const before = saved.map(({ entry: { name } }) => ({ name, values: environments.of(name) }))
    try {
      for (const { entry, given } of saved) await environments.replace(entry.name, given)
      const names = saved.map(({ entry }) => entry.name)
      await updateConfig(names, (entries) => saved.reduce((all, { entry }) => withEntry(all, entry), entries))
    } catch (error) {
      for (const { name, values } of before) await environments.replace(name, values)
      throw error
    }
  }

  return {
    /** Changes settings of the entries with this name. */
    configure: (name: string, settings: ServerSettings): Promise<void> =>
      updateConfig([name], (entries) => entries.map((entry) => entry.name === name ? { ...entry, ...settings } : entry), settings),

    saveAll,

    /** Saves an entry in place of the one with the same name. If config.json cannot be saved, the stored secret values are restored. */
    save: (entry: McpEntry, given: Record<string, string>): Promise<void> => saveAll([{ entry, given }]),

    /** Deletes the entries with this name and the stored secret values. */
    async remove (name: string): Promise<void> {
      await updateConfig([name], (entries) => entries.filter((entry) => entry.name !== name))
      await environments.replace(name, {})
    }
  }
}
