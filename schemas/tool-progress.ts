import { Type, type Static, type TObject } from '@sinclair/typebox'

/** The progress of a tool call, as the tool reports it. The fields are those of MCP. */
export const PROGRESS = {
  progress: Type.Number({ description: 'It grows from report to report' }),
  total: Type.Optional(Type.Number({ description: 'The value of progress at the end, where the tool knows it' })),
  message: Type.Optional(Type.String({ description: 'What the tool is doing; at most 500 characters' }))
}
export type ToolProgress = Static<TObject<typeof PROGRESS>>
