import { Type, type SchemaOptions, type Static, type TSchema } from '@sinclair/typebox'

/** The shared schemas that were passed to `ref`, by $id. */
const named = new Map<string, TSchema>()

/** Returns a reference to a shared schema by its $id, with the TypeScript type of the schema. */
export function ref<S extends TSchema> (schema: S) {
  named.set(schema.$id!, schema)
  return Type.Unsafe<Static<S>>(Type.Ref(schema.$id!))
}

/** The shared schemas that occur in a schema, by that schema. Each schema is searched once, for all routes that use it. */
const standingIn = new WeakMap<object, readonly TSchema[]>()

function schemasIn (schema: object): readonly TSchema[] {
  const known = standingIn.get(schema)
  if (known !== undefined) return known
  const found: TSchema[] = []
  const look = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const { $ref } = value as { $ref?: unknown }
    const schema = typeof $ref === 'string' ? named.get($ref) : undefined
    if (schema !== undefined) found.push(schema)
    for (const inner of Object.values(value)) look(inner)
  }
  look(schema)
  standingIn.set(schema, found)
  return found
}

/** Returns the shared schemas that the schemas of a route refer to, directly or through other shared schemas. */
export function namedIn (schema: object = {}): Set<TSchema> {
  const found = new Set(schemasIn(schema))
  for (const each of found) for (const inner of schemasIn(each)) found.add(inner)
  return found
}

/** Returns the schema of one of the given texts, as a union of constants. `about` is the description, or other keywords of the schema. */
export const oneOf = <const T extends string>(values: readonly T[], about: string | SchemaOptions = {}) =>
  Type.Union(values.map((value) => Type.Literal(value)), typeof about === 'string' ? { description: about } : about)

/** Returns the schema of one of the given texts, as an enumeration. */
export const enumOf = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...description !== undefined && { description } })

/** Integer milliseconds since the Unix epoch. */
export const Timestamp = Type.Integer({ description: 'Milliseconds since the Unix epoch' })

export const NoContent = Type.Null({ description: 'No content' })

/** The header with which a reader resumes an event stream. */
export const ResumeHeaders = Type.Object({
  'last-event-id': Type.Optional(Type.String({ description: 'The `id:` of the last event that the reader has got' }))
})

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A repeated request with the same key gets the first answer, for 24 hours; with another body it is a 422'
    })
  )
})
