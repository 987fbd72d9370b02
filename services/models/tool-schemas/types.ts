import { isObject } from '../../lib/json.ts'
import type { Schema } from './flatten-schema.ts'

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array'

const TYPES: readonly JsonType[] = ['string', 'number', 'integer', 'boolean', 'object', 'array']
/** Names of these types in Python, Java and OpenAPI. */
const ALIASES: Record<string, JsonType> = {
  str: 'string',
  text: 'string',
  enum: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
  tuple: 'array',
  set: 'array'
}

const jsonType = (name: unknown): JsonType | undefined => {
  if (typeof name !== 'string') return undefined
  const small = name.toLowerCase()
  return TYPES.find((type) => type === small) ?? (Object.hasOwn(ALIASES, small) ? ALIASES[small] : undefined)
}

/** Returns the types that a schema names or that its keywords imply, and whether null is allowed. An empty list means any type. */
export function readTypes (node: Schema): { types: JsonType[], isNullable: boolean } {
  const listed = [node.type].flat()
  const isNullable = listed.some((name) => name === 'null' || name === 'NULL') || node.nullable === true
  const types = [...new Set(listed.flatMap((name) => jsonType(name) ?? []))]
  // The type `number` includes integers.
  const named = types.includes('number') ? types.filter((type) => type !== 'integer') : types
  return { types: named.length > 0 ? named : implied(node), isNullable }
}

const OF_NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

function implied ({ properties, required, items, prefixItems, ...node }: Schema): JsonType[] {
  if (isObject(properties) || (Array.isArray(required) && required.length > 0)) return ['object']
  if (isObject(items) || Array.isArray(items) || Array.isArray(prefixItems)) return ['array']
  if (node.enum !== undefined || Object.hasOwn(node, 'const')) return []
  if (['pattern', 'minLength', 'maxLength'].some((key) => node[key] !== undefined)) return ['string']
  return OF_NUMBERS.some((key) => node[key] !== undefined) ? ['number'] : []
}

/** Returns the type of a value that is not null. */
export function typeOfValue (value: unknown): JsonType {
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  const type: string = typeof value
  return TYPES.find((each) => each === type) ?? 'object'
}
