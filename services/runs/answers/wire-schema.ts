import { isObject } from '../../lib/json.ts'
import type { Schema } from './compile-object-schema.ts'

/**
 * The limits for expanding a `$ref`: the number of schemas and their depth. A schema beyond these limits is replaced by one that accepts
 * everything.
 */
const MAX_SCHEMAS = 1_000
const MAX_DEPTH = 24
/** The property that contains the answer if the root of the schema is not a plain object. */
export const WRAPPER = 'value'

/** JSON Schema keywords that are sent to providers unchanged, and keywords that do not restrict a value. */
const SENT = ['title', 'description', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems']
const SILENT = ['$defs', 'definitions', '$comment', 'default', 'examples', '$schema', '$id']

/** A schema in the form that is sent to providers. */
export interface WireSchema {
  schema: Schema
  /** Whether the model writes an object whose property WRAPPER is the answer. */
  isWrapped: boolean
  /** Whether the schema is as strict as the original one. */
  isExact: boolean
}

/**
 * Returns a schema that accepts everything that the given schema accepts, and perhaps more. It uses only the part of JSON Schema that
 * providers accept for the parameters of a tool: a plain object at the root, and no `$ref`, lists of types, `oneOf`, `allOf`, `not` or
 * conditions. Providers refuse a whole request because of one unknown keyword.
 */
export function wireSchema (root: Schema): WireSchema {
  let schemas = 0
  let isExact = true
  const leftOpen = (shown: Schema = {}): Schema => {
    isExact = false
    return shown
  }

  function convert (given: unknown, refs: readonly string[]): Schema {
    if (!isObject(given)) return given === true ? {} : leftOpen()
    if (++schemas > MAX_SCHEMAS || refs.length > MAX_DEPTH) return leftOpen(textsOf(given))
    const { $ref, allOf, ...own } = given
    if (typeof $ref === 'string') return followed($ref, own, refs)
    if (Array.isArray(allOf)) {
      isExact = false
      return convert(united([own, ...allOf.map((each) => targetOf(each) ?? each)]), [...refs, ''])
    }
    const shown = textsOf(own)
    const anyOf = (forms: unknown[]): Schema => ({ ...shown, anyOf: forms.map((each) => convert(each, [...refs, ''])) })
    if (Array.isArray(own.type)) return anyOf(own.type.map((type) => ({ ...own, ...NO_TEXTS, type })))
    const forms = own.anyOf ?? own.oneOf
    if (!Array.isArray(forms)) return ofType(own, refs)
    // Beside `anyOf`, providers accept only `title` and `description`.
    if (own.anyOf === undefined || Object.keys(own).length > 1 + Object.keys(shown).length) isExact = false
    return anyOf(forms)
  }

  function ofType (given: Schema, refs: readonly string[]): Schema {
    const { properties, required, items, additionalProperties, enum: values, const: only, type = typeFor(given), ...rest } = given
    if (Object.keys(rest).some((keyword) => !SENT.includes(keyword) && !SILENT.includes(keyword))) isExact = false
    const inner = (each: unknown) => convert(each, [...refs, ''])
    return {
      ...(type !== undefined && { type }),
      ...pick(rest, SENT),
      ...enumOf(only === undefined ? values : [only]),
      ...(isObject(properties) && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, inner(each)]))
      }),
      ...(Array.isArray(required) && required.length > 0 && { required }),
      // `patternProperties` is not sent, but the properties that it allows must stay allowed.
      ...(additionalProperties !== undefined && rest.patternProperties === undefined && {
        additionalProperties: isObject(additionalProperties) ? inner(additionalProperties) : additionalProperties
      }),
      ...(type === 'array' && { items: Array.isArray(items) || rest.prefixItems !== undefined ? leftOpen() : inner(items ?? true) })
    }
  }

  /** Returns `enum` if all its values are strings, because Google accepts no others; else a schema that accepts everything. */
  function enumOf (values: unknown): Schema {
    if (!Array.isArray(values)) return {}
    return values.every((value) => typeof value === 'string') ? { type: 'string', enum: values } : leftOpen()
  }

  function targetOf (given: unknown): Schema | undefined {
    if (!isObject(given) || typeof given.$ref !== 'string' || !given.$ref.startsWith('#/')) return undefined
    const keys = given.$ref.slice(2).split('/').map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'))
    const found = keys.reduce<unknown>((at, key) => isEntered(at) && Object.hasOwn(at, key) ? at[key] : undefined, root)
    return isObject(found) ? found : undefined
  }

  /** Resolves a `$ref`. A schema that contains itself is cut where it occurs again. */
  function followed ($ref: string, beside: Schema, refs: readonly string[]): Schema {
    const found = targetOf({ $ref })
    if (found !== undefined && !refs.includes($ref)) return convert(united([found, beside]), [...refs, $ref])
    const type = typeof found?.type === 'string' ? found.type : undefined
    return leftOpen({ ...(type !== undefined && { type }), ...(type === 'array' && { items: {} }), ...textsOf(beside) })
  }

  // The answer is an object, even if the schema also accepts other types.
  const schema = convert(Array.isArray(root.type) ? { ...root, type: 'object' } : root, [])
  if (schema.type === 'object') return { schema: { properties: {}, ...schema }, isWrapped: false, isExact }
  const wrapped = { type: 'object', properties: { [WRAPPER]: schema }, required: [WRAPPER], additionalProperties: false }
  return { schema: wrapped, isWrapped: true, isExact }
}

/** Merges schemas that must all be met into one: `properties` and `required` are merged; of each other keyword, the last value counts. */
function united (schemas: unknown[]): Schema {
  const whole: Schema = {}
  const parts = schemas.filter(isObject)
  for (const [keyword, value] of parts.flatMap((each) => Object.entries(each))) {
    const before = whole[keyword]
    if (keyword === 'properties' && isObject(before) && isObject(value)) whole[keyword] = { ...before, ...value }
    else if (keyword === 'required' && Array.isArray(before) && Array.isArray(value)) whole[keyword] = [...new Set([...before, ...value])]
    else whole[keyword] = value
  }
  // A part with `additionalProperties: false` would forbid the properties of the other parts.
  const isSplit = parts.filter(({ properties }) => properties !== undefined).length > 1
  if (isSplit && whole.additionalProperties === false) delete whole.additionalProperties
  return whole
}

const NO_TEXTS = { title: undefined, description: undefined }
const isEntered = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const pick = (from: Schema, keywords: string[]): Schema =>
  Object.fromEntries(keywords.flatMap((keyword) => from[keyword] === undefined ? [] : [[keyword, from[keyword]]]))
const textsOf = (schema: Schema): Schema => pick(schema, ['title', 'description'])

function typeFor (given: Schema): string | undefined {
  if ('properties' in given || 'additionalProperties' in given) return 'object'
  return 'items' in given ? 'array' : undefined
}
