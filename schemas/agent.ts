import { Type, type Static } from '@sinclair/typebox'
import { Timestamp } from './common.ts'

/** A message of the conversation: an AI SDK ModelMessage (`role`, `content`) or UIMessage (`role`, `parts`). Other keys are kept. */
const Message = Type.Object({ role: Type.String({ description: 'system, user, assistant or tool' }) }, { additionalProperties: true })

export const ThreadId = Type.String({ pattern: '^[^/\\p{Cc}]{1,128}$', description: 'Up to 128 printable characters without "/"' })

export const RunBodySchema = Type.Object({
  messages: Type.Array(Message, { minItems: 1, description: 'The conversation so far, in the AI SDK\'s message format' }),
  context: Type.Optional(Type.Object({
    cwd: Type.Optional(Type.String({ minLength: 1, description: 'Folder that relative paths and commands start from' }))
  }, { additionalProperties: true })),
  id: Type.Optional(ThreadId),
  trigger: Type.Optional(Type.Unknown({ description: 'Of chat clients: "regenerate-message" never answers an approval request' })),
  messageId: Type.Optional(Type.Unknown({ description: 'Of chat clients: the message that is continued' }))
}, { $id: 'RunBody', additionalProperties: true })
export type RunBody = Static<typeof RunBodySchema>

export const ProtocolSchema = Type.Union([Type.Literal('documented'), Type.Literal('ui'), Type.Literal('ui5')], {
  description: 'How the stream is written: as documented here, as the AI SDK\'s UI message stream, or as that for its 5.x clients. ' +
    'By default "ui" when a message has `parts`, else "documented".'
})
export type Protocol = Static<typeof ProtocolSchema>

export const StreamQuery = Type.Object({ protocol: Type.Optional(ProtocolSchema) })

export const ApprovalState = Type.Union(
  ['pending', 'approved', 'denied', 'executing', 'done', 'unknown', 'expired', 'withdrawn'].map((state) => Type.Literal(state))
)

/** A tool call that waits, or waited, for a person. */
export const ApprovalSchema = Type.Object({
  approvalId: Type.String(),
  runId: Type.String(),
  threadId: Type.String(),
  toolCallId: Type.String(),
  toolName: Type.String(),
  input: Type.Unknown({ description: 'The whole input the tool will get' }),
  digest: Type.String({ description: 'SHA-256 of the canonical input, hexadecimal' }),
  cwd: Type.String(),
  reason: Type.Optional(Type.String({ description: 'What the person said with the decision' })),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  state: ApprovalState
}, { $id: 'Approval' })
export type ApprovalView = Static<typeof ApprovalSchema>

export const ApprovalListSchema = Type.Object({
  approvals: Type.Array(Type.Unsafe<ApprovalView>(Type.Ref('Approval'))),
  nextCursor: Type.Optional(Type.String())
}, { $id: 'ApprovalList' })

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'nextCursor of the page before' }))
})
