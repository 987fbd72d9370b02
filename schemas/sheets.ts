import { Type, type Static } from '@sinclair/typebox'
import { enumOf, ref, Timestamp } from './common.ts'
import { Facts } from './evaluation.ts'
import { GrantSchema, OfferedScopeSchema, ScopeSchema, ShownBoundary, ToolServerOfCall, UntilSchema } from './grants.ts'
import { TaskId } from './ids.ts'
import { RunStatusSchema } from './tasks.ts'
import { UsageSchema } from './usage.ts'

const closed = { additionalProperties: false }
const text = (description: string) => Type.Optional(Type.String({ description }))
const yes = (description: string) => Type.Optional(Type.Literal(true, { description }))

export const SheetLineSchema = Type.Object({
  line: Type.Integer({ description: 'The number of the line, from 1 on' }),
  toolCallId: Type.String({ description: 'The first call of the line' }),
  toolName: Type.String(),
  input: Type.Unknown({ description: 'The input of the call; as JSON, shortened, where it is long' }),
  count: Type.Integer({ description: 'The number of calls with this very input' }),
  outcome: enumOf(
    ['copied', 'unknown', 'question'],
    'copied: the call was made, on the copy; unknown: it would reach beyond the copy, so it was not made, and the model was ' +
      'told that; question: the user would have been asked, and the model was told to decide itself'
  ),
  asks: Type.Boolean({ description: 'Whether the run itself would ask for it, or be denied it; false where it would run unasked' }),
  guess: yes('The model made this call after another one whose outcome it did not know: the run may do something else'),
  reason: text('What a person should know before accepting the line'),
  toolServer: ToolServerOfCall,
  boundary: ShownBoundary,
  scopes: Type.Array(OfferedScopeSchema, { description: 'The scopes that can be accepted, the narrowest first; [] for none' }),
  accepted: Type.Optional(Type.Object({ scope: ScopeSchema, grantId: Type.String(), at: Timestamp }, {
    description: 'The accepted scope, and the grant that was made'
  })),
  void: text('Why nothing more can be accepted of the line')
}, { $id: 'SheetLine', description: 'Something that a run would do' })
export type SheetLine = Static<typeof SheetLineSchema>

export const SheetSchema = Type.Object({
  runId: Type.String(),
  taskId: text('The task that was rehearsed'),
  threadId: text('The conversation whose message was rehearsed'),
  status: RunStatusSchema,
  startedAt: Timestamp,
  durationMs: Type.Optional(Type.Integer({ description: 'Milliseconds from start to end' })),
  output: text('What the run reported'),
  error: text('Why the rehearsal did not complete'),
  facts: Type.Optional(Facts),
  usage: ref(UsageSchema),
  lines: Type.Array(ref(SheetLineSchema), { description: 'The calls that would ask, or that reach beyond the folder of the run' }),
  void: text('Why nothing can be accepted of the sheet any more: the goal or the plan of the task was changed')
}, { $id: 'Sheet', description: 'The result of a rehearsal' })
export type Sheet = Static<typeof SheetSchema>

export const SheetAnswerSchema = Type.Object({
  sheet: { ...TaskId, description: 'The runId of the rehearsal' },
  lines: Type.Array(
    Type.Object({
      line: Type.Integer({ minimum: 1, maximum: 10_000, description: 'The number of the line' }),
      scope: ScopeSchema,
      until: Type.Optional(UntilSchema)
    }, closed),
    { minItems: 1, maxItems: 200, description: 'The lines that are accepted, each with one of its scopes' }
  )
}, {
  ...closed,
  $id: 'SheetAnswer',
  description: 'The lines of a sheet that later runs of the task or the conversation may do without asking',
  examples: [{ sheet: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44', lines: [{ line: 1, scope: 'folder' }] }]
})
export type SheetAnswer = Static<typeof SheetAnswerSchema>

export const AcceptedSheetSchema = Type.Object({
  grants: Type.Array(ref(GrantSchema), { description: 'The grants of the accepted lines, in their order' })
}, { $id: 'AcceptedSheet', description: 'The grants that were made of the accepted lines' })
export type AcceptedSheet = Static<typeof AcceptedSheetSchema>

export const RehearsalSchema = Type.Object({
  runId: Type.String({ description: 'For GET /runs/:runId and GET /runs/:runId/sheet' }),
  status: RunStatusSchema,
  startedAt: Timestamp,
  completedAt: Type.Optional(Timestamp),
  lines: Type.Integer({ description: 'The number of lines of its sheet' }),
  accepted: Type.Integer({ description: 'The number of lines that were accepted' }),
  void: text('Why nothing of its sheet counts any more')
}, { $id: 'Rehearsal', description: 'A rehearsal of a task' })
export type Rehearsal = Static<typeof RehearsalSchema>

export const RehearsalListSchema = Type.Object({
  rehearsals: Type.Array(ref(RehearsalSchema))
}, { $id: 'RehearsalList', description: 'The rehearsals of a task that are kept, newest first' })

export const RehearsalBegunSchema = Type.Object({
  ok: Type.Literal(true),
  taskId: Type.String(),
  runId: Type.String({ description: 'For GET /runs/:runId?waitMs= and GET /runs/:runId/sheet' })
}, { $id: 'RehearsalBegun', description: 'The rehearsal that was begun' })
