import { isOwnHeader, type McpAddress, type McpEntry } from '../../schemas/config.ts'
import type { ConnectBody } from '../../schemas/mcp.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { HeaderNotAllowed } from './mcp-errors.ts'
import { hideQuery } from './secret-query.ts'
import { toReferences } from './server-environment.ts'

/**
 * Whether two entries mean the same connection: command, arguments and environment, or address and headers, are equal, and both are
 * enabled or neither is. Their other fields do not affect it.
 */
export const isSameConnection = (a: McpEntry, b: McpEntry): boolean => connectionOf(a) === connectionOf(b)

function connectionOf (entry: McpEntry): string {
  const { enabled = true } = entry
  return canonicalJson(
    entry.url === undefined
      ? { enabled, command: entry.command, args: entry.args ?? [], env: entry.env ?? {} }
      : { enabled, url: entry.url, headers: entry.headers ?? {} }
  )
}

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
 * What makes a server the one that was agreed to: its program, its arguments and the names of its variables, or its address and the
 * names of its headers. Values of variables and headers do not count, so that a token can be renewed.
 */
export const originOf = (entry: McpEntry): string =>
  canonicalJson(
    entry.url === undefined
      ? { command: entry.command, args: entry.args ?? [], env: Object.keys(entry.env ?? {}).sort() }
      : { url: entry.url, headers: Object.keys(entry.headers ?? {}).sort() }
  )

/**
 * Returns the list with `entry` in place of the entry of the same name, or appended. Fields of the previous entry that the new
 * one does not set are kept, except those of the connection and `enabled`. Later duplicates of the name are removed.
 */
export function withEntry (entries: McpEntry[], entry: McpEntry): McpEntry[] {
  const at = entries.findIndex(({ name }) => name === entry.name)
  if (at === -1) return [...entries, entry]
  const { command, args, env, url, headers, enabled, ...kept } = { args: undefined, env: undefined, headers: undefined, ...entries[at] }
  return entries.toSpliced(at, 1, { ...kept, ...entry }).filter(({ name }, n) => name !== entry.name || n === at)
}
