import { isObject } from '../../lib/json.ts'

export type Schema = Record<string, unknown>

/**
 * How many `$ref`s are followed on one path through a schema: `same` limits one and the same reference, `all` limits all references
 * together.
 */
export interface RefLimits {
  same: number
  all: number
}

/**
 * The place of a subschema: the root schema in which its `$ref`s are resolved, and the references that were followed from the root to the
 * subschema.
 */
export interface Place {
  root: Schema
  limits: RefLimits
  refs: readonly string[]
}

/** The deepest nesting of `allOf`, and of choices (`anyOf` and `oneOf`), that is merged. */
const DEEPEST_ALL_OF = 12
const DEEPEST_CHOICES = 4

/**
 * Resolves the `$ref` and merges the `allOf` at the top level of a schema. Returns the new schema and the references that were followed. A
 * `$ref` beyond the limits, as in a recursive schema, is replaced by the type, title and description of its target. A `value` that is not
 * an object, such as `true`, becomes the empty schema, which allows everything.
 */
export function flatten (value: unknown, place: Place, depth = 0): { node: Schema, refs: readonly string[] } {
  if (!isObject(value)) return { node: {}, refs: place.refs }
  let node: Schema = value
  let { refs } = place
  if (typeof node.$ref === 'string') {
    const { $ref, ...beside } = node
    const target = find($ref as string, place.root)
    const isFar = refs.length >= place.limits.all || refs.filter((each) => each === $ref).length >= place.limits.same
    if (target === undefined || isFar || depth > DEEPEST_ALL_OF) return { node: { ...outline(target), ...beside }, refs }
    const flat = flatten(target, { ...place, refs: [...refs, $ref as string] }, depth + 1)
    refs = flat.refs
    node = { ...flat.node, ...beside, ...bothProperties(flat.node, beside) }
  }
  if (!Array.isArray(node.allOf)) return { node, refs }
  const { allOf, ...own } = node
  if (depth > DEEPEST_ALL_OF) return { node: own, refs }
  const parts = allOf.map((part) => flatten(part, { ...place, refs }, depth + 1))
  return {
    node: parts.reduce((whole, part) => intersect(whole, part.node), own),
    refs: [...new Set(parts.flatMap((part) => part.refs).concat(refs))]
  }
}

/**
 * Resolves a `$ref` within the root schema: `#`, a JSON Pointer such as `#/$defs/name` (RFC 6901), or the `$anchor`, `$id` or `id` of a
 * definition. Returns undefined if there is no such schema.
 */
function find (ref: string, root: Schema): Schema | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#')) return undefined
  if (!ref.startsWith('#/')) {
    const definitions = [root.$defs, root.definitions].flatMap((each) => isObject(each) ? Object.values(each) : [])
    return definitions.find((each): each is Schema => isObject(each) && [each.$anchor, each.$id, each.id].includes(ref)) ??
      definitions.find((each): each is Schema => isObject(each) && each.$anchor === ref.slice(1))
  }
  let target: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(target)) target = target[Number(key)]
    else target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  return isObject(target) ? target : undefined
}

function decoded (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the type, title and description of a schema, which stand for a `$ref` that is not followed. */
function outline (target: Schema | undefined): Schema {
  if (target === undefined) return {}
  const { type = isObject(target.properties) ? 'object' : undefined, title, description } = target
  return { ...type !== undefined && { type }, ...title !== undefined && { title }, ...description !== undefined && { description } }
}

const bothProperties = (a: Schema, b: Schema): Schema =>
  isObject(a.properties) && isObject(b.properties) ? { properties: { ...a.properties, ...b.properties } } : {}

const listOf = (value: unknown): unknown[] => Array.isArray(value) ? value : value === undefined ? [] : [value]

/**
 * Returns a schema for the values that both schemas allow. A keyword that cannot be merged is taken from `a`: the original schema checks
 * the input anyway.
 */
function intersect (a: Schema, b: Schema): Schema {
  const joined: Schema = { ...b, ...a }
  if (isObject(a.properties) && isObject(b.properties)) {
    const properties = new Map<string, unknown>(Object.entries(a.properties))
    for (const [name, schema] of Object.entries(b.properties)) {
      const own = properties.get(name)
      // A property that only one of the schemas describes has no restriction in the other one.
      properties.set(name, own === undefined || isEmpty(own) ? schema : isEmpty(schema) ? own : { allOf: [own, schema] })
    }
    joined.properties = Object.fromEntries(properties)
  }
  const required = [...listOf(a.required), ...listOf(b.required)]
  if (Array.isArray(a.required) || Array.isArray(b.required)) joined.required = [...new Set(required)]
  if (a.type !== undefined && b.type !== undefined) {
    const types = listOf(b.type)
    const shared = listOf(a.type).filter((type) => types.includes(type) || (type === 'integer' && types.includes('number')))
    joined.type = shared.length === 0 ? a.type : shared.length === 1 ? shared[0] : shared
  }
  if (Array.isArray(a.enum) && Array.isArray(b.enum)) joined.enum = a.enum.filter((value) => listOf(b.enum).includes(value))
  return joined
}

/** True if a schema allows everything. */
export const isEmpty = (schema: unknown): boolean => schema === true || (isObject(schema) && Object.keys(schema).length === 0)

/**
 * Merges the choices (`anyOf` and `oneOf`) of an object schema into the schema. The result has the properties of all choices, and requires
 * those that the schema itself or all its choices require. Its description lists the required properties in which the choices differ.
 * `flat` resolves the `$ref` and `allOf` of a choice.
 */
export function withoutChoices (node: Schema, flat: (variant: unknown) => Schema, depth = 0): Schema {
  const { anyOf, oneOf, ...own } = node
  if (depth > DEEPEST_CHOICES) return own
  const lists = [anyOf, oneOf].filter(Array.isArray).map((list) => list.map((each) => withoutChoices(flat(each), flat, depth + 1)))
  return lists.reduce((whole, variants) => {
    const objects = variants.filter(({ type, properties, required }) =>
      isObject(properties) || Array.isArray(required) || listOf(type).includes('object'))
    if (objects.length === 0) return whole
    const required = objects.map((each) => listOf(each.required))
    const common = required[0].filter((name) => required.every((names) => names.includes(name)))
    const further = required.map((names) => names.filter((name) => !common.includes(name)))
    const { additionalProperties: _closed, ...open } = whole
    const joined = {
      ...objects.some(({ additionalProperties }) => additionalProperties !== false) ? open : whole,
      properties: { ...unionOf(objects), ...isObject(whole.properties) ? whole.properties : {} },
      required: [...new Set([...listOf(whole.required), ...common])]
    }
    return described(joined, further)
  }, own as Schema)
}

/** Returns the properties of several object schemas. If a property differs between them, its schema is an `anyOf`. */
function unionOf (objects: readonly Schema[]): Schema {
  const found = new Map<string, unknown[]>()
  for (const { properties } of objects) {
    for (const [name, schema] of isObject(properties) ? Object.entries(properties) : []) {
      const known = found.get(name) ?? []
      const text = JSON.stringify(schema)
      if (!known.some((each) => JSON.stringify(each) === text)) known.push(schema)
      found.set(name, known)
    }
  }
  return Object.fromEntries([...found].map(([name, schemas]) => [name, schemas.length === 1 ? schemas[0] : { anyOf: schemas }]))
}

const MOST_CHOICES = 12

function described (schema: Schema, choices: readonly unknown[][]): Schema {
  const named = [...new Set(choices.map((names) => names.map(String).join(', ')))]
  if (named.length < 2 || named.includes('') || named.length > MOST_CHOICES) return schema
  const before = typeof schema.description === 'string' && schema.description !== '' ? `${schema.description} ` : ''
  return { ...schema, description: `${before}Give one of these: ${named.join('; or ')}.` }
}
