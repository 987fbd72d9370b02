import { isObject } from '../../lib/json.ts'
import type { Schema } from './flatten-schema.ts'
import { type Projected, projectSchema } from './project-schema.ts'

/**
 * Returns the input of a call with the original property names in place of the names that a provider got. `schema` is the tool's original
 * schema.
 */
export function withOriginalNames (schema: object, input: unknown): unknown {
  // There are two sets of rules for names, so a property can have had either of two names.
  return (['compatible', 'google'] as const).reduce((value, wire) => {
    const projected = projectSchema(schema, wire)
    return projected.renamed === undefined ? value : rename(value, projected.schema, projected.renamed)
  }, input)
}

/** Returns the input of an earlier call with the property names that the provider of this request gets. */
export function withGivenNames ({ schema, renamed }: Projected, input: unknown): unknown {
  if (renamed === undefined) return input
  const inverse = new Map([...renamed].map(([node, names]) => [node, new Map([...names].map(([given, name]) => [name, given]))]))
  return rename(input, schema, inverse)
}

/** Returns a value with its properties renamed, at any depth. `schema` describes the value. */
function rename (value: unknown, schema: unknown, renamed: NonNullable<Projected['renamed']>): unknown {
  const nodes = leaves(schema)
  if (Array.isArray(value)) {
    const items = nodes.find((node) => isObject(node.items))?.items
    return items === undefined ? value : value.map((each) => rename(each, items, renamed))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => {
    for (const node of nodes) {
      const properties = isObject(node.properties) ? node.properties : {}
      const names = [...renamed.get(properties) ?? []]
      const other = names.find(([from]) => from === key)?.[1]
      const known = [key, other, names.find(([, to]) => to === key)?.[0]]
        .find((name) => name !== undefined && Object.hasOwn(properties, name))
      if (known === undefined) continue
      const isFree = other !== undefined && !Object.hasOwn(value, other)
      return [isFree ? other : key, rename(each, properties[known], renamed)]
    }
    const further = nodes.find((node) => isObject(node.additionalProperties))?.additionalProperties
    return [key, further === undefined ? each : rename(each, further, renamed)]
  }))
}

/** Returns the schema and all choices (`anyOf`) within it. */
const leaves = (schema: unknown): Schema[] =>
  !isObject(schema) ? [] : Array.isArray(schema.anyOf) ? [schema, ...schema.anyOf.flatMap(leaves)] : [schema]
