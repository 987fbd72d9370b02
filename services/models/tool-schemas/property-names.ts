import { isObject } from '../../lib/json.ts'
import type { Schema } from './flatten-schema.ts'
import { type Projected, projectSchema, type Wire } from './project-schema.ts'

/**
 * The names of properties that providers take. Anthropic says in its refusals "Property keys should match pattern
 * '^[a-zA-Z0-9_.-]{1,64}$'". Google: "must start with a letter or an underscore and must only contain chars a-z, A-Z, 0-9, or underscores
 * with a maximum length of 64" (FunctionDeclaration.parameters in the reference of Vertex AI). OpenAI documents no rule. Servers behind a
 * gateway or an unknown address may be any of them.
 */
const ANY_BUT_GOOGLE = /^[a-zA-Z0-9_.-]{1,64}$/
const EVERYWHERE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const LONGEST = 64

/** The name of a property as a provider gets it, and whether nothing of it was lost but punctuation. */
export interface GivenName {
  given: string
  isReadable: boolean
}

/**
 * Returns the names under which a provider gets the properties of an object: their own where it takes them. Another name is the same for
 * every provider, so that an input with it can be read whoever was given it.
 */
export function givenNames (names: readonly string[], wire: Wire): Map<string, GivenName> {
  const rule = wire === 'google' ? EVERYWHERE : ANY_BUT_GOOGLE
  const taken = new Set(names)
  const given = new Map<string, GivenName>()
  for (const name of names) {
    if (EVERYWHERE.test(name)) {
      given.set(name, { given: name, isReadable: true })
      continue
    }
    const plain = plainName(name)
    let free = plain.text
    for (let n = 2; taken.has(free); n++) free = `${plain.text.slice(0, LONGEST - String(n).length - 1)}_${n}`
    taken.add(free)
    given.set(name, rule.test(name) ? { given: name, isReadable: true } : { given: free, isReadable: plain.isWhole })
  }
  return given
}

/** Returns a name in the characters that every provider takes. */
function plainName (name: string): { text: string, isWhole: boolean } {
  const letters = name.normalize('NFKD').replace(/\p{M}/gu, '')
  const text = letters.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '')
  const isWhole = text !== '' && !/[^\P{L}A-Za-z]/u.test(letters) && text.length <= LONGEST
  const begun = /^\d/.test(text) ? `_${text}` : text
  return { text: (begun || 'field').slice(0, LONGEST), isWhole }
}

/**
 * Returns an input with the names of properties that the tool's schema has, where a provider got others. `schema` is the original.
 */
export function withOriginalNames (schema: object, input: unknown): unknown {
  // The two rules for names; what one of them leaves, the other may rename.
  return (['compatible', 'google'] as const).reduce((value, wire) => {
    const projected = projectSchema(schema, wire)
    return projected.renamed === undefined ? value : rename(value, projected.schema, projected.renamed)
  }, input)
}

/** Returns an input of an earlier call with the names of properties that a provider gets. */
export function withGivenNames ({ schema, renamed }: Projected, input: unknown): unknown {
  if (renamed === undefined) return input
  const inverse = new Map([...renamed].map(([node, names]) => [node, new Map([...names].map(([given, name]) => [name, given]))]))
  return rename(input, schema, inverse)
}

/** Returns a value with other names for the properties of its objects; `schema` says which objects they are. */
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

/** A schema, or the schemas of which it is any. */
const leaves = (schema: unknown): Schema[] =>
  !isObject(schema) ? [] : Array.isArray(schema.anyOf) ? [schema, ...schema.anyOf.flatMap(leaves)] : [schema]
