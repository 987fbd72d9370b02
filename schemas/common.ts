import { Type, type SchemaOptions, type Static, type TSchema } from '@sinclair/typebox'

/** The schemas that `ref` has named, by $id. */
const named = new Map<string, TSchema>()

/** Returns a reference to a shared schema by its $id, with the TypeScript type of the schema. */
export function ref<S extends TSchema> (schema: S) {
  named.set(schema.$id!, schema)
  return Type.Unsafe<Static<S>>(Type.Ref(schema.$id!))
}

/** The named schemas that stand in a schema, read once for all routes with it. */
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

/** Returns the schemas that `ref` has named in the schemas of a route, and in those schemas. */
export function namedIn (schema: object = {}): Set<TSchema> {
  const found = new Set(schemasIn(schema))
  for (const each of found) for (const inner of schemasIn(each)) found.add(inner)
  return found
}

/** One of some texts, as a union of constants. `about` is the description, or what else the schema holds. */
export const oneOf = <const T extends string>(values: readonly T[], about: string | SchemaOptions = {}) =>
  Type.Union(values.map((value) => Type.Literal(value)), typeof about === 'string' ? { description: about } : about)

/** One of some texts, as an enumeration. */
export const enumOf = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...description !== undefined && { description } })

/** Integer milliseconds since the Unix epoch. */
export const Timestamp = Type.Integer({ description: 'Milliseconds since the Unix epoch' })

export const NoContent = Type.Null({ description: 'No content' })

/** The header of requests that take effect once, however often they are sent. */
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
