import { Type, type TSchema } from '@sinclair/typebox'

/** Describes a response that is a file of one of the given media types. */
export const fileAnswer = (description: string, types: string[], schema: TSchema = Type.String()) => ({
  description,
  content: Object.fromEntries(types.map((type) => [type, { schema }]))
})

export const AssetParams = Type.Object({ file: Type.String({ description: 'Name of a file that the page loads' }) })
