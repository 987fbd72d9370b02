import { Type } from '@sinclair/typebox'
import { ThreadId, UUID } from './ids.ts'

/** The longest text of a file, in characters. */
const LONGEST_TEXT = 10 * 1024 * 1024
/** The limit of a request body with such a text, in bytes. */
export const MOST_BUFFER = 4 * LONGEST_TEXT

const Editor = Type.String({ minLength: 1, maxLength: 100, description: 'A name for the editor, unique among the open ones' })

export const BufferRequestsSchema = Type.Object({
  requests: Type.Array(Type.Object({
    requestId: Type.String(),
    path: Type.String({ description: 'The real path of the file' })
  }))
}, { $id: 'BufferRequests', description: 'Files of which an editor is asked whether it has changes that are not saved' })

export const BuffersQuery = Type.Object({
  editor: Editor,
  waitMs: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 0,
    description: 'How long the answer may wait for a request; milliseconds'
  })
}, { additionalProperties: false })

export const BufferParams = Type.Object({
  id: ThreadId,
  requestId: Type.String({ pattern: UUID, description: 'The requestId of a request' })
})

export const BufferAnswerSchema = Type.Object({
  text: Type.Optional(Type.String({
    maxLength: LONGEST_TEXT,
    description: 'The text that the editor shows; absent where it does not have the file open'
  }))
}, {
  $id: 'BufferAnswer',
  additionalProperties: false,
  description: 'The text of a file as an editor shows it',
  examples: [{ text: 'Buy tea' }, {}]
})

export const BufferTakenSchema = Type.Object({ taken: Type.Boolean({ description: 'false: the answer came too late' }) }, {
  $id: 'BufferTaken',
  description: 'The outcome of an answer of an editor'
})
