import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../lib/json.ts'
import { flatten, isEmpty, type Place, type RefLimits, type Schema, withoutChoices } from './flatten-schema.ts'
import { givenNames } from './property-names.ts'
import { readKeywords, type KeywordRules, readWords, type Wire } from './keywords.ts'
import { type JsonType, readTypes, typeOfValue } from './types.ts'

/** A schema in the form that a provider gets. */
export interface Projected {
  schema: Schema
  /**
   * For each `properties` object in `schema`: the original names of its renamed properties, by their new names. Absent if none was renamed.
   */
  renamed?: ReadonlyMap<object, ReadonlyMap<string, string>>
}

const RULES: Record<Wire, KeywordRules> = {
  openai: { isPlain: false, keywords: 'all' },
  anthropic: { isPlain: false, keywords: 'all' },
  google: { isPlain: true, keywords: 'google' },
  compatible: { isPlain: true, keywords: 'few' }
}

/** The deepest nesting of subschemas that is kept. */
const DEEPEST = 16
/** The limits for replacing `$ref`s by their targets. They are tried in order until the projected schema is small enough. */
const LIMITS: readonly RefLimits[] = [{ same: 2, all: 32 }, { same: 1, all: 32 }, ...[3, 2, 1, 0].map((all) => ({ same: 1, all }))]
/** The largest projected schema, in characters of JSON: `LARGER` times the size of the original, or `LARGE` if that is more. */
const LARGER = 1.5
const LARGE = 4_000

interface State {
  wire: Wire
  rules: KeywordRules
  renamed: Map<object, ReadonlyMap<string, string>>
  /**
   * Roughly the number of characters that can still be added to the projected schema. Below 0, the attempt with these limits is given up.
   */
  room: number
}

const known = new WeakMap<object, Partial<Record<Wire, Projected>>>()

/**
 * Returns the schema of a tool's input in the form that a provider accepts: an object without `anyOf`, `oneOf` and `allOf` at the root, no
 * `$ref`s, only keywords and property names that the provider accepts. The result allows everything that the original allows, and perhaps
 * more: the original checks inputs. The same `original` always gives the same object. Its `schema` is `original` if nothing has to be
 * changed.
 */
export function projectSchema (original: object, wire: Wire): Projected {
  const of = known.get(original) ?? {}
  known.set(original, of)
  const projected = of[wire] ?? project(original as Schema, wire)
  of[wire] = projected
  return projected
}

function project (original: Schema, wire: Wire): Projected {
  try {
    const text = JSON.stringify(original)
    // Values that JSON cannot hold are dropped: with them, the result would differ after a restart.
    const root = JSON.parse(text) as Schema
    const room = Math.max(LARGE, text.length * LARGER)
    for (const limits of LIMITS) {
      const isLast = limits === LIMITS.at(-1)
      const state: State = { wire, rules: RULES[wire], renamed: new Map(), room: isLast ? Infinity : room }
      const schema = objectAtTop({ root, limits, refs: [] }, state)
      if (!isLast && (state.room < 0 || JSON.stringify(schema).length > room)) continue
      if (state.renamed.size > 0) return { schema, renamed: state.renamed }
      return { schema: isDeepStrictEqual(schema, root) ? original : schema }
    }
  } catch {
    // The schema is nested too deeply for the call stack.
  }
  return { schema: { type: 'object', properties: {} } }
}

function objectAtTop (place: Place, state: State): Schema {
  const { node, refs } = flatten(place.root, place)
  const whole = withoutChoices(node, (variant) => flatten(variant, { ...place, refs }).node)
  const { enum: _enum, const: _const, default: _default, nullable: _nullable, ...rest } = whole
  const properties = isObject(rest.properties) ? rest.properties : {}
  const schema = objectOf({ ...rest, properties }, { ...place, refs }, { state, depth: 0 })
  return { type: 'object', ...schema }
}

interface Context {
  state: State
  depth: number
  /** True if the value cannot be left out, such as a required property: then null has to stay possible. */
  isNeeded?: boolean
}

/** Returns a subschema in the form that a provider accepts; undefined if it allows no value. */
function schemaOf (value: unknown, place: Place, context: Context): Schema | undefined {
  const { state, depth } = context
  if (value === false) return undefined
  state.room -= 8
  if (state.room < 0) return {}
  const { node, refs } = flatten(value, place)
  const here = { ...place, refs }
  const read = readTypes(node)
  const words = readWords(node, state.rules)
  if (depth > DEEPEST) return nullable({ ...single(read.types), ...words }, read.isNullable, context)
  const choices = [node.anyOf, node.oneOf].find((list): list is unknown[] => Array.isArray(list) && list.length > 0)
  if (choices !== undefined) return choiceOf(node, choices, here, context)
  const values = valuesOf(node)
  if (values !== undefined) return enumOf(node, values, context)
  const schemas = read.types.map((type) => typedOf(type, node, here, context))
  return nullable(joined(schemas, words, state), read.isNullable, context)
}

const single = (types: readonly JsonType[]): Schema => types.length === 1 ? { type: types[0] } : {}

/** Returns one schema for alternative types: an `anyOf` for providers that accept one type in a schema, a list of types for the others. */
function joined (schemas: readonly Schema[], words: Schema, { rules, wire }: State): Schema {
  if (schemas.length === 0) return wire === 'google' ? wordsInFirst(anyOfTypes(), words) : words
  if (schemas.length === 1) return { ...schemas[0], ...words }
  if (rules.isPlain) return wire === 'google' ? wordsInFirst(schemas, words) : { ...words, anyOf: schemas }
  return { ...Object.assign({}, ...schemas), type: schemas.map(({ type }) => type), ...words }
}

/** Returns the choices for a value of any type, because Google has no schema for such a value. */
const anyOfTypes = (): Schema[] => [
  ...['string', 'number', 'boolean', 'object'].map((type) => ({ type })),
  { type: 'array', items: { type: 'string' } }
]

/**
 * Returns an `anyOf` with the title and description in its first choice. Google accepts no field beside `anyOf` ("When using any_of, it
 * must be the only field set").
 */
function wordsInFirst ([first, ...others]: readonly Schema[], words: Schema): Schema {
  return { anyOf: [{ ...first, ...words, ...first.description !== undefined && { description: first.description } }, ...others] }
}

/**
 * Returns the schema, with null allowed if `isNullable`. Providers that accept one type in a schema get null only if the value cannot be
 * left out.
 */
function nullable (schema: Schema, isNullable: boolean, { state, isNeeded }: Context): Schema {
  if (!isNullable) return schema
  if (!state.rules.isPlain) {
    if (isEmpty(schema)) return schema
    if (schema.anyOf !== undefined) return { ...schema, anyOf: [...schema.anyOf as Schema[], { type: 'null' }] }
    const types = [schema.type].flat().filter((type) => type !== undefined)
    if (types.length === 0) return schema
    return { ...schema, type: [...types, 'null'], ...Array.isArray(schema.enum) && { enum: [...schema.enum, null] } }
  }
  // Instead of setting an optional property to null, the model leaves it out.
  if (!isNeeded) return schema
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  return schema.type === undefined ? schema : { anyOf: [schema, { type: 'null' }] }
}

const isNull = (variant: unknown) =>
  isObject(variant) && ([variant.type].flat().every((type) => type === 'null') || variant.const === null) && variant.anyOf === undefined

function choiceOf (node: Schema, choices: readonly unknown[], place: Place, context: Context): Schema | undefined {
  const { anyOf: _anyOf, oneOf: _oneOf, ...beside } = node
  const { state, depth } = context
  const isNullable = choices.some(isNull) || readTypes(beside).isNullable
  const variants = choices.filter((each) => !isNull(each))
  const below = { state, depth: depth + 1, isNeeded: true }
  if (variants.length === 0) return schemaOf({ ...beside, type: 'null' }, place, context)
  // If the schema has properties of its own, its choices mostly say which of these properties go together.
  if (isObject(beside.properties)) {
    return schemaOf(withoutChoices(node, (each) => flatten(each, place).node), place, context)
  }
  const words = readWords(beside, state.rules)
  const { title: _title, description: _description, default: _default, ...kept } = beside
  const found = variants.map((each) => schemaOf(isObject(each) ? { ...kept, ...each } : each, place, below))
    .filter((each) => each !== undefined)
  const different = found.filter((each, at) => found.findIndex((other) => isDeepStrictEqual(other, each)) === at)
  if (different.length === 0) return undefined
  if (different.some(isEmpty)) return joined([], words, state)
  const merged = withOneEnum(different)
  const flat = merged.flatMap((each) => Object.keys(each).length === 1 && Array.isArray(each.anyOf) ? each.anyOf as Schema[] : [each])
  return nullable(flat.length === 1 ? { ...flat[0], ...words } : joinedChoices(flat, words, state), isNullable, context)
}

const joinedChoices = (schemas: readonly Schema[], words: Schema, { wire }: State): Schema =>
  wire === 'google' ? wordsInFirst(schemas, words) : { ...words, anyOf: [...schemas] }

/** Merges all schemas that only list strings into one schema, which comes first. Returns it with the other schemas. */
function withOneEnum (schemas: readonly Schema[]): Schema[] {
  const lists = schemas.filter((each) => each.type === 'string' && Array.isArray(each.enum) && Object.keys(each).length === 2)
  if (lists.length < 2) return [...schemas]
  const values = [...new Set(lists.flatMap((each) => each.enum as unknown[]))]
  return [{ type: 'string', enum: values }, ...schemas.filter((each) => !lists.includes(each))]
}

/** Returns the values that a schema lists in `enum` or `const`; undefined if it lists none. */
function valuesOf (node: Schema): unknown[] | undefined {
  if (Array.isArray(node.enum) && node.enum.length > 0) return node.enum
  return Object.hasOwn(node, 'const') ? [node.const] : undefined
}

/** The most characters of a description that lists the values of an enum. */
const LONGEST_VALUES = 400

function enumOf (node: Schema, listed: readonly unknown[], context: Context): Schema {
  const { state } = context
  const { types, isNullable } = readTypes(node)
  const fit = listed.filter((value) => value !== null && (types.length === 0 || types.some((type) => isOfType(value, type))))
  const all = fit.length > 0 ? fit : listed.filter((value) => value !== null)
  const values = all.filter((value, at) => all.findIndex((other) => isDeepStrictEqual(other, value)) === at)
  const mayBeNull = listed.includes(null) && (isNullable || types.length === 0 || values.length === 0)
  const words = readWords(node, state.rules)
  if (values.length === 0) return nullable({ type: 'null', ...words }, false, context)
  const byType = [...new Set(values.map(typeOfValue))].map((type): Schema => {
    const some = values.filter((value) => typeOfValue(value) === type)
    // Google accepts an enum only if its values are strings and none is empty.
    if (state.wire !== 'google') return { type, enum: some, ...type === 'array' && { items: {} } }
    if (type === 'string' && !some.includes('')) return { type, enum: some }
    const description = `One of ${some.map((value) => JSON.stringify(value)).join()}`.slice(0, LONGEST_VALUES)
    return { type, ...type === 'array' && { items: { type: 'string' } }, description }
  })
  if (byType.length > 1 && !state.rules.isPlain) {
    const type = byType.map((each) => each.type)
    return nullable({ type, enum: values, ...words }, mayBeNull, context)
  }
  const [first] = byType
  const described = [words.description, first.description].filter(Boolean).join(' ')
  const schema = byType.length === 1
    ? { ...first, ...words, ...described && { description: described } }
    : joinedChoices(byType, words, state)
  return nullable(schema, mayBeNull, context)
}

const isOfType = (value: unknown, type: JsonType) =>
  typeOfValue(value) === type || (type === 'number' && typeof value === 'number')

/** Returns the part of a schema for one of its types, with the keywords of that type. */
function typedOf (type: JsonType, node: Schema, place: Place, context: Context): Schema {
  const { state, depth } = context
  if (type === 'object') return { type, ...objectOf(node, place, { state, depth }) }
  const keywords = readKeywords(type, node, state.rules)
  if (type !== 'array') return { type, ...keywords }
  return { type, ...keywords, items: itemsOf(node, place, context) }
}

function itemsOf (node: Schema, place: Place, { state, depth }: Context): Schema {
  const given = [node.prefixItems, node.items].find(Array.isArray)
  const below = { state, depth: depth + 1, isNeeded: true }
  const some = given ?? (node.items === undefined ? [] : [node.items])
  const schema = some.length === 0 ? {} : schemaOf(some.length === 1 ? some[0] : { anyOf: some }, place, below) ?? {}
  // OpenAI and Google refuse arrays without a schema of their items.
  return isEmpty(schema) && state.wire === 'google' ? { type: 'string' } : schema
}

/** Returns the keywords of an object schema in the form that a provider accepts, without `type`. */
function objectOf (node: Schema, place: Place, { state, depth }: Context): Schema {
  const words = depth === 0 ? readWords(node, state.rules) : {}
  const schema: Schema = { ...words, ...readKeywords('object', node, state.rules) }
  const properties = isObject(node.properties) ? node.properties : undefined
  const required = requiredOf(node)
  const names = [...new Set([...Object.keys(properties ?? {}), ...required])]
  const given = givenNames(names, state.wire)
  const entries = names.flatMap((name): Array<[string, Schema]> => {
    const value = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : {}
    const each = schemaOf(value, place, { state, depth: depth + 1, isNeeded: required.includes(name) })
    if (each === undefined) return []
    state.room -= name.length + JSON.stringify(each.description ?? '').length
    const { given: as, isReadable } = given.get(name)!
    return [[as, isReadable ? each : named(each, name)]]
  })
  if (properties !== undefined || names.length > 0) schema.properties = Object.fromEntries(entries)
  const shown = new Set(entries.map(([name]) => name))
  const needed = required.map((name) => given.get(name)!.given).filter((name) => shown.has(name))
  if (needed.length > 0 || (Array.isArray(node.required) && node.required.length === 0 && !state.rules.isPlain)) schema.required = needed
  if (state.wire !== 'google') {
    const further = node.additionalProperties
    if (typeof further === 'boolean') schema.additionalProperties = further
    else if (isObject(further)) schema.additionalProperties = schemaOf(further, place, { state, depth: depth + 1, isNeeded: true }) ?? false
  }
  const renamed = [...given].filter(([name, { given: as }]) => as !== name && shown.has(as))
  if (renamed.length > 0) state.renamed.set(schema.properties as object, new Map(renamed.map(([name, { given: as }]) => [as, name])))
  return schema
}

/** Returns the names of the required properties. In JSON Schema draft 3, a property's own schema has `required: true`. */
function requiredOf ({ required, properties }: Schema): string[] {
  const named = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  const saying = isObject(properties) ? Object.keys(properties).filter((name) => properties[name]?.required === true) : []
  return [...new Set([...named, ...saying])]
}

/** Adds a property's original name to its description. For properties whose name for the provider cannot be understood. */
function named (schema: Schema, name: string): Schema {
  if (Array.isArray(schema.anyOf) && Object.keys(schema).length === 1) return schema
  const { description } = schema
  return { ...schema, description: typeof description === 'string' ? `${name}: ${description}` : name }
}
