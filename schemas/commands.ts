import { Type, type Static } from '@sinclair/typebox'
import { Timestamp, ref } from './common.ts'
import { UUID } from './ids.ts'

export const CommandSchema = Type.Object({
  commandId: Type.String(),
  command: Type.String({ description: 'The command line' }),
  runId: Type.String({ description: 'The run that started it' }),
  threadId: Type.Optional(Type.String({ description: 'The conversation that it belongs to' })),
  taskId: Type.Optional(Type.String({ description: 'The task whose run it belongs to' })),
  ports: Type.Array(Type.Integer(), { description: 'Ports of its box that can be reached at 127.0.0.1' }),
  startedAt: Timestamp
}, { $id: 'Command', description: 'A command that runs in the background, after the call that started it' })
export type CommandView = Static<typeof CommandSchema>

export const CommandListSchema = Type.Object({ commands: Type.Array(ref(CommandSchema)) }, {
  $id: 'CommandList',
  description: 'The commands that run in the background, the oldest first'
})
export const CommandParams = Type.Object({ id: Type.String({ pattern: UUID, description: 'The id of a command' }) })
export const CommandStoppedSchema = Type.Object({ ok: Type.Boolean() }, {
  $id: 'CommandStopped',
  description: 'The command has ended, with all that it started'
})
