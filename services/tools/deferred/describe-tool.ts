import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { isObject } from '../../lib/json.ts'
import { isSourceTool, type Tool } from '../../contracts/tool.ts'

/**
 * Schema keywords that are removed from the service's own tools to save tokens. An input that violates such a rule gets an error that
 * explains it.
 */
const UNTOLD = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'pattern', 'uniqueItems', 'additionalProperties']

/**
 * Returns a schema without the UNTOLD keywords, and with a union of string constants as `enum`. A property that has the name of a keyword
 * is kept; `isProperties` is true if `schema` is an object of properties.
 */
function brief<S> (schema: S, isProperties = false): S {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map((each) => brief(each)) as S
  const { anyOf, ...rest } = schema as { anyOf?: Array<{ const?: unknown }> }
  if (!isProperties && Array.isArray(anyOf) && anyOf.every((each) => typeof each?.const === 'string')) {
    return { type: 'string', enum: anyOf.map((each) => each.const), ...rest } as S
  }
  const kept = Object.entries(schema).filter(([key]) => isProperties || !UNTOLD.includes(key))
  return Object.fromEntries(kept.map(([key, value]) => [key, brief(value, !isProperties && key === 'properties')])) as S
}

const compacted = new WeakMap<Tool, Tool>()

/**
 * Returns the compact form of a tool for models with a small context window; the tool itself if it has none. Each tool always gives the
 * same object.
 */
export function compactTool (tool: Tool): Tool {
  const { compact } = tool.model
  const made = compacted.get(tool) ?? (compact === undefined ? tool : { ...tool, model: { ...tool.model, ...compact } })
  compacted.set(tool, made)
  return made
}

const descriptions = new WeakMap<Tool, LanguageModelV4FunctionTool>()

/** Returns the definition of a tool for models. Each tool always gives the same object, so that its JSON is made once. */
export function describeTool (tool: Tool): LanguageModelV4FunctionTool {
  const { name, description, schema } = tool.model
  const described = descriptions.get(tool) ??
    { type: 'function', name, description, inputSchema: isSourceTool(tool) ? schema : brief(schema) }
  descriptions.set(tool, described)
  return described
}

/** The most characters of JSON of all definitions in one answer, and the fewest that each definition gets. */
const ALL = 8_000
const LEAST = 600
/** The length of a shortened description, in characters. */
const SHORT_TEXT = 240

interface BriefDefinition {
  name: string
  description: string
  input: unknown
  /** A sentence that says how to get the parts that were left out. */
  shortened?: string
}

/**
 * Returns the definitions of tools for a model, in the given order: whole while there is room, then shortened. The first tools get the most
 * room, so that a search for a tool's name returns its whole definition.
 */
export function briefDefinitions (tools: readonly Tool[]): BriefDefinition[] {
  let room = ALL
  return tools.map((tool, at) => {
    const share = Math.max(LEAST, room - LEAST * (tools.length - at - 1))
    const definition = fit(tool, share)
    room -= JSON.stringify(definition).length
    return definition
  })
}

/**
 * Returns the longest form of a definition that fits into `characters`. The shortest form, with names alone, is returned even if it does
 * not fit.
 */
function fit ({ model: { name, description, schema: inputSchema } }: Tool, characters: number): BriefDefinition {
  const short = description.length > SHORT_TEXT ? `${description.slice(0, SHORT_TEXT)}…` : description
  const shortened = `Find ${JSON.stringify(name)} alone to read more of its definition.`
  const forms: BriefDefinition[] = [
    { name, description, input: brief(inputSchema) },
    ...[4, 2, 1].map((depth) => ({ name, description: short, input: upTo(depth, brief(inputSchema)), shortened })),
    { name, description: short, input: namesIn(inputSchema), shortened }
  ]
  return forms.find((form) => JSON.stringify(form).length <= characters) ?? forms.at(-1)!
}

/**
 * Returns a schema in which properties nested `depth` levels deep lose their descriptions, and properties one level deeper are reduced to
 * their types.
 */
function upTo (depth: number, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => upTo(depth, each))
  if (!isObject(schema)) return schema
  if (depth < 0) return schema.type === undefined ? {} : { type: schema.type }
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => depth > 0 || key !== 'description').map(([key, value]) =>
      key === 'properties' && isObject(value)
        ? [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, upTo(depth - 1, each)]))]
        : [key, upTo(depth, value)]
    )
  )
}

/** Returns a schema with only the names of its properties and of the required ones. */
const namesIn = ({ properties, required }: Record<string, unknown>) => ({
  type: 'object',
  properties: Object.keys(isObject(properties) ? properties : {}).slice(0, 40),
  ...(Array.isArray(required) && { required: required.slice(0, 40) })
})
