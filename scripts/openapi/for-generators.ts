import { withComponentNames } from './component-names.ts'

type Json = any

const MAX_INT32 = 2 ** 31 - 1
/** The types that these properties have in OpenAI's API when they are not null. The service itself always sends null. */
const NULLS: Record<string, string> = { refusal: 'string', logprobs: 'object' }

/**
 * Returns an equivalent document that client generators for other languages can read: integers have a format, null is part of a type,
 * booleans are no constants, and streams are texts with their event schema in an extension. The TypeScript client is generated from the
 * original document, whose types are narrower.
 */
export function forGenerators (document: Json): Json {
  const { components, paths, ...rest } = document
  const { schemas, responses } = components
  return withComponentNames({
    ...rest,
    paths: plain(paths),
    components: { ...components, schemas: plain(schemas), responses: plain(responses) }
  })
}

function plain (value: Json, name = ''): Json {
  if (Array.isArray(value)) return value.map((each) => plain(each))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries<Json>(value).map(([key, each]): [string, Json] => {
    if (key === 'example' || key === 'examples' || key === 'default') return [key, each]
    if (key === 'text/event-stream') return [key, asText(each)]
    return [key, plain(each, key)]
  })
  return plainSchema(Object.fromEntries(entries), name)
}

/** Describes a stream as a text, because generated clients read it piece by piece. */
function asText ({ schema, ...content }: Json): Json {
  return { ...content, schema: { type: 'string' }, 'x-event-schema': plain(schema) }
}

function plainSchema (schema: Json, name: string): Json {
  if (typeof schema.const === 'boolean') {
    const { const: is, description, ...rest } = schema
    return { ...rest, type: 'boolean', description: [description, `Always ${is}`].filter(Boolean).join('. ') }
  }
  if (schema.type === 'null') return { ...schema, type: [NULLS[name] ?? 'string', 'null'] }
  if (Array.isArray(schema.anyOf)) return withoutNull(schema)
  if (isInteger(schema) && schema.format === undefined) return { ...schema, format: formatOf(schema) }
  return schema
}

const isInteger = ({ type }: Json) => type === 'integer' || (Array.isArray(type) && type.includes('integer'))
/** An integer without bounds might be a time in milliseconds, which needs more than 32 bits. */
const formatOf = ({ minimum = -Infinity, maximum = Infinity }: Json) => minimum >= -MAX_INT32 && maximum <= MAX_INT32 ? 'int32' : 'int64'

/** Replaces the member null of a union by adding null to the type of the first other member. */
function withoutNull ({ anyOf, ...rest }: Json): Json {
  const texts = anyOf.filter((each: Json) => each.type === 'string' && each.const !== undefined)
  if (texts.length > 1) return withoutNull({ anyOf: [enumOf(texts), ...anyOf.filter((each: Json) => !texts.includes(each))], ...rest })
  const isNull = ({ type, const: is, enum: values }: Json) =>
    is === null || (Array.isArray(type) && type.includes('null') && values === undefined)
  const others = anyOf.filter((each: Json) => !(isNull(each) && Object.keys(each).length === 1))
  if (others.length === anyOf.length) return anyOf.length === 1 ? { ...anyOf[0], ...rest } : { anyOf, ...rest }
  const [first, ...more] = others
  const open = first.anyOf === undefined ? orNull(first) : { ...first, anyOf: [orNull(first.anyOf[0]), ...first.anyOf.slice(1)] }
  return more.length === 0 ? { ...open, ...rest } : { anyOf: [open, ...more], ...rest }
}

const orNull = ({ type, enum: values, ...rest }: Json): Json =>
  ({ ...rest, type: [type, 'null'].flat(), ...values !== undefined && { enum: [...values, null] } })

const enumOf = (constants: Json[]): Json => ({ type: 'string', enum: constants.map(({ const: is }) => is) })
