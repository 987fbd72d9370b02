type Schema = Record<string, any> | boolean | undefined
const DEEPEST = 32

/** Returns the smallest value that a JSON schema allows: only required properties, first values of enums, empty texts and lists. */
export function smallestInstance (schema: Schema, root: Schema = schema, depth = 0): unknown {
  if (typeof schema !== 'object' || depth > DEEPEST) return null
  const next = (inner: Schema) => smallestInstance(inner, root, depth + 1)
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (typeof schema.$ref === 'string') return next(resolve(schema.$ref, root))
  const option = schema.anyOf?.[0] ?? schema.oneOf?.[0]
  if (option) return next(option)
  if (Array.isArray(schema.allOf)) return Object.assign({}, ...schema.allOf.map(next))

  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type ?? (schema.properties ? 'object' : undefined)
  if (type === 'object') {
    const required: string[] = schema.required ?? []
    return Object.fromEntries(required.map((name) => [name, next(schema.properties?.[name] ?? { type: 'string' })]))
  }
  if (type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => next(schema.items ?? { type: 'string' }))
  if (type === 'string') return '-'.repeat(schema.minLength ?? 0)
  if (type === 'number' || type === 'integer') return smallestNumber(schema)
  if (type === 'boolean') return false
  return null
}

function smallestNumber ({ minimum, exclusiveMinimum, maximum }: Record<string, any>): number {
  if (typeof minimum === 'number') return minimum
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1
  return typeof maximum === 'number' ? Math.min(0, maximum) : 0
}

function resolve (reference: string, root: Schema): Schema {
  return reference.split('/').slice(1).reduce<any>((at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], root)
}
