import { Type, type TSchema } from '@sinclair/typebox'

/** Describes a response that is a file of one of the given media types. */
export const fileAnswer = (description: string, types: string[], schema: TSchema = Type.String()) => ({
  description,
  content: Object.fromEntries(types.map((type) => [type, { schema }]))
})

export const AssetParams = Type.Object({ file: Type.String({ description: 'Name of a file that the page loads' }) })

const page = Type.String({ description: 'tasks, runs, chat, memory or settings; empty for the start page' })
export const PageParams = Type.Object({ page })
export const ItemParams = Type.Object({
  page,
  item: Type.String({ description: 'Id of a task, run or thread, or a section of the settings' })
})
