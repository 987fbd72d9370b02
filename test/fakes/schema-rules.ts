import { Ajv2020 } from 'ajv/dist/2020.js'

/** A tool as it is sent to a provider. */
export interface SentTool {
  name: string
  schema: any
}

/** Returns the provider's refusal of a list of tools; undefined if it accepts all of them. */
export type SchemaRules = (tools: readonly SentTool[]) => string | undefined

const meta = new Ajv2020({ strict: false, validateFormats: false, logger: false })
function isValid2020 (schema: object): boolean {
  try {
    return meta.validateSchema(schema) === true
  } catch {
    return false
  }
}
const isRecord = (value: unknown): value is Record<string, any> => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Calls `visit` for a schema and every schema in it, until a call returns a text, and returns this text. `path` is in OpenAI's notation.
 */
function each (schema: any, visit: (schema: any, path: string[]) => string | undefined, path: string[] = []): string | undefined {
  if (!isRecord(schema)) return visit(schema, path)
  let found = visit(schema, path)
  const below = (value: unknown, ...names: string[]) => {
    found ??= each(value, visit, [...path, ...names])
  }
  for (const key of ['properties', '$defs', 'definitions', 'patternProperties']) {
    for (const [name, value] of Object.entries(schema[key] ?? {})) below(value, key, name)
  }
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    for (const [at, value] of (Array.isArray(schema[key]) ? schema[key] : []).entries()) below(value, key, String(at))
  }
  for (const key of ['items', 'not', 'additionalProperties']) if (isRecord(schema[key])) below(schema[key], key)
  return found
}

const quoted = (path: string[]) => `(${path.map((part) => `'${part}'`).join(', ')})`
const resolves = (ref: string, root: any) =>
  ref === '#' || (ref.startsWith('#/') && ref.slice(2).split('/').reduce((at, key) => at?.[decodeURIComponent(key)], root) !== undefined)
const typesOf = (value: unknown) =>
  value === null ? ['null'] : Array.isArray(value) ? ['array'] : Number.isInteger(value) ? ['integer', 'number'] : [typeof value]

/**
 * OpenAI's rules, from https://platform.openai.com/docs/api-reference/chat/create (tools) and from its error messages: "Invalid schema for
 * function …: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level", "array schema
 * missing items", "enum value … does not validate against".
 */
export const openaiRules: SchemaRules = (tools) => {
  for (const [at, { name, schema }] of tools.entries()) {
    const refuse = (why: string) => `Invalid schema for function '${name}': ${why}`
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      return `Invalid 'tools[${at}].function.name': string does not match pattern. Expected a string that matches the pattern ` +
        "'^[a-zA-Z0-9_-]+$'."
    }
    if (schema?.type !== 'object') return refuse(`schema must be a JSON Schema of 'type: "object"', got 'type: "${schema?.type}"'.`)
    if (['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not'].some((key) => key in schema)) {
      return refuse("schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level.")
    }
    if (!isRecord(schema.properties)) return refuse('In context=(), object schema missing properties.')
    const wrong = each(schema, (node, path) => {
      if (!isRecord(node)) return undefined
      const context = `In context=${quoted(path)}`
      if (node.type === 'array' && !('items' in node) && !('prefixItems' in node)) return `${context}, array schema missing items.`
      if (typeof node.$ref === 'string' && !resolves(node.$ref, schema)) return `${context}, reference can only point to definitions.`
      for (const value of Array.isArray(node.enum) && node.type !== undefined ? node.enum : []) {
        if (!typesOf(value).some((type) => [node.type].flat().includes(type))) {
          return `${context}, enum value ${JSON.stringify(value)} does not validate against ${JSON.stringify({ type: node.type })}.`
        }
      }
      return undefined
    })
    if (wrong !== undefined) return refuse(wrong)
    if (!isValid2020(schema)) return refuse(`${JSON.stringify(schema).slice(0, 80)} is not valid under any of the given schemas.`)
  }
  return undefined
}

/**
 * Anthropic's rules, from https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use and from its error messages:
 * "input_schema does not support oneOf, allOf, or anyOf at the top level", "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
 * "JSON schema is invalid. It must match JSON Schema draft 2020-12".
 */
export const anthropicRules: SchemaRules = (tools) => {
  for (const [at, { name, schema }] of tools.entries()) {
    const refuse = (why: string) => `tools.${at}.custom.${why}`
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return refuse("name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    if (schema?.type !== 'object') return refuse("input_schema.type: Input should be 'object'")
    if (['oneOf', 'allOf', 'anyOf'].some((key) => key in schema)) {
      return refuse('input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level')
    }
    const badKey = each(schema, (node) => Object.keys(node?.properties ?? {}).find((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key)))
    if (badKey !== undefined) return refuse("input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'")
    const isLost = each(schema, (node) => typeof node?.$ref === 'string' && !resolves(node.$ref, schema) ? node.$ref : undefined)
    if (!isValid2020(schema) || isLost !== undefined) {
      return refuse('input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 ' +
        '(https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.anthropic.com/en/docs/tool-use.')
    }
  }
  return undefined
}

/**
 * The keywords that both https://ai.google.dev/api/caching#Schema and response_json_schema of https://ai.google.dev/api/generate-content
 * name.
 */
const GOOGLE_KEYS = new Set([
  ...['type', 'format', 'title', 'description', 'enum', 'items', 'minItems', 'maxItems', 'minimum', 'maximum', 'anyOf', 'properties'],
  ...['required']
])
const GOOGLE_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']
const GOOGLE_FORMATS: Record<string, string[]> = { string: ['enum', 'date-time'], number: ['float', 'double'], integer: ['int32', 'int64'] }

/**
 * Google's rules, from https://ai.google.dev/api/caching#FunctionDeclaration, from the reference of Vertex AI (parameter names, `any_of`
 * without other keywords) and from its error messages: "only 'enum' and 'date-time' are supported for STRING type", "enum[0]: cannot be
 * empty", "items: missing field".
 */
export const googleRules: SchemaRules = (tools) => {
  const wrongs = tools.flatMap(({ name, schema }, at) => {
    const where = `GenerateContentRequest.tools[0].function_declarations[${at}]`
    if (!/^[A-Za-z_][\w.:-]{0,63}$/.test(name)) {
      return [`* ${where}.name: Invalid function name. Must start with a letter or an underscore.`]
    }
    if (schema?.type !== 'object') return [`* ${where}.parameters: only objects are supported.`]
    const wrong = each(schema, (node, path) => {
      const refuse = (why: string) => `* ${where}.parameters${path.map((part) => `.${part}`).join('')}${why}`
      if (!isRecord(node)) return refuse(': Invalid value')
      const unknown = Object.keys(node).find((key) => !GOOGLE_KEYS.has(key))
      if (unknown !== undefined) return refuse(`: Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`)
      if (node.anyOf !== undefined) {
        return Object.keys(node).length > 1 ? refuse('.any_of: When using any_of, it must be the only field set.') : undefined
      }
      if (!GOOGLE_TYPES.includes(node.type)) return refuse(`.type: Invalid value ${JSON.stringify(node.type)}`)
      if (node.format !== undefined && !GOOGLE_FORMATS[node.type]?.includes(node.format)) {
        return refuse(".format: only 'enum' and 'date-time' are supported for STRING type")
      }
      if (node.enum !== undefined && (node.type !== 'string' || node.enum.some((value: unknown) => typeof value !== 'string'))) {
        return refuse('.enum: only allowed for STRING type')
      }
      if (node.enum?.includes('')) return refuse('.enum[0]: cannot be empty')
      if (node.type === 'array' && !isRecord(node.items)) return refuse('.items: missing field.')
      if (!Array.isArray(node.required ?? [])) return refuse('.required: Proto field is not repeating')
      const lost = (node.required ?? []).find((key: string) => !Object.hasOwn(node.properties ?? {}, key))
      if (lost !== undefined) return refuse('.required[0]: property is not defined')
      const odd = Object.keys(node.properties ?? {}).find((key) => !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key))
      return odd === undefined ? undefined : refuse(`.properties[${odd}]: Parameter names must start with a letter or an underscore`)
    })
    return wrong ?? []
  })
  return wrongs.length > 0 ? `${wrongs.slice(0, 3).join('\n')}\n` : undefined
}

/** The maximum number of repetitions in a grammar: MAX_REPETITION_THRESHOLD in llama.cpp's llama-grammar.cpp. */
const MOST_REPETITIONS = 2_000

/**
 * The rules of servers for open models. Ollama parses tools into fixed types (api/types.go: `type` is a string or a list of strings,
 * `required` and `enum` are lists). llama.cpp compiles them to a grammar (common/json-schema-to-grammar.cpp: patterns from ^ to $, no
 * remote references).
 */
export const compatibleRules: SchemaRules = (tools) => {
  for (const [at, { name, schema }] of tools.entries()) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `tools[${at}].function.name is not valid`
    if (schema?.type !== 'object') return `tools[${at}].function.parameters.type must be "object"`
    const wrong = each(schema, (node) => {
      if (!isRecord(node)) return typeof node === 'boolean' ? 'cannot unmarshal bool into Go value of type api.ToolProperty' : undefined
      const types = [node.type ?? []].flat()
      if (types.some((type) => typeof type !== 'string')) return 'cannot unmarshal object into Go struct field .type of type string'
      if (!Array.isArray(node.required ?? [])) return 'cannot unmarshal bool into Go struct field .required of type []string'
      if (typeof (node.description ?? '') !== 'string') return 'cannot unmarshal into Go struct field .description of type string'
      if (node.pattern !== undefined && !/^\^.*\$$/.test(node.pattern)) {
        return "JSON schema conversion failed: Pattern must start with '^' and end with '$'"
      }
      if (['maxLength', 'maxItems', 'minLength', 'minItems'].some((key) => node[key] > MOST_REPETITIONS)) {
        return 'failed to parse grammar: number of repetitions exceeds sane defaults, please reduce the number of repetitions'
      }
      const isLost = typeof node.$ref === 'string' && !resolves(node.$ref, schema)
      return isLost ? `JSON schema conversion failed: Error resolving ref ${node.$ref}` : undefined
    })
    if (wrong !== undefined) return `tools[${at}] (${name}): ${wrong}`
  }
  return undefined
}
