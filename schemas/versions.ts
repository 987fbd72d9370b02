import { Type, type Static } from '@sinclair/typebox'
import { ProtocolSchema } from './agent.ts'
import { ref, Timestamp } from './common.ts'
import { ThreadId } from './ids.ts'

export const VersionSchema = Type.Object({
  id: Type.String(),
  messageId: Type.String({ description: 'The message of the user that stands in its place now, by its id in chats' }),
  replacedAt: Timestamp,
  text: Type.String({ description: 'The beginning of what the user said' }),
  messageCount: Type.Integer({ description: 'The number of messages that were replaced: it, its answer, and all after them' })
}, { $id: 'Version', description: 'A message of the user as it was before it was edited or answered again, with all that came after it' })
export type VersionInfo = Static<typeof VersionSchema>

export const VersionListSchema = Type.Object({ versions: Type.Array(ref(VersionSchema)) }, {
  $id: 'VersionList',
  description: 'The earlier versions of the messages of a thread, the oldest first'
})

const Message = Type.Unsafe<{ role: string, [field: string]: unknown }>(
  Type.Object({ role: Type.String() }, { additionalProperties: true, description: 'A message, as in the thread' })
)
export const VersionViewSchema = Type.Object({ ...VersionSchema.properties, messages: Type.Array(Message) }, {
  $id: 'VersionView',
  description: 'An earlier version with its messages'
})
export type VersionView = Static<typeof VersionViewSchema>

export const VersionParams = Type.Object({ id: ThreadId, versionId: Type.String({ minLength: 1, maxLength: 64 }) })
export const VersionQuery = Type.Object({
  protocol: Type.Optional({ ...ProtocolSchema, description: 'The shape of the messages; without it each is as it was written' })
})
