import { type Static, Type } from '@sinclair/typebox'

/** Bytes of one attachment. */
export const MOST_BYTES = 25 * 1024 * 1024

const Digest = Type.String({ pattern: '^[0-9a-f]{32}$', description: 'The digest in the address of an attachment' })

/** The header with the name of an uploaded file, percent-encoded: headers hold no other letters than those of ASCII. */
export const NAME_HEADER = 'x-filename'
export const UploadHeaders = Type.Object({
  [NAME_HEADER]: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'The name of the file, percent-encoded: `report%20%C3%A4.docx`' })
  )
})

export const AttachmentParams = Type.Object({ digest: Digest })

export const AttachmentSchema = Type.Object({
  url: Type.String({ description: 'What a file part of a message names: `{ "type": "file", "url": "attachment:…", "mediaType": "…" }`' }),
  digest: Digest,
  mediaType: Type.String({ description: 'The type by the bytes, else by the request' }),
  bytes: Type.Integer(),
  name: Type.Optional(Type.String())
}, { $id: 'Attachment', description: 'A stored file that messages can name' })
export type Attachment = Static<typeof AttachmentSchema>
