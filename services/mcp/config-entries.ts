import type { McpEntry } from '../../schemas/config.ts'
import { canonicalJson } from '../lib/canonical-json.ts'

/**
 * Whether two entries stand for the same process: command, arguments and environment are equal, and both are enabled or neither is.
 * Their other fields do not affect it.
 */
export function isSameProcess (a: McpEntry, b: McpEntry): boolean {
  const processOf = ({ command, args = [], env = {}, enabled = true }: McpEntry) => canonicalJson({ command, args, env, enabled })
  return processOf(a) === processOf(b)
}

/**
 * What makes a server the one that was agreed to: its program, its arguments and the names of its variables. Values of variables do not
 * count, so that a token can be renewed.
 */
export const originOf = ({ command, args = [], env = {} }: McpEntry): string =>
  canonicalJson({ command, args, env: Object.keys(env).sort() })

/**
 * Returns the list with `entry` in place of the entry of the same name, or appended. Fields of the previous entry that the new
 * one does not set are kept, except `args`, `env` and `enabled`. Later duplicates of the name are removed.
 */
export function withEntry (entries: McpEntry[], entry: McpEntry): McpEntry[] {
  const at = entries.findIndex(({ name }) => name === entry.name)
  if (at === -1) return [...entries, entry]
  const { args, env, enabled, ...kept } = entries[at]
  return entries.toSpliced(at, 1, { ...kept, ...entry }).filter(({ name }, n) => name !== entry.name || n === at)
}
