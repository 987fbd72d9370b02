import type { McpEntry } from '../../schemas/config.ts'
import { createNamePatterns } from '../lib/name-patterns.ts'

const matches = createNamePatterns()

/** Returns a sentence that says why the entry's filter leaves out a tool, by the server's name of it; undefined when it does not. */
export function leftOutBecause ({ tools: { allow, deny = [] } = {} }: McpEntry, tool: string): string | undefined {
  const denied = deny.find((pattern) => matches(pattern, tool))
  if (denied !== undefined) return `Its server's entry denies it: ${JSON.stringify(denied)} in tools.deny.`
  const isAllowed = allow === undefined || allow.some((pattern) => matches(pattern, tool))
  return isAllowed ? undefined : "Its server's entry does not name it in tools.allow."
}
