import { isObject } from '../lib/json.ts'

/** A name of a header (RFC 9110). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const PLAIN = /^[\t\x20-\x7e]+$/
const ENCODED = /^=\?base64\?.*\?=$/
const MAX_DEPTH = 16
/** The parameter that the header Mcp-Name repeats, by method. */
const NAMED: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

/** Returns a text as the value of a header (MCP 2026-07-28): one that a header cannot hold is encoded. */
const headerValue = (text: string): string =>
  PLAIN.test(text) && text === text.trim() && !ENCODED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** Returns the headers that repeat what a request is, so that proxies need not read it. */
export function requestHeaders (method: string, params: Record<string, unknown> = {}): Record<string, string> {
  const name = Object.hasOwn(NAMED, method) ? params[NAMED[method]] : undefined
  return { 'mcp-method': method, ...typeof name === 'string' && { 'mcp-name': headerValue(name) } }
}

/** Returns the headers that repeat parts of a call's input, as `x-mcp-header` in the schema of its tool names them. */
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
