import { Type, type Static } from '@sinclair/typebox'
import { enumOf, oneOf, ref, Timestamp } from './common.ts'
import { TaskId, ThreadId, UUID } from './ids.ts'

const closed = { additionalProperties: false }
const text = (description: string) => Type.Optional(Type.String({ description }))

export const ScopeSchema = oneOf(['once', 'exact', 'folder', 'host', 'sandbox', 'tool'], {
  description: 'once: this call alone; exact: the same input in the same working directory; folder: files with this extension in or ' +
    'below the folder; host: this tool at the hosts of the call; sandbox: every command in the box of this folder; ' +
    'tool: every call of this tool of a tool server or of the application'
})
export type Scope = Static<typeof ScopeSchema>

/** A scope that the answer to a call can choose. */
export const OfferedScopeSchema = Type.Object({
  scope: ScopeSchema,
  text: Type.String({ description: 'What the answer would cover, for the user' })
})
export type OfferedScope = Static<typeof OfferedScopeSchema>

export const UntilSchema = Type.Object({
  uses: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Number of calls' })),
  at: Type.Optional(Timestamp)
}, { ...closed, minProperties: 1, description: 'When the grant ends: after a number of calls, at a time, or at what comes first' })
export type Until = Static<typeof UntilSchema>

const owner = {
  threadId: text('The conversation in which the grant holds'),
  taskId: text('The task in which the grant holds')
}
/** The ids of an owner as requests send them, with their limits. */
const namedOwner = { threadId: Type.Optional(ThreadId), taskId: Type.Optional(TaskId) }

/** The scopes that the answer to a tool call can choose from. */
const Scopes = Type.Optional(Type.Array(OfferedScopeSchema, { description: 'The scopes that an answer can choose from, as "scope"' }))
/** The boundary of a command, as shown in the request for its approval. */
export const ShownBoundary = Type.Optional(Type.Object({
  is: enumOf(
    ['confined', 'networked', 'outside'],
    'confined: in a box without network; networked: in a box whose network leads to the named hosts; outside: as its user'
  ),
  text: Type.String({ description: 'The same in words, for the user' })
}, { description: 'Commands: where the command would run' }))
/** The tool server of a call, as shown in the request for its approval. */
const ToolServerShown = Type.Object({
  name: Type.String({ description: 'The name of the server in config.json' }),
  title: Type.Optional(Type.String({ description: 'The name of the tool for people, as the server has it' })),
  destructive: Type.Optional(Type.Literal(true, { description: 'The server says that the tool may destroy something' }))
}, { description: 'Tools of tool servers: whose tool it is' })
export type ShownToolServer = Static<typeof ToolServerShown>
export const ToolServerOfCall = Type.Optional(ToolServerShown)
export const AskReasonSchema = Type.Object({
  policy: enumOf(
    ['toolPermission', 'writtenAsText', 'workingCopy', 'addresses', 'toolQuestion', 'stillAsShown'],
    'toolPermission: the tool asks, by what it can do or by config.permissions; writtenAsText: the model wrote the call as text; ' +
      'workingCopy: it would change more than the copy that the run works in; addresses: the agent put an address together; ' +
      'toolQuestion: the tool asks about this very call; stillAsShown: it was approved, and would not do what was shown'
  ),
  text: Type.String({ description: 'The reason in a sentence, for the user' })
}, {
  $id: 'AskReason',
  description: 'Why a call asks: the rule that asked, and its reason',
  examples: [{ policy: 'writtenAsText', text: 'The model wrote this call as text, which it may have meant to show.' }]
})
export type AskReason = Static<typeof AskReasonSchema>
/** The fields that the request for an approval shows in addition to the call. */
export const SHOWN_WITH_CALL = {
  reasons: Type.Optional(Type.Array(ref(AskReasonSchema), { description: 'Why the call asks' })),
  boundary: ShownBoundary,
  toolServer: ToolServerOfCall,
  scopes: Scopes
}
/** The fields with which an answer also permits later calls. */
export const GRANTED = { scope: Type.Optional(ScopeSchema), until: Type.Optional(UntilSchema) }

const GrantScope = enumOf(
  ['exact', 'file', 'beside', 'folder', 'host', 'sandbox', 'tool'],
  'exact: the same input in the same working directory; file: this file with any content, and beside: new files with this ' +
    'extension in the folder, which approved runs have taught; ' +
    'folder: files with this extension in or below the folder; host: the tool at these hosts; sandbox: every ' +
    'command in the box of the folder; tool: every call of the tool'
)
const Source = enumOf(
  ['answer', 'request', 'approved_runs', 'rehearsal'],
  'answer: given with the answer to an approval request; request: POST /grants; approved_runs: taught by the approved runs of a task; ' +
    'rehearsal: accepted of the sheet of a rehearsal'
)

export const GrantSchema = Type.Object({
  grantId: Type.String(),
  ...owner,
  toolName: Type.String(),
  scope: GrantScope,
  text: Type.String({ description: 'What the grant covers, in words' }),
  suspended: Type.Optional(Type.Object({ at: Timestamp, path: Type.String() }, {
    description: 'The grant rests since this file was written unasked, until a person approves the command again'
  })),
  input: Type.Optional(Type.Unknown({
    description: 'Input of the call that the grant was made of; absent for a long one, and for a whole tool'
  })),
  cwd: Type.String({ description: 'Real path of the working directory of that call' }),
  folder: text('Scopes file, beside and folder: real path of the folder'),
  source: Source,
  approvalId: text('Source answer: the approval request'),
  sheet: text('Source rehearsal: the runId of the rehearsal'),
  until: Type.Optional(UntilSchema),
  uses: Type.Integer({ description: 'Number of calls that it covered' }),
  createdAt: Timestamp,
  lastUsedAt: Type.Optional(Timestamp),
  endedAt: Type.Optional({ ...Timestamp, description: 'When it was found to be over; it covers nothing any more' })
}, { $id: 'Grant', description: 'A permission for calls of a tool in one conversation or task' })
export type GrantView = Static<typeof GrantSchema>

export const LearnedSchema = Type.Object({
  inForce: Type.Boolean({ description: 'Whether later runs do it unasked from now on; false until enough runs were approved' }),
  runsLeft: Type.Integer({ description: 'Runs that are to be approved until then' }),
  grants: Type.Array(
    Type.Object({ grantId: Type.String(), toolName: Type.String(), text: Type.String({ description: 'What it covers, in words' }) }),
    { description: 'With the answer that brings it in force, all that the task has learned; else what this answer has added' }
  )
}, { $id: 'Learned', description: 'What the approval of a result has taught the task. GET /grants lists it, DELETE /grants/:id ends it' })
export type Learned = Static<typeof LearnedSchema>

export const Teaches = Type.Optional(Type.Array(Type.String(), {
  description: 'What the approval teaches the task, in words, for the user. Of a call: unless it is answered with a scope, and once the ' +
    'result of the run is approved, too. Of a result: what later runs do unasked once enough runs were approved'
}))

export const GrantListSchema = Type.Object({
  grants: Type.Array(ref(GrantSchema)),
  nextCursor: Type.Optional(Type.String())
}, { $id: 'GrantList', description: 'A page of grants; nextCursor is present when there are more' })

export const GrantQuery = Type.Object({
  ...namedOwner,
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{1,128}\\/[0-9a-f\\-]{36}$', description: 'nextCursor of the previous page' }))
})

export const GrantBodySchema = Type.Object({
  ...namedOwner,
  toolName: Type.String({ minLength: 1, maxLength: 128 }),
  input: Type.Optional(Type.Object({}, {
    additionalProperties: true,
    description: 'Input of a call that the grant covers; needed for every scope but tool'
  })),
  scope: ScopeSchema,
  cwd: text('Working directory of the calls; default: that of the task or the conversation, or the workspace'),
  until: Type.Optional(UntilSchema)
}, {
  ...closed,
  $id: 'GrantBody',
  description: 'A grant for one conversation or one task',
  examples: [
    {
      taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
      toolName: 'runCommand',
      input: { command: 'npm test' },
      scope: 'exact'
    }
  ]
})
export type GrantBody = Static<typeof GrantBodySchema>

export const GrantParams = Type.Object({ id: Type.String({ pattern: UUID, description: 'the grantId of a grant' }) })

export const RemovedGrantSchema = Type.Object({ ok: Type.Literal(true), grantId: Type.String() }, {
  $id: 'RemovedGrant',
  description: 'The grant has ended'
})
