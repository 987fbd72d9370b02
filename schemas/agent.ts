import { Type, type Static } from '@sinclair/typebox'
import { NOT_BLANK, roleOf, ThreadId } from './ids.ts'
import { SHOWN_WITH_CALL } from './grants.ts'
import { oneOf, ref, Timestamp } from './common.ts'
import { EvaluationSchema } from './evaluation.ts'
import { PromptChoiceSchema } from './mcp-prompts.ts'
import { QUESTION_REQUEST } from './questions.ts'
import { RunOptionsSchema, StructuredAnswer } from './run-options.ts'
import { SteerSchema } from './steering.ts'
import { StoppedSchema } from './stopped.ts'
import { TaskStatusSchema, TaskTypeSchema } from './tasks.ts'
import { ReplacedChangesSchema } from './undo.ts'
import { UsageSchema } from './usage.ts'

export const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool']
/** A message of the conversation: an AI SDK ModelMessage (`role`, `content`) or UIMessage (`role`, `parts`). Unknown keys are kept. */
const Message = Type.Unsafe<{ role: string, [field: string]: unknown }>(
  Type.Object({ role: roleOf(MESSAGE_ROLES) }, { additionalProperties: true })
)

export const RunBodySchema = Type.Object({
  messages: Type.Optional(
    Type.Array(Message, { minItems: 1, maxItems: 25_000, description: "The conversation so far, in the AI SDK's message format" })
  ),
  message: Type.Optional(Message),
  prompt: Type.Optional(PromptChoiceSchema),
  skill: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'The name of a skill for the working folder (`GET /skills`), which the agent is told to read before all else: with the ' +
      'message, or in its place'
  })),
  cwd: Type.Optional(Type.String({ minLength: 1, description: 'Working directory for relative paths and commands' })),
  context: Type.Optional(Type.Object({
    cwd: Type.Optional(Type.String({ minLength: 1, description: 'The same as `cwd` beside it. Two that differ are a 400' }))
  }, { additionalProperties: true })),
  id: Type.Optional(ThreadId),
  continue: Type.Optional(Type.Boolean({
    description: 'With `id` and without messages: goes on after the last run of the thread, which stopped, failed or was interrupted'
  })),
  options: Type.Optional(ref(RunOptionsSchema)),
  dryRun: Type.Optional(Type.Boolean({
    description: 'A rehearsal: the run works on a copy of its folder, reaches nothing else and asks nobody, and the conversation holds ' +
      'nothing of it. GET /runs/{runId}/sheet says what it would do'
  })),
  resumable: Type.Optional(
    Type.Boolean({ description: 'The run continues when its client disconnects; GET /run/{id}/stream reads it again' })
  ),
  waiting: Type.Optional(oneOf(['withdraw', 'keep'], {
    description: 'How to treat approvals and questions that the conversation waits for: `withdraw`, by default, takes them back; ' +
      '`keep` refuses the message with 409 `ERR_CONVERSATION_WAITS`'
  })),
  changes: Type.Optional(oneOf(['keep', 'undo', 'ask'], {
    description: 'How to treat the changes to files that were made by the answers that this message replaces (it was edited, or asks ' +
      'for another answer): `keep`, by default, leaves them; `undo` undoes them before the run begins, and `undone` of its `start` says ' +
      'what was restored; `ask` refuses the message with 409 `ERR_FILES_CHANGED` if there are some that can be undone, and names them'
  })),
  trigger: Type.Optional(
    Type.Unknown({ description: 'Sent by chat clients. A request with "regenerate-message" never decides an approval request' })
  ),
  messageId: Type.Optional(Type.Unknown({ description: 'Sent by chat clients: the message that is continued' }))
}, {
  $id: 'RunBody',
  additionalProperties: true,
  description: 'The conversation that the agent answers',
  examples: [{ messages: [{ role: 'user', content: 'system info, then write "Buy tea" to notes.txt' }] }]
})
export type RunBody = Static<typeof RunBodySchema>

export const ApproveBodySchema = Type.Omit(RunBodySchema, ['options', 'prompt', 'skill', 'dryRun', 'changes'], {
  $id: 'ApproveBody',
  additionalProperties: true,
  description: 'The conversation so far. Its last message holds the decisions: role "tool", with a part ' +
    '{ type: "tool-approval-response", approvalId, approved, reason?, scope?, until? } for each approval request; questions take ' +
    '`answers` in place of `approved`. ' +
    'A run keeps the `options` with which it began: `options` in this body are a 400',
  examples: [
    {
      messages: [
        { role: 'user', content: 'system info, then write "Buy tea" to notes.txt' },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-approval-response',
              approvalId: '01a1fd98-ca04-739b-856a-7f12991dd0d6',
              approved: true
            }
          ]
        }
      ]
    }
  ]
})
export type ApproveBody = Static<typeof ApproveBodySchema>

export const ProtocolSchema = oneOf(['documented', 'ui', 'ui5', 'ui7'], {
  description: "The format of the stream: as documented here, as the AI SDK's UI message stream, as the one for its 5.x clients, or with " +
    'the part `steering-message` of its newest 7.x clients in place of `data-steer`. ' +
    'The default is "ui" when a message has `parts`, else "documented".'
})
export type Protocol = Static<typeof ProtocolSchema>

export const StopQuery = Type.Object({
  waiting: Type.Optional(oneOf(['withdraw', 'keep'], {
    description: 'How to treat a run that waits: `withdraw`, by default, ends it and withdraws what it waits for; `keep` leaves it as ' +
      'it is, and answers 404 where no run is under way'
  }))
})
export const StreamQuery = Type.Object({ protocol: Type.Optional(ProtocolSchema) })

export const COMPLEXITIES = ['simple', 'standard', 'complex', 'long_running'] as const
export const AnalysisSchema = Type.Object({
  complexity: oneOf(COMPLEXITIES),
  timeWords: Type.String({ description: 'The words of the request that say when the work is to be done; empty for none' }),
  thinking: Type.String({ description: 'How the request was read; may be empty' })
}, { $id: 'Analysis', additionalProperties: false, description: 'How the fast model reads a request. It adds hints, and decides nothing' })
export type Analysis = Static<typeof AnalysisSchema>

/** The background task that a run created, as the run's events and result show it. */
export const RunTaskSchema = Type.Object({
  taskId: Type.String({ description: 'Id of the task, for GET /tasks/{id} and the other task routes' }),
  goal: Type.String(),
  taskType: TaskTypeSchema,
  status: TaskStatusSchema,
  interval: Type.Optional(Type.String({ description: 'How often it runs, as it was written' })),
  words: Type.Optional(Type.String({ description: 'When it runs, as it was understood' })),
  nextRunAt: Type.Optional(Timestamp),
  zone: Type.Optional(Type.String({ description: 'The time zone of its local times' })),
  next: Type.Optional(Type.Array(Timestamp, { description: 'The next planned times, at most five' })),
  isNew: Type.Optional(Type.Literal(true, { description: 'It was created for this request; absent for one that was changed' }))
}, { $id: 'RunTask', description: 'A background task that a run created and started, or changed' })
export type RunTask = Static<typeof RunTaskSchema>

/** The compaction of a conversation: how it was shortened to fit the context window of its model. */
export const CompactionSchema = Type.Object({
  before: Type.Integer({ description: 'Estimated tokens of the whole conversation' }),
  after: Type.Integer({ description: 'Tokens of the messages that were sent to the model' }),
  outputs: Type.Integer({ description: 'Tool outputs that were left out' }),
  summarised: Type.Integer({ description: 'Messages that were replaced by a summary' }),
  dropped: Type.Integer({ description: 'Messages that were left out' })
}, {
  $id: 'Compaction',
  additionalProperties: false,
  description: "How a conversation was made to fit its model's context window. The stored thread stays complete"
})

export const FinishReason = oneOf<string>(
  ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'],
  'Why the run ended; "tool-calls" when it waits for approvals, answers or the application'
)

/** The answer of `POST /run/sync`. */
export const RunResultSchema = Type.Object({
  text: Type.String({
    description: 'The answer: the text after the last tool call. Of an answer that was reviewed and written again, the version that the ' +
      'tool calls contradict less; the first if they contradict both alike'
  }),
  otherText: Type.Optional(Type.String({ description: 'The other version of an answer that was written again after its review' })),
  messages: Type.Array(Message, { description: 'The messages to add to the conversation' }),
  steps: Type.Integer(),
  toolCalls: Type.Array(Type.Object({
    toolCallId: Type.String(),
    toolName: Type.String(),
    input: Type.Optional(Type.Unknown()),
    output: Type.Optional(Type.Unknown()),
    errorText: Type.Optional(Type.String()),
    status: oneOf(['pending', 'completed', 'error', 'denied'])
  })),
  usage: ref(UsageSchema),
  finishReason: FinishReason,
  stopped: Type.Optional(ref(StoppedSchema)),
  pendingApprovals: Type.Array(Type.Object({
    approvalId: Type.String(),
    toolCallId: Type.String(),
    toolName: Type.String(),
    input: Type.Unknown(),
    cwd: Type.Optional(Type.String({ description: 'Real path of the working directory of the call' })),
    reason: Type.Optional(Type.String({ description: 'Why the approval is requested again' })),
    ...SHOWN_WITH_CALL,
    expiresAt: Type.Optional(Timestamp)
  })),
  pendingQuestions: Type.Array(Type.Object(QUESTION_REQUEST), { description: 'Questions of the agent to its user' }),
  pendingToolCalls: Type.Array(
    Type.Object({ toolCallId: Type.String(), toolName: Type.String(), input: Type.Unknown(), expiresAt: Timestamp }),
    { description: 'The calls that the application is to execute; it answers with POST /tool-calls/{id}' }
  ),
  analysis: Type.Optional(ref(AnalysisSchema)),
  evaluation: Type.Optional(ref(EvaluationSchema)),
  task: Type.Optional(ref(RunTaskSchema)),

  steering: Type.Optional(Type.Array(ref(SteerSchema), { description: 'Messages of the user during the run' })),
  compactions: Type.Optional(
    Type.Array(ref(CompactionSchema), { description: 'The compactions of the conversation; absent when it fitted its model' })
  ),
  object: Type.Optional(StructuredAnswer),
  options: Type.Optional(ref(RunOptionsSchema)),
  undone: Type.Optional(ref(ReplacedChangesSchema)),
  threadId: Type.String(),
  runId: Type.String()
}, { $id: 'RunResult', description: 'The whole answer' })
export type RunResult = Static<typeof RunResultSchema>

export const LiveRunSchema = Type.Object({
  ok: Type.Literal(true),
  runId: Type.String(),
  threadId: Type.Optional(Type.String({ description: 'The conversation of the run' })),
  taskId: Type.Optional(Type.String({ description: 'The task of the rehearsal' }))
}, {
  $id: 'LiveRun',
  description: 'The run that the request reached'
})
export type LiveRun = Static<typeof LiveRunSchema>
export const SteeredRunSchema = Type.Object({
  ok: Type.Literal(true),
  runId: Type.String(),
  id: Type.String({ description: 'Id of the message' }),
  state: SteerSchema.properties.state,
  threadId: Type.Optional(Type.String({ description: 'The conversation of the run' })),
  taskId: Type.Optional(Type.String({ description: 'The task of the run' }))
}, { $id: 'SteeredRun', description: 'The run that gets the message, of a conversation or a task' })
export type SteeredRun = Static<typeof SteeredRunSchema>
export const SteerBodySchema = Type.Object({
  message: Type.String({ ...NOT_BLANK, maxLength: 20_000, description: 'The message that the model gets at its next step' }),
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Id of the message; without one the service makes it. A repeated message with the same id takes effect once'
    })
  )
}, { $id: 'SteerBody', additionalProperties: false, examples: [{ message: 'Put it into a folder called notes instead.' }] })
export type SteerBody = Static<typeof SteerBodySchema>
export const ThreadParams = Type.Object({ id: ThreadId })
/** The parameters of `/run/:id/*`: the id of a thread or of a run. */
export const RunOrThreadParams = Type.Object({
  id: Type.String({ ...ThreadId, description: 'The id of a thread, or of a run; if both exist, the thread is meant' })
})
