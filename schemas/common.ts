import { Type, type Static, type TSchema } from '@sinclair/typebox'

/** Returns a reference to a shared schema by its $id, with the TypeScript type of the schema. */
export function ref<S extends TSchema> (schema: S) {
  return Type.Unsafe<Static<S>>(Type.Ref(schema.$id!))
}

/** Integer milliseconds since the Unix epoch. */
export const Timestamp = Type.Integer({ description: 'Milliseconds since the Unix epoch' })

export const NoContent = Type.Null({ description: 'No content' })

/** The header of requests that take effect once, however often they are sent. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A repeated request with the same key gets the first answer, for 24 hours; with another body it is a 422'
    })
  )
})
