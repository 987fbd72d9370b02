import { isObject } from '../lib/json.ts'

/** Matches a valid header name (RFC 9110). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const PLAIN = /^[\t\x20-\x7e]+$/
const ENCODED = /^=\?base64\?.*\?=$/
const MAX_DEPTH = 16
/** For each method, the parameter whose value the header Mcp-Name repeats. */
const NAMED: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

/** Returns a text as a header value (MCP 2026-07-28). A text that a header cannot contain is encoded in base64. */
const headerValue = (text: string): string =>
  PLAIN.test(text) && text === text.trim() && !ENCODED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** Returns the headers that repeat the method and the name in a request, so that proxies need not parse the body. */
export function requestHeaders (method: string, params: Record<string, unknown> = {}): Record<string, string> {
  const name = Object.hasOwn(NAMED, method) ? params[NAMED[method]] : undefined
  return { 'mcp-method': method, ...typeof name === 'string' && { 'mcp-name': headerValue(name) } }
}

/**
 * Returns a clause that says why a tool cannot be used over HTTP: its schema has an `x-mcp-header` that is not allowed. Returns undefined
 * if the tool can be used.
 */
export function headerFault (schema: unknown): string | undefined {
  const seen = new Set<string>()
  function faultIn (node: unknown, isReachable: boolean, depth: number): string | undefined {
    if (Array.isArray(node)) return firstOf(node, (each) => faultIn(each, false, depth + 1))
    if (!isObject(node) || depth > MAX_DEPTH) return undefined
    const { 'x-mcp-header': name, type, properties, ...rest } = node
    if (name !== undefined) {
      if (!isReachable || depth === 0) return 'it marks something else than a property for a header'
      if (typeof name !== 'string' || !TOKEN.test(name)) return 'it names a header with an invalid name'
      if (!PRIMITIVES.includes(type)) return `the header ${name} repeats a property that is neither a string, an integer nor a boolean`
      if (seen.has(name.toLowerCase())) return `it names the header ${name} twice`
      seen.add(name.toLowerCase())
    }
    const below = isObject(properties) ? Object.values(properties) : []
    return firstOf(below, (each) => faultIn(each, isReachable, depth + 1)) ??
      firstOf(Object.entries(rest).filter(([key]) => SUBSCHEMAS.has(key)), ([, each]) => faultIn(each, false, depth + 1)) ??
      firstOf(Object.entries(rest).filter(([key]) => NAMED_SUBSCHEMAS.has(key)), ([, each]) =>
        isObject(each) ? firstOf(Object.values(each), (one) => faultIn(one, false, depth + 1)) : undefined)
  }
  return faultIn(schema, true, 0)
}

function firstOf<T> (all: T[], look: (each: T) => string | undefined): string | undefined {
  for (const each of all) {
    const found = look(each)
    if (found !== undefined) return found
  }
  return undefined
}

const PRIMITIVES: unknown[] = ['string', 'integer', 'boolean']
/**
 * Keywords of JSON Schema whose value is a schema or a list of schemas. NAMED_SUBSCHEMAS are those whose value is an object of named
 * schemas.
 */
const SUBSCHEMAS = new Set([
  'items', 'prefixItems', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'contains', 'propertyNames', 'not', 'if',
  'then', 'else', 'allOf', 'anyOf', 'oneOf'
])
const NAMED_SUBSCHEMAS = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/**
 * Returns the headers that repeat values of a call's input. The tool's schema marks these values with `x-mcp-header`. Lists, objects and
 * null get no header, and properties more than MAX_DEPTH levels deep are not searched.
 */
export function parameterHeaders (schema: unknown, input: unknown, depth = 0): Record<string, string> {
  if (!isObject(schema) || !isObject(schema.properties) || !isObject(input) || depth > MAX_DEPTH) return {}
  return Object.fromEntries(Object.entries(schema.properties).flatMap(([key, property]): Array<[string, string]> => {
    if (!isObject(property) || !Object.hasOwn(input, key)) return []
    const value = input[key]
    const name = property['x-mcp-header']
    if (typeof name !== 'string') return Object.entries(parameterHeaders(property, value, depth + 1))
    const isPlain = typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
    return isPlain && TOKEN.test(name) ? [[`mcp-param-${name.toLowerCase()}`, headerValue(String(value))]] : []
  }))
}
