import { Type, type Static } from '@sinclair/typebox'
import { ThreadId } from './agent.ts'
import { ref, Timestamp } from './common.ts'
import * as examples from './examples/threads.ts'

const Message = Type.Unsafe<{ role: string, [field: string]: unknown }>(
  Type.Object({ role: Type.String({ description: 'system, user, assistant or tool' }) }, {
    additionalProperties: true,
    description: 'A UIMessage (`parts`) or a ModelMessage (`content`), kept as it is given'
  })
)
const Title = Type.String({ maxLength: 200, description: 'What lists show; given empty, the service finds one itself' })
const Messages = Type.Array(Message)

export const ThreadSchema = Type.Object({
  id: Type.String(),
  title: Type.String({ description: 'As the user gave it, else of the fast model, else the first words' }),
  createdAt: Timestamp,
  updatedAt: Type.Integer({ description: 'When its messages last changed, in milliseconds since the Unix epoch' }),
  status: Type.Union(['idle', 'running', 'pending_approval'].map((status) => Type.Literal(status))),
  messageCount: Type.Integer(),
  lastMessage: Type.String({ description: 'The beginning of the last message that says something' })
}, { $id: 'Thread', description: 'A conversation as lists show it', examples: [examples.thread] })
export type Thread = Static<typeof ThreadSchema>

export const ThreadViewSchema = Type.Object({
  ...ThreadSchema.properties,
  messages: Messages,
  nextCursor: Type.Optional(Type.String({ description: 'There are older messages before these' }))
}, {
  $id: 'ThreadView',
  additionalProperties: true,
  description: 'A conversation with its messages and the fields its client gave it',
  examples: [examples.threadView]
})
export type ThreadView = Static<typeof ThreadViewSchema>

export const ThreadBodySchema = Type.Object({ title: Type.Optional(Title), messages: Type.Optional(Messages) }, {
  $id: 'ThreadBody',
  additionalProperties: true,
  description: 'What to replace of a thread; other fields are kept with it',
  examples: [examples.threadBody]
})
export type ThreadBody = Static<typeof ThreadBodySchema> & { [field: string]: unknown }

export const NewThreadSchema = Type.Object({ id: Type.Optional(ThreadId), ...ThreadBodySchema.properties }, {
  $id: 'NewThread',
  additionalProperties: true,
  description: 'A thread to make; fields that are not named here are kept with it',
  examples: [examples.newThread]
})

export const ThreadListSchema = Type.Object({ threads: Type.Array(ref(ThreadSchema)), nextCursor: Type.Optional(Type.String()) }, {
  $id: 'ThreadList',
  description: 'A page of threads, the one that changed last first; with nextCursor there are more',
  examples: [examples.threadList]
})
export const ThreadDeletedSchema = Type.Object({ ok: Type.Literal(true), threadId: Type.String() }, {
  $id: 'ThreadDeleted',
  description: 'The thread is gone',
  examples: [examples.threadDeleted]
})
export const ThreadsDeletedSchema = Type.Object({ deleted: Type.Integer({ description: 'How many there were' }) }, {
  $id: 'ThreadsDeleted',
  description: 'The threads are gone',
  examples: [{ deleted: 3 }]
})

const limit = Type.Integer({ minimum: 1, maximum: 500, default: 50 })
export const ThreadListQuery = Type.Object({
  limit,
  cursor: Type.Optional(Type.String({ pattern: '^\\d{15}-[0-9a-f]{64}$', description: 'nextCursor of the page before' }))
})
export const ThreadQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      description: 'Only so many messages, the newest; without it all of them, or the newest 32 MiB'
    })
  ),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,10}$', description: 'nextCursor of the page before: the messages before those' }))
})
