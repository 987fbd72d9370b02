import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { isObject } from '../../lib/json.ts'
import { isSourceTool, type Tool } from '../../contracts/tool.ts'

/** Keywords that a model is not told of the service's own tools: an input that breaks such a rule gets an error that says so. */
const UNTOLD = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'pattern', 'uniqueItems', 'additionalProperties']

/**
 * Returns a schema without the keywords of UNTOLD, and with a choice of constants as an `enum`. Properties with the names of keywords stay.
 */
export function brief<S> (schema: S, isProperties = false): S {
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

/** Returns the compact form of a tool for models with a small window; always the same object. */
export function compactTool (tool: Tool): Tool {
  const { compact } = tool.model
  const made = compacted.get(tool) ?? (compact === undefined ? tool : { ...tool, model: { ...tool.model, ...compact } })
  compacted.set(tool, made)
  return made
}

const descriptions = new WeakMap<Tool, LanguageModelV4FunctionTool>()

/** Returns the description of a tool for models: always the same object, so that its JSON is made once. */
export function describeTool (tool: Tool): LanguageModelV4FunctionTool {
  const { name, description, schema } = tool.model
  const described = descriptions.get(tool) ??
    { type: 'function', name, description, inputSchema: isSourceTool(tool) ? schema : brief(schema) }
  descriptions.set(tool, described)
  return described
}

/** The most characters of JSON of all definitions in one answer, and the fewest that are left for each. */
const ALL = 8_000
const LEAST = 600
/** The length of a shortened description, in characters. */
const SHORT_TEXT = 240

export interface BriefDefinition {
  name: string
  description: string
  input: unknown
  /** A sentence that says how to get the parts that were left out. */
  shortened?: string
}

/**
 * Returns the definitions of tools as a model gets them, the best first: whole while there is room, then shorter. The first tools found get
 * the most room, so that a search for the name of a tool returns its definition.
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

/** Returns the longest form of a definition that fits into the characters. Names are never left out. */
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

/** Returns a schema without descriptions below a depth of properties, and without the schemas below the next depth. */
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

/** Returns the names of the properties of a schema, and which of them are required. */
const namesIn = ({ properties, required }: Record<string, unknown>) => ({
  type: 'object',
  properties: Object.keys(isObject(properties) ? properties : {}).slice(0, 40),
  ...(Array.isArray(required) && { required: required.slice(0, 40) })
})
