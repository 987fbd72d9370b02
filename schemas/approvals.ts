import { Type, type Static } from '@sinclair/typebox'
import { enumOf, ref, Timestamp } from './common.ts'
import { DecidingDeviceSchema } from './deciding-device.ts'
import { GRANTED, LearnedSchema, Teaches, ScopeSchema, UntilSchema, SHOWN_WITH_CALL } from './grants.ts'
import { UUID } from './ids.ts'
import { AnswersSchema, BUDGET_FIELD, LIVE_FIELDS, QuestionSchema } from './questions.ts'
import { PathChangeSchema } from './undo.ts'

const closed = { additionalProperties: false }

const Kind = enumOf(
  ['tool', 'result', 'question', 'server', 'task'],
  'tool: a tool call; result: the output of a run of a task; question: a question of the agent; server: tools of a tool server that ' +
    'are to be accepted; task: a choice about a task itself, outside of its runs'
)

const ChoiceTopicSchema = enumOf(
  ['failing', 'missed'],
  'Kind task. failing: its runs have failed for two weeks; missed: the time of a task that runs once passed more than a week ago'
)
export type ChoiceTopic = Static<typeof ChoiceTopicSchema>

export const ChoiceSchema = Type.Object({
  value: Type.String({ description: 'To be sent as "choice"' }),
  label: Type.String({ description: 'The choice in words' })
}, { $id: 'Choice', description: 'One of the answers that a request of kind task can be given' })
export type Choice = Static<typeof ChoiceSchema>

const State = enumOf(
  ['pending', 'approved', 'denied', 'executing', 'done', 'unknown', 'answered', 'declined', 'expired', 'withdrawn'],
  'pending → approved or denied; approved → executing → done, or unknown when the service ended meanwhile; a question: pending → ' +
    'answered or declined; a choice about a task: pending → answered; or expired; or withdrawn'
)
const text = (description: string) => Type.Optional(Type.String({ description }))
const owner = {
  runId: text('Absent for kinds server and task'),
  threadId: text('The conversation of the run; absent for a task'),
  taskId: text('The task of the run; absent for a conversation')
}

/** An approval: a tool call, a result of a run or a set of questions that waits, or waited, for the user. */
export const ApprovalSchema = Type.Object({
  approvalId: Type.String(),
  kind: Kind,
  ...owner,
  toolCallId: text('Kinds tool and question: the id of the call'),
  toolName: text('Kind tool'),
  input: Type.Optional(Type.Unknown({ description: 'Kind tool: the complete input of the call' })),
  digest: text('Kind tool: SHA-256 of the canonical input, hexadecimal'),
  cwd: text('Kind tool: real path of the working directory. The call runs in this directory or not at all'),
  correctedInput: Type.Optional(Type.Unknown({ description: 'Kind tool: the input that the person put in the place of the model\'s' })),
  correctedDigest: text('In the list of decisions: SHA-256 of the input that ran, where a person put it in the place of the model\'s'),
  unboundOffered: Type.Optional(Type.Boolean({
    description: 'The files of the call have changed twice since they were shown: the decision may carry "unbound": true'
  })),
  unbound: Type.Optional(Type.Boolean({ description: 'The call was approved with whatever is there when it runs' })),
  because: Type.Optional(Type.Array(Type.String(), {
    description: 'Kind tool, where an address is asked about: the calls that brought in private data and text of others'
  })),
  note: text('Why the approval is requested again, or what differs from the approved runs of the task'),
  ...SHOWN_WITH_CALL,
  teaches: Teaches,
  output: text('Kind result: the output of the run'),
  questions: Type.Optional(Type.Array(ref(QuestionSchema), { description: 'Kind question: what is asked' })),
  ...BUDGET_FIELD,
  ...LIVE_FIELDS,
  serverTools: Type.Optional(Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      state: enumOf(['new', 'changed'], 'changed: it is not as it was accepted')
    }),
    { description: 'Kind server: the tools that say that they only read, and are not accepted as they are now' }
  )),
  variables: Type.Optional(Type.Array(Type.String(), {
    description: 'Kind server: an imported server that is not connected before it is accepted gets these variables of the environment'
  })),
  about: Type.Optional(ChoiceTopicSchema),
  text: text('Kind task: what is asked, in a sentence'),
  choices: Type.Optional(Type.Array(ref(ChoiceSchema), { description: 'Kind task: the possible answers' })),
  choice: text('Kind task: the answer that was given'),
  reason: text('The reason that was given with the decision'),
  granted: Type.Optional(Type.Object({ scope: ScopeSchema, until: Type.Optional(UntilSchema) }, {
    description: 'In the list of decisions: what the decision covers beyond the call'
  })),
  device: Type.Optional({ ...DecidingDeviceSchema, description: 'The paired device that decided; absent when it was decided here' }),
  decidedAt: Type.Optional(Timestamp),
  createdAt: Timestamp,
  expiresAt: Type.Optional({ ...Timestamp, description: 'Absent for kinds server and task, which do not expire' }),
  state: State
}, {
  $id: 'Approval',
  description: 'A tool call, the result of a run of a task, questions, tools of a server, or a choice about a task, that wait or waited ' +
    'for the user'
})
export type ApprovalView = Static<typeof ApprovalSchema>

export const ApprovalListSchema = Type.Object({
  approvals: Type.Array(ref(ApprovalSchema)),
  nextCursor: Type.Optional(Type.String())
}, {
  $id: 'ApprovalList',
  description: 'A page of open approval requests; nextCursor is present when there are more'
})

export const ApprovalPreviewSchema = Type.Object({
  changes: Type.Array(ref(PathChangeSchema), {
    description: 'The paths that the call would change; empty for calls of which that is not known beforehand, such as commands. A ' +
      '`diff` is cut to 16 Ki characters'
  }),
  ran: Type.Optional(Type.Object({
    exitCode: Type.Union([Type.Integer(), Type.Null()]),
    stdout: Type.String(),
    stderr: Type.String(),
    timedOut: Type.Optional(Type.Boolean({ description: 'It was ended after 30 s' })),
    note: Type.String({ description: 'How the trial differs from a real run, in sentences' })
  }, { description: 'A command that was tried out: how it ended. None of its effects is kept' })),
  note: text('What else the call would change, such as the encoding of the file; a sentence'),
  refused: text('Why the call would fail now'),
  previewDigest: text(
    'Digest of this preview: a decision that sends it is bound to what the preview shows, not to what was there when the call was asked'
  )
}, {
  $id: 'ApprovalPreview',
  description: 'What an open tool call would change, as the files are now. They may change until the call runs'
})
export type ApprovalPreview = Static<typeof ApprovalPreviewSchema>

export const PreviewBody = Type.Object({
  input: Type.Optional(Type.Unknown({ description: 'The input to look at in the place of the call\'s own' }))
}, {
  ...closed,
  description: 'Without `input`, the call as it is',
  examples: [{ input: { path: 'notes/monday.md', content: 'Tea at four.' } }]
})

export const ApprovalQuery = Type.Object({
  kind: Type.Optional(Kind),
  state: Type.Optional(enumOf(
    ['open', 'decided'],
    'open, by default: what waits; decided: what was decided in the last year, the newest request first, of its input the ' +
      'digest alone'
  )),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: UUID, description: 'nextCursor of the previous page' }))
})

export const ApprovalParams = Type.Object({ id: Type.String({ description: 'approvalId of the request' }) })

export const ApprovalDecisionSchema = Type.Object({
  approved: Type.Optional(Type.Boolean({ description: 'false declines questions; true answers one about a budget' })),
  answers: Type.Optional(ref(AnswersSchema)),
  choice: Type.Optional(Type.String({ maxLength: 100, description: 'Kind task: the value of one of its choices' })),
  input: Type.Optional(Type.Unknown({
    description: 'With "approved": true: the call runs with this input instead; it is validated first, and covers this call alone'
  })),
  unbound: Type.Optional(Type.Boolean({
    description: 'With "approved": true, where the request offers it: run the call with whatever is there then'
  })),
  previewDigest: Type.Optional(Type.String({
    maxLength: 100,
    description: 'previewDigest of the preview that was shown: the call runs if that is there when it runs, else it is asked again'
  })),
  reason: Type.Optional(
    Type.String({ maxLength: 4_000, description: 'Told to the agent after a denial; for a task, feedback that its later runs get' })
  ),
  ...GRANTED
}, {
  ...closed,
  $id: 'ApprovalDecision',
  description: "The user's decision on an approval request: `approved`, `answers` to questions, or a `choice` about a task",
  examples: [
    { approved: false, reason: 'Put it into the folder notes.' },
    { answers: { format: 'md', sections: ['summary', 'figures'] } },
    { choice: 'keep' }
  ]
})
export type ApprovalDecision = Static<typeof ApprovalDecisionSchema>

export const DecidedApprovalSchema = Type.Object({
  approvalId: Type.String(),
  state: State,
  ...owner,
  continued: Type.Boolean({
    description: 'Whether the run went on: false while other requests of the same step are open, and for a result, which ends its run. ' +
      'Kind task: whether the choice began the run `runId`'
  }),
  released: Type.Optional(Type.Array(Type.String(), {
    description: 'The other requests of the run that a decision with a scope covers: they are approved with it'
  })),
  learned: Type.Optional(ref(LearnedSchema))
}, { $id: 'DecidedApproval', description: 'The approval request after the decision' })
export type DecidedApproval = Static<typeof DecidedApprovalSchema>
