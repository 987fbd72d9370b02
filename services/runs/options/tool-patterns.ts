import type { Tool } from '../../contracts/tool.ts'
import { createNamePatterns } from '../../lib/name-patterns.ts'

/** The names by which lists of tools can refer to a tool. */
export interface NamedTool {
  name: string
  /** The name of the tool, prefixed with the name of its tool server. */
  qualified?: string
  /** The name of the tool's server. */
  source?: string
}

/** Returns the names of a tool; a tool of a tool server has more than one. */
export const namesOfTool = ({ model: { name }, qualified, source }: Tool & Omit<NamedTool, 'name'>): NamedTool =>
  ({ name, qualified, source })

/** The prefix of an entry that means all tools of a server. The rest of the entry is a pattern for the server's name. */
const SERVER = 'server:'
/** Joins the parts of an entry that must all match, for the intersection of two lists. It occurs only in computed entries. */
const AND = '&'

const matchesName = createNamePatterns()

export const isPattern = (entry: string): boolean => /[^\w-]/.test(entry)

/** The parts of an entry of a list of tools. */
export const partsOf = (entry: string): string[] => entry.split(AND)

/** Whether a part of an entry matches the server; undefined if the part is not a `server:` pattern. */
export const matchesServer = (part: string, server: string): boolean | undefined =>
  part.startsWith(SERVER) ? matchesName(part.slice(SERVER.length), server) : undefined

/** Whether an entry of a list of tools matches the tool. An entry is a name, a pattern of names (`github_*`) or `server:<name>`. */
export function matchesTool (entry: string, { name, qualified = name, source = '' }: NamedTool): boolean {
  if (entry === name || entry === qualified) return true
  return isPattern(entry) &&
    partsOf(entry).every((part) => matchesServer(part, source) ?? [name, qualified].some((each) => matchesName(part, each)))
}

/** Looks up tools by name: `otherNames` are the other names of the same tool, `serversOf` the servers that have it. */
export interface ToolNames {
  otherNames(name: string): readonly string[]
  serversOf(name: string): readonly string[]
}

/** Returns an entry that matches the tools that both entries match; undefined if there are none. */
function meet (one: string, other: string, { otherNames, serversOf }: ToolNames): string | undefined {
  const parts = [...new Set([...partsOf(one), ...partsOf(other)])]
  const literal = parts.find((part) => !isPattern(part))
  if (literal === undefined) return parts.join(AND)
  const names = [literal, ...otherNames(literal)]
  const servers = serversOf(literal)
  const left = parts.filter((part) => !names.includes(part) && !names.some((name) => isPattern(part) && matchesName(part, name)))
    .filter((part) => !servers.some((server) => matchesServer(part, server)))
  if (left.length === 0) return literal
  // If a tool does not exist now, its server is not known, so the condition on the server stays in the entry.
  return servers.length === 0 && left.every((part) => part.startsWith(SERVER)) ? [literal, ...left].join(AND) : undefined
}

/** Returns entries (names and patterns) for the tools that both lists match. */
export const inBoth = (one: readonly string[], other: readonly string[], names: ToolNames): string[] =>
  [...new Set(one.flatMap((a) => other.flatMap((b) => meet(a, b, names) ?? [])))]
