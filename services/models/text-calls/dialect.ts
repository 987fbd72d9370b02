import { isObject } from '../../lib/json.ts'

/** A call that a model wrote as text, with the name as it was written and the input as JSON text. */
export interface TextCall {
  name: string
  input: string
}

/**
 * What a text is, read from the place where a call may begin. `open`: more may make it a call. `text`: it is none. `broken`: it is a call
 * that nobody can read, up to `end`.
 */
export type Reading = { is: 'open' } | { is: 'text' } | { is: 'calls', calls: TextCall[], end: number } | { is: 'broken', end: number }

export const OPEN: Reading = { is: 'open' }
export const TEXT: Reading = { is: 'text' }

/** The tools that a run offers, as readers of text need them. */
export interface OfferedTools {
  /** Whether a tool has this name, or one that can only mean it; with the input, also one of other agents' names. */
  isTool: (name: string, input?: string) => boolean
  /** Whether the name of a tool begins so. */
  beginsName: (text: string) => boolean
  /** The names of a tool's parameters, in the order of its schema. */
  parametersOf: (name: string) => string[]
}

/** Reads the text from `at`; with `isEnd`, nothing follows the text, and what lacks only its closing tag is whole. */
export type ReadCalls = (text: string, at: number, tools: OfferedTools, isEnd: boolean) => Reading

export function skipBlanks (text: string, at: number): number {
  while (at < text.length && /\s/.test(text[at])) at++
  return at
}

/** Whether the text from `at` to its end is the beginning of the tag, which may be whole with more behind it. */
export const mayBe = (tag: string, text: string, at: number): boolean =>
  text.length - at < tag.length ? tag.startsWith(text.slice(at)) : text.startsWith(tag, at)

const plainName = (name: string): string => name.replace(/[\s_.-]/g, '').toLowerCase()
/** What Python's namespaces add before a name. */
const NAMESPACES = ['functions.', 'default_api.', 'tools.']

interface Described {
  name: string
  inputSchema: unknown
}

/** Returns what readers need of tools. `nameMeant` returns the name of the tool that a written name means. */
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
