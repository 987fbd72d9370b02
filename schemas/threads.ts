import { Type, type Static } from '@sinclair/typebox'
import { MESSAGE_ROLES, ProtocolSchema } from './agent.ts'
import { roleOf, ThreadId } from './ids.ts'
import { oneOf, ref, Timestamp } from './common.ts'
import { AgentName, NamedOptionsSchema } from './run-options.ts'
import { UsageSchema } from './usage.ts'

const Message = Type.Unsafe<{ role: string, [field: string]: unknown }>(
  Type.Object({ role: roleOf(MESSAGE_ROLES) }, {
    additionalProperties: true,
    description: 'A UIMessage (`parts`) or a ModelMessage (`content`), stored unchanged'
  })
)
const Title = Type.String({ maxLength: 200, description: 'The title in lists; when it is empty, the service makes one' })
const Messages = Type.Array(Message)

export const ThreadSettingsSchema = Type.Object({
  agent: Type.Optional({ ...AgentName, description: 'Name of the agent of the conversation; `options.agent` of a request goes before it' }),
  options: Type.Optional(ref(NamedOptionsSchema)),
  cwd: Type.Optional(Type.String({ minLength: 1, description: 'Working directory of runs whose request names none; it must exist' }))
}, {
  additionalProperties: false,
  $id: 'ThreadSettings',
  description: 'Settings for all runs of a conversation that begin later. They are replaced as a whole: `{}` removes them'
})
export type ThreadSettings = Static<typeof ThreadSettingsSchema>
const Settings = Type.Optional(ref(ThreadSettingsSchema))

export const ThreadSchema = Type.Object({
  id: Type.String(),
  title: Type.String({ description: "The user's title, else one from the fast model, else the first words" }),
  createdAt: Timestamp,
  updatedAt: Type.Integer({ description: 'Time of the last change of the messages, in milliseconds since the Unix epoch' }),
  status: oneOf(['idle', 'running', 'pending_approval']),
  messageCount: Type.Integer(),
  lastMessage: Type.String({ description: 'The beginning of the last message that has text' }),
  settings: Settings,
  deletedAt: Type.Optional({ ...Timestamp, description: 'Lists of deleted threads: when it was deleted' })
}, {
  $id: 'Thread',
  additionalProperties: true,
  description: 'A conversation without its messages. Fields that its client added are left out if they are longer than 4,096 characters, ' +
    'or beyond 16,384 together. In lists, `settings` has `cwd` alone'
})
export type Thread = Static<typeof ThreadSchema>

export const ThreadViewSchema = Type.Object({
  ...ThreadSchema.properties,
  messages: Messages,
  usage: ref(UsageSchema),
  nextCursor: Type.Optional(Type.String({ description: 'Present when there are older messages' }))
}, {
  $id: 'ThreadView',
  additionalProperties: true,
  description: 'A conversation with its messages and the fields that its client added'
})
export type ThreadView = Static<typeof ThreadViewSchema>

export const ThreadBodySchema = Type.Object({
  title: Type.Optional(Title),
  settings: Settings,
  messages: Type.Optional(Messages),
  restore: Type.Optional(Type.Boolean({
    description: 'PUT only: brings back a deleted thread first, if `DELETE /threads/:id?restorable=true` deleted it in the last 30 days'
  }))
}, {
  $id: 'ThreadBody',
  additionalProperties: true,
  description: 'The fields of a thread to replace; unknown fields are stored with the thread',
  examples: [{ title: 'Lisbon', settings: { options: { effort: 'high' } }, pinned: true }]
})
export type ThreadBody = Static<typeof ThreadBodySchema> & { [field: string]: unknown }

export const NewThreadSchema = Type.Object({ id: Type.Optional(ThreadId), ...ThreadBodySchema.properties }, {
  $id: 'NewThread',
  additionalProperties: true,
  description: 'A new thread; unknown fields are stored with it',
  examples: [
    {
      id: 'trip-to-lisbon',
      title: 'Lisbon',
      messages: [
        {
          id: 'm1',
          role: 'user',
          parts: [{ type: 'text', text: 'My name is Ada. List the files here.' }]
        }
      ],
      pinned: true
    }
  ]
})

export const ThreadListSchema = Type.Object({ threads: Type.Array(ref(ThreadSchema)), nextCursor: Type.Optional(Type.String()) }, {
  $id: 'ThreadList',
  description: 'A page of threads, most recently changed first; nextCursor is present when there are more'
})
export const ThreadDeletedSchema = Type.Object({ ok: Type.Literal(true), threadId: Type.String() }, {
  $id: 'ThreadDeleted',
  description: 'The thread was deleted'
})
export const ThreadsDeletedSchema = Type.Object({ deleted: Type.Integer({ description: 'Number of deleted threads' }) }, {
  $id: 'ThreadsDeleted',
  description: 'All threads were deleted'
})

const limit = Type.Integer({ minimum: 1, maximum: 500, default: 50 })
export const ThreadListQuery = Type.Object({
  limit,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only threads with this in their title or at the beginning of their last message, in any case of letters. A page ' +
        'looks at 2,000 threads at most, so it may be short; nextCursor leads on'
    })
  ),
  deleted: Type.Optional(Type.Boolean({
    description: 'Only the deleted threads that PUT /threads/:id with `restore` can bring back, those deleted last first, on one page'
  })),
  pinned: Type.Optional(Type.Boolean({
    description: 'Only the threads with which clients stored `pinned: true`, most recently changed first, on one page'
  })),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{15}-[0-9a-f]{32}$', description: 'nextCursor of the previous page' }))
})
export const ThreadDeleteQuery = Type.Object({
  restorable: Type.Boolean({
    default: false,
    description: 'Keeps the thread for 30 days, in which PUT /threads/:id with `restore` brings it back. Its permissions, its home and ' +
      'temporary files, and the copies for undo go at once. Without it the thread is erased, also one that was kept'
  })
})
export const ThreadQuery = Type.Object({
  protocol: Type.Optional({
    ...ProtocolSchema,
    description: 'The shape of the messages, whoever wrote them: `documented` ModelMessages with ids, `ui` UIMessages for the AI SDK 6 ' +
      'and 7, `ui5` for 5. Without it each is as it was written. What is put back unchanged stays as it is stored'
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      description: 'Maximum number of messages, of which the newest are returned; without it all of them, up to the newest 32 MiB. With ' +
        '`protocol` it counts messages as they are stored, and answers are whole'
    })
  ),
  cursor: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,10}$', description: 'nextCursor of the previous page; returns the messages before it' })
  )
})
