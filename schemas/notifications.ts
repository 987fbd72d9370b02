import { Type, type Static } from '@sinclair/typebox'
import { enumOf, oneOf, ref, Timestamp } from './common.ts'
import { UUID } from './ids.ts'

const closed = { additionalProperties: false }
const text = (description: string) => Type.Optional(Type.String({ description }))

export type NotificationKind = 'waiting' | 'failing' | 'recovered' | 'budget' | 'provider' | 'told' | 'boxed'
const NotificationKindSchema = enumOf(
  ['waiting', 'failing', 'recovered', 'budget', 'provider', 'told', 'boxed'],
  'waiting: approvals, questions or results wait for a person; failing: a task fails again and again; recovered: it is well ' +
    'again; budget: a limit stopped work; provider: a provider needs a key, or refuses the one it has; told: a task was asked to ' +
    'tell this; boxed: files that programs obey got another name after a command, which may be files of the person'
)

/** The fields that the notification event and the list of notifications share. */
export const notificationFields = {
  notificationId: Type.String(),
  kind: NotificationKindSchema,
  taskId: text('The task that it is about'),
  threadId: text('The conversation that it is about'),
  runId: text('The run that it is about'),
  provider: text('Kind provider: the name of the provider'),
  waitsFor: Type.Optional(Type.Array(
    Type.Object({ approvalId: Type.String(), kind: oneOf(['tool', 'result', 'question', 'task', 'app']) }),
    { description: 'Kind waiting: what is to be decided, as it was asked; GET /approvals has it whole' }
  )),
  title: Type.String({ description: 'A sentence without words of a task, a person or a model' }),
  text: text('The name of the task and the words of its model, shortened. They stay on this machine unless config.json says otherwise'),
  createdAt: Timestamp,
  reminder: Type.Boolean({ description: 'The notification is a day old, and still open' })
}

export const NotificationSchema = Type.Object({
  ...notificationFields,
  needsShowing: Type.Boolean({ description: 'No client has claimed yet to show it' }),
  shownAt: Type.Optional(Timestamp),
  deliveries: Type.Array(
    Type.Object({
      at: Timestamp,
      ok: Type.Boolean(),
      reminder: Type.Boolean(),
      status: Type.Optional(Type.Integer({ description: 'The HTTP status of the answer' })),
      error: text('Why it failed')
    }),
    { description: 'Attempts at the webhook, oldest first' }
  ),
  closedAt: Type.Optional(Timestamp)
}, { $id: 'Notification', description: 'What a person is to be told: that something waits, fails, is well again or needs a key' })
export type NotificationView = Static<typeof NotificationSchema>

export const NotificationListSchema = Type.Object({
  notifications: Type.Array(ref(NotificationSchema)),
  count: Type.Integer({ description: 'The number of open items, for a badge. Each approval counts as one' })
}, { $id: 'NotificationList', description: 'The open notifications, or those that closed within a week; newest first' })
export type NotificationList = Static<typeof NotificationListSchema>

export const NotificationQuery = Type.Object({
  state: Type.Unsafe<'open' | 'closed'>({
    type: 'string',
    enum: ['open', 'closed'],
    default: 'open',
    description: 'closed: those that were over within the last week'
  })
}, closed)

export const NotificationParams = Type.Object({ id: Type.String({ pattern: UUID, description: 'The notificationId' }) })

export const ShownBodySchema = Type.Object({
  shown: Type.Literal(true)
}, {
  ...closed,
  $id: 'NotificationShownBody',
  description: 'Claims a notification, before it is shown',
  examples: [{ shown: true }]
})

export const ShownSchema = Type.Object({
  notificationId: Type.String(),
  first: Type.Boolean({ description: 'Whether the caller is the one to show it: false when another client has claimed it, or it is over' }),
  shownAt: Type.Optional(Timestamp),
  closedAt: Type.Optional(Timestamp)
}, { $id: 'NotificationShown', description: 'The outcome of a claim to show a notification: the first claim counts' })
export type Shown = Static<typeof ShownSchema>
