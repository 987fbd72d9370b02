import { isOwnHeader, type McpAddress, type McpEntry, type McpProcess, ConfigKeys } from '../../schemas/config.ts'
import type { ConnectBody } from '../../schemas/mcp.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { HeaderNotAllowed, ToolServersInvalid } from './mcp-errors.ts'
import { hideQuery, toReferences, type EnvironmentValues } from './environment-values.ts'
import { createNamePatterns } from '../lib/name-patterns.ts'
import { Check } from '@sinclair/typebox/value'
import type { ConfigService } from '../config/index.ts'

/**
 * Whether two entries mean the same connection: command, arguments, environment and box, or address and headers, are equal, and both
 * are enabled or neither is. Their other fields do not affect it.
 */
export const isSameConnection = (a: McpEntry, b: McpEntry): boolean => connectionOf(a) === connectionOf(b)

function connectionOf (entry: McpEntry): string {
  const { enabled = true } = entry
  return canonicalJson(
    entry.url === undefined
      ? { enabled, command: entry.command, args: entry.args ?? [], env: entry.env ?? {}, ...boxOf(entry) }
      : { enabled, url: entry.url, headers: entry.headers ?? {} }
  )
}

/** The box of a program, with all that it may reach; nothing for one that runs outside. */
const boxOf = ({ sandbox }: McpProcess) => sandbox === undefined || sandbox === false ? {} : { sandbox: sandbox === true ? {} : sandbox }

/** Whether a server may ask its user for an authorization: it is reached over HTTP, and its headers hold none. */
export const takesAuthorization = (entry: McpEntry): entry is McpAddress =>
  entry.url !== undefined && !Object.keys(entry.headers ?? {}).some((name) => name.toLowerCase() === 'authorization')

/** Returns the entry of a server that is to be connected, and the secret values that it refers to. Throws HeaderNotAllowed (400). */
export function toEntry (body: ConnectBody): { entry: McpEntry, given: Record<string, string> } {
  const { env, headers, enabled, ...rest } = { env: undefined, headers: undefined, ...body }
  const own = Object.keys(headers ?? {}).find(isOwnHeader)
  if (own !== undefined) throw new HeaderNotAllowed(own)
  const { references, values } = toReferences(body.name, env ?? headers ?? {})
  const referring = Object.keys(references).length > 0 ? { [env === undefined ? 'headers' : 'env']: references } : {}
  const settings = { ...referring, ...enabled === false && { enabled } }
  if (!('url' in rest)) return { entry: { ...rest, ...settings }, given: values }
  const hidden = hideQuery(body.name, rest.url)
  return { entry: { ...rest, url: hidden.url, ...settings }, given: { ...values, ...hidden.values } }
}

/**
 * What makes a server the one that was agreed to: its program, its arguments, the names of its variables and its box, or its address
 * and the names of its headers. Values of variables and headers do not count, so that a token can be renewed.
 */
export const originOf = (entry: McpEntry): string =>
  canonicalJson(
    entry.url === undefined
      ? { command: entry.command, args: entry.args ?? [], env: Object.keys(entry.env ?? {}).sort(), ...boxOf(entry) }
      : { url: entry.url, headers: Object.keys(entry.headers ?? {}).sort() }
  )

/**
 * Returns the list with `entry` in place of the entry of the same name, or appended. Fields of the previous entry that the new
 * one does not set are kept, except those of the connection and `enabled`. Later duplicates of the name are removed.
 */
function withEntry (entries: McpEntry[], entry: McpEntry): McpEntry[] {
  const at = entries.findIndex(({ name }) => name === entry.name)
  if (at === -1) return [...entries, entry]
  const { command, args, env, sandbox, url, headers, enabled, ...kept } =
    { args: undefined, env: undefined, sandbox: undefined, headers: undefined, ...entries[at] }
  return entries.toSpliced(at, 1, { ...kept, ...entry }).filter(({ name }, n) => name !== entry.name || n === at)
}

const matches = createNamePatterns()

/** Returns a sentence that says why the entry's filter leaves out a tool, by the server's name of it; undefined when it does not. */
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

/** Saves tool servers: their entries in config.json, the values to which these refer in the encrypted store. */
export function createSavedServers ({ config, environments }: Parts) {
  /** Changes `mcp` in config.json. Throws ToolServersInvalid when its present value is not valid, as a change would lose it. */
  async function updateConfig (change: (entries: McpEntry[]) => McpEntry[]) {
    await config.update((current) => {
      const before = current.mcp ?? []
      if (!Check(ConfigKeys.mcp, before)) throw new ToolServersInvalid('"mcp" is not valid')
      return { ...current, mcp: change(before) }
    })
  }

  return {
    update: updateConfig,

    /** Saves an entry in the place of the one of its name. Restores the stored values when the configuration cannot be saved. */
    async save (entry: McpEntry, given: Record<string, string>): Promise<void> {
      const before = environments.of(entry.name)
      try {
        await environments.replace(entry.name, given)
        await updateConfig((entries) => withEntry(entries, entry))
      } catch (error) {
        await environments.replace(entry.name, before)
        throw error
      }
    },

    /** Deletes the entry of a name and its values. */
    async remove (name: string): Promise<void> {
      await updateConfig((entries) => entries.filter((entry) => entry.name !== name))
      await environments.replace(name, {})
    }
  }
}
