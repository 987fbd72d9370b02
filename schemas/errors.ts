import { Type, type Static } from '@sinclair/typebox'
import { ref } from './common.ts'
import { ReplacedChangesSchema } from './undo.ts'

/** The invalid values, by JSON Pointer. */
export const ErrorDetails = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))

/** The body of every error response. */
export const ErrorSchema = Type.Object({
  error: Type.String({ description: 'A sentence that says what went wrong and what to do' }),
  code: Type.String({ description: 'Stable machine-readable code; the examples are all codes of this version' }),
  statusCode: Type.Integer(),
  details: Type.Optional(ErrorDetails),
  changes: Type.Optional(ref(ReplacedChangesSchema)),
  stderr: Type.Optional(Type.String({ description: 'The latest stderr output of a tool server that could not be connected' }))
}, { $id: 'Error', description: 'The body of every error response' })
export type ErrorBody = Static<typeof ErrorSchema>

export const ErrorRef = ref(ErrorSchema)
