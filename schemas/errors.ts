import { Type, type Static } from '@sinclair/typebox'
import { ref } from './common.ts'
import * as examples from './examples/service.ts'

/** The one shape of every error answer. */
export const ErrorSchema = Type.Object({
  error: Type.String({ description: 'A sentence a person can act on' }),
  code: Type.String({ description: 'Stable machine-readable code, ERR_…' }),
  statusCode: Type.Integer(),
  details: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  stderr: Type.Optional(Type.String({ description: 'Of a tool server that could not be connected: the last it wrote to stderr' }))
}, { $id: 'Error', description: 'The one shape of every error', examples: [examples.error] })
export type ErrorBody = Static<typeof ErrorSchema>

export const ErrorRef = ref(ErrorSchema)
