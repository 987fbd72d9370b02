import { isObject } from '../../lib/json.ts'

/**
 * A tool call that a model wrote as text. `name` is as the model wrote it and might differ from the name of the tool. `input` is JSON text.
 */
export interface TextCall {
  name: string
  input: string
}

/**
 * The result of parsing a text from a position where a call might begin. `open`: the text ends too early to decide, and might become a
 * call. `text`: it is not a call. `broken`: it is a call that cannot be parsed and that ends at `end`.
 */
export type Reading = { is: 'open' } | { is: 'text' } | { is: 'calls', calls: TextCall[], end: number } | { is: 'broken', end: number }

export const OPEN: Reading = { is: 'open' }
export const TEXT: Reading = { is: 'text' }

/** The facts about the tools of a run that the parsers in this folder need. */
export interface OfferedTools {
  /**
   * True if the name is that of a tool, or is close to the name of only one tool. With `input`, names that other agents use for a tool
   * match, too.
   */
  isTool: (name: string, input?: string) => boolean
  /** True if the name of a tool begins with the text. */
  beginsName: (text: string) => boolean
  /** The names of a tool's parameters, in the order of its schema. */
  parametersOf: (name: string) => string[]
}

/**
 * Parses the text from the position `at`. `isEnd` means that the answer is complete: then a call that lacks only its closing tag counts.
 */
export type ReadCalls = (text: string, at: number, tools: OfferedTools, isEnd: boolean) => Reading

export function skipBlanks (text: string, at: number): number {
  while (at < text.length && /\s/.test(text[at])) at++
  return at
}

/** True if the tag stands at the position `at` of the text, in full or cut off by the end of the text. */
export const mayBe = (tag: string, text: string, at: number): boolean =>
  text.length - at < tag.length ? tag.startsWith(text.slice(at)) : text.startsWith(tag, at)

const plainName = (name: string): string => name.replace(/[\s_.-]/g, '').toLowerCase()
/** Namespaces that models write before the name of a tool, as in Python. */
const NAMESPACES = ['functions.', 'default_api.', 'tools.']

interface Described {
  name: string
  inputSchema: unknown
}

/**
 * Returns the facts about tools that the parsers need. `nameMeant` returns the name of the tool that a model means by a name; undefined if
 * there is none.
 */
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
