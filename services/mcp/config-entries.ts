import type { McpEntry } from '../../schemas/config.ts'
import { canonicalJson } from '../lib/canonical-json.ts'

/** Whether two entries run the same: what else stands in them changes no process. */
export function isSameProcess (a: McpEntry, b: McpEntry): boolean {
  const what = ({ command, args = [], env = {} }: McpEntry) => canonicalJson({ command, args, env })
  return what(a) === what(b)
}

/** The list with an entry in the place of the one of its name; what else its user had written there stays. */
export function replaced (entries: McpEntry[], entry: McpEntry): McpEntry[] {
  const at = entries.findIndex(({ name }) => name === entry.name)
  if (at === -1) return [...entries, entry]
  const { args, env, ...kept } = entries[at]
  return entries.toSpliced(at, 1, { ...kept, ...entry }).filter(({ name }, n) => name !== entry.name || n === at)
}
