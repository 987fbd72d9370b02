import { isObject } from '../../lib/json.ts'

/** A call that a model wrote as text, with the name as it was written and the input as JSON text. */
export interface TextCall {
  name: string
  input: string
}

/**
 * The result of reading a text from a place where a call may begin. `open`: more text may make it a call. `text`: it is none. `broken`: it
 * is a call that cannot be read, up to `end`.
 */
export type Reading = { is: 'open' } | { is: 'text' } | { is: 'calls', calls: TextCall[], end: number } | { is: 'broken', end: number }

export const OPEN: Reading = { is: 'open' }
export const TEXT: Reading = { is: 'text' }

/** The tools that a run offers, in the form that readers of text need. */
export interface OfferedTools {
  /** True if a tool has this name, or one that can only mean it. With the input, other agents' names for a tool count, too. */
  isTool: (name: string, input?: string) => boolean
  /** True if the name of a tool begins with the text. */
  beginsName: (text: string) => boolean
  /** The names of a tool's parameters, in the order of its schema. */
  parametersOf: (name: string) => string[]
}

/** Reads the text from `at`. With `isEnd`, nothing follows the text, and a call that lacks only its closing tag is complete. */
export type ReadCalls = (text: string, at: number, tools: OfferedTools, isEnd: boolean) => Reading

export function skipBlanks (text: string, at: number): number {
  while (at < text.length && /\s/.test(text[at])) at++
  return at
}

/** True if the text from `at` to its end is the beginning of the tag, or begins with the whole tag. */
export const mayBe = (tag: string, text: string, at: number): boolean =>
  text.length - at < tag.length ? tag.startsWith(text.slice(at)) : text.startsWith(tag, at)

const plainName = (name: string): string => name.replace(/[\s_.-]/g, '').toLowerCase()
/** Prefixes that stand for Python's namespaces before a name. */
const NAMESPACES = ['functions.', 'default_api.', 'tools.']

interface Described {
  name: string
  inputSchema: unknown
}

/** Returns the facts about tools that readers need. `nameMeant` returns the name of the tool that a written name means. */
export function offeredTools (
  { tools, deferred = [] }: { tools: readonly Described[], deferred?: readonly string[] },
  nameMeant: (name: string, input?: string) => string | undefined
): OfferedTools {
  const names = [...tools.map(({ name }) => name), ...deferred].map(plainName)
  const beginsName = (text: string): boolean =>
    names.some((name) => name.startsWith(plainName(text))) ||
    NAMESPACES.some((each) => each.startsWith(text) || (text.startsWith(each) && beginsName(text.slice(each.length))))
  return {
    isTool: (name, input) => nameMeant(name, input) !== undefined,
    beginsName,
    parametersOf (name) {
      const meant = nameMeant(name)
      const schema = tools.find((tool) => tool.name === meant)?.inputSchema
      return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : []
    }
  }
}
