/** What a model need not be told of the service's own tools: an input beyond them is an error that says so. */
const UNTOLD = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'pattern', 'additionalProperties']

/** Returns a schema without the keywords of UNTOLD, and a choice of texts as their list. Properties of these names stay. */
export function brief<S> (schema: S, isProperties = false): S {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map((each) => brief(each)) as S
  const { anyOf, ...rest } = schema as { anyOf?: Array<{ const?: unknown }> }
  if (!isProperties && Array.isArray(anyOf) && anyOf.every((each) => typeof each?.const === 'string')) {
    return { type: 'string', enum: anyOf.map((each) => each.const), ...rest } as S
  }
  const kept = Object.entries(schema).filter(([key]) => isProperties || !UNTOLD.includes(key))
  return Object.fromEntries(kept.map(([key, value]) => [key, brief(value, !isProperties && key === 'properties')])) as S
}
