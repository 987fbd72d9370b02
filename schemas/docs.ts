import { Type, type TSchema } from '@sinclair/typebox'

/** An answer that is a file, of one of these media types. */
export const fileAnswer = (description: string, types: string[], schema: TSchema = Type.String()) => ({
  description,
  content: Object.fromEntries(types.map((type) => [type, { schema }]))
})

export const AssetParams = Type.Object({ file: Type.String({ description: 'A file that the page names' }) })
