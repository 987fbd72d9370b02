import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { LearnedSchema, Teaches, SHOWN_WITH_CALL } from './grants.ts'
import { oneOf, ref, Timestamp } from './common.ts'
import { Facts, JudgementFields, Verified } from './evaluation.ts'
import { BUDGET_FIELD, LIVE_FIELDS, QuestionSchema } from './questions.ts'
import { StructuredAnswer } from './run-options.ts'
import { RunFailureSchema } from './task-runs.ts'
import { PhaseSchema, RunStatusSchema, TaskHealthSchema, TaskStatusSchema } from './tasks.ts'

const RunId = Type.String()

/** Defines one event of `GET /tasks/events`; `name` is the name of its component in the OpenAPI document. */
function event<T extends string, P extends TProperties> (name: string, type: T, fields: P, description: string) {
  return Type.Object({ type: Type.Literal(type), taskId: Type.String(), ...fields }, {
    $id: name,
    description
  })
}

export const taskEvents = [
  event('TaskStartEvent', 'task:start', {
    runId: RunId,
    runNumber: Type.Integer(),
    startedAt: Timestamp,
    phases: Type.Array(ref(PhaseSchema))
  }, 'A run begins'),
  event('TaskPhaseEvent', 'task:phase', {
    runId: RunId,
    phase: Type.String({ description: 'The description of the phase' }),
    phaseId: Type.String(),
    status: Type.String()
  }, 'A phase changes status'),
  event('TaskToolStartEvent', 'task:tool-start', { runId: RunId, toolName: Type.String(), input: Type.Unknown() }, 'A tool call begins'),
  event('TaskToolEvent', 'task:tool', {
    runId: RunId,
    tool: Type.String(),
    input: Type.Unknown(),
    output: Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { additionalProperties: true, description: 'The output of the tool; { error } when the call failed or was denied' })
    ),
    status: oneOf(['complete', 'error', 'denied'])
  }, 'A tool call ended'),
  event('TaskEvalEvent', 'task:eval', {
    runId: RunId,
    qualityScore: Type.Number(),
    satisfied: Type.Boolean(),
    issues: Type.Array(Type.String()),
    ...JudgementFields
  }, 'A run was evaluated'),
  event('TaskApprovalEvent', 'task:approval', {
    runId: RunId,
    approvalId: Type.String(),
    kind: oneOf(['tool', 'result', 'question']),
    toolName: Type.Optional(Type.String()),
    input: Type.Optional(Type.Unknown()),
    cwd: Type.Optional(Type.String({ description: 'Real path of the working directory of the call' })),
    reason: Type.Optional(Type.String({ description: 'Why the approval is requested again, or what differs from the approved runs' })),
    ...SHOWN_WITH_CALL,
    teaches: Teaches,
    output: Type.Optional(Type.String()),
    questions: Type.Optional(Type.Array(ref(QuestionSchema))),
    ...BUDGET_FIELD,
    ...LIVE_FIELDS
  }, 'A run waits for approval, or for answers to questions: POST /approvals/{approvalId}'),
  event('TaskToolCallEvent', 'task:tool-call', {
    runId: RunId,
    toolCallId: Type.String(),
    toolName: Type.String(),
    input: Type.Unknown(),
    expiresAt: Timestamp
  }, 'A run waits for the application to execute a call; answer with POST /tool-calls/{id}'),
  event('TaskCompleteEvent', 'task:complete', {
    runId: RunId,
    runNumber: Type.Integer(),
    status: RunStatusSchema,
    output: Type.String(),
    object: Type.Optional(StructuredAnswer),
    durationMs: Type.Integer(),
    toolCount: Type.Integer(),
    qualityScore: Type.Number(),
    verified: Type.Optional(Verified),
    facts: Type.Optional(Facts),
    learned: Type.Optional(ref(LearnedSchema))
  }, 'A run completed successfully'),
  event(
    'TaskErrorEvent',
    'task:error',
    {
      runId: RunId,
      error: Type.String(),
      status: RunStatusSchema,
      failure: Type.Optional(ref(RunFailureSchema)),
      facts: Type.Optional(Facts)
    },
    'A run ended without success: failed, rejected, cancelled or interrupted'
  ),
  event(
    'TaskRetryEvent',
    'task:retry',
    {
      runId: RunId,
      reason: Type.Literal('provider'),
      error: Type.String(),
      tries: Type.Integer({ description: 'How often its last step was tried so far' }),
      retryAt: Timestamp
    },
    'The model provider of a run is down: the run gives its place back, and goes on from its last step at `retryAt`'
  ),
  event('TaskSteerEvent', 'task:steer', { comment: Type.String() }, 'A steering comment was added'),
  event(
    'TaskHealthEvent',
    'task:health',
    { ...TaskHealthSchema.properties },
    'A task began to fail, after five failed runs in a row, or is well again, after a run that completed'
  ),
  event('TaskStatusEvent', 'task:status', { status: TaskStatusSchema, previous: TaskStatusSchema }, 'A task changed its status'),
  event('TaskChangeEvent', 'task:change', { change: oneOf(['created', 'edited', 'deleted']) }, 'A task was created, edited or deleted')
] as const satisfies readonly TObject[]

export const TaskStreamEventSchema = Type.Unsafe<Static<typeof taskEvents[number]>>(Type.Union(taskEvents.map(ref), {
  $id: 'TaskStreamEvent',
  description:
    'One event of the task stream: the JSON of a `data:` line, whose SSE event name is its type. Later versions may add fields and ' +
    'event types, so clients must ignore unknown ones'
}))
/** An event of the task stream. */
export type TaskStreamEvent = Static<typeof TaskStreamEventSchema>
