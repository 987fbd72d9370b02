import type { McpEntry } from '../../schemas/config.ts'
import { canonicalJson } from '../lib/canonical-json.ts'

/** Whether two entries start the same process: command, arguments and environment are equal. Their other fields do not affect it. */
export function isSameProcess (a: McpEntry, b: McpEntry): boolean {
  const processOf = ({ command, args = [], env = {} }: McpEntry) => canonicalJson({ command, args, env })
  return processOf(a) === processOf(b)
}

/**
 * Returns the list with `entry` in place of the entry of the same name, or appended. Fields of the previous entry that the new
 * one does not set are kept, except `args` and `env`. Later duplicates of the name are removed.
 */
export function withEntry (entries: McpEntry[], entry: McpEntry): McpEntry[] {
  const at = entries.findIndex(({ name }) => name === entry.name)
  if (at === -1) return [...entries, entry]
  const { args, env, ...kept } = entries[at]
  return entries.toSpliced(at, 1, { ...kept, ...entry }).filter(({ name }, n) => name !== entry.name || n === at)
}
