import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { SHOWN_WITH_CALL } from './grants.ts'
import { oneOf, ref, Timestamp } from './common.ts'
import { PlanSchema } from './plan.ts'
import { SteerSchema } from './steering.ts'
import { StoppedSchema } from './stopped.ts'
import { CompactionSchema, FinishReason, RunTaskSchema } from './agent.ts'
import { ErrorDetails } from './errors.ts'
import { AnsweredBySchema, StructuredAnswer } from './run-options.ts'
import { ReplacedChangesSchema } from './undo.ts'
import { UsageSchema } from './usage.ts'
import { LIVE_FIELDS, QUESTION_REQUEST } from './questions.ts'
import { ScheduleSchema } from './schedule.ts'
import { PROGRESS } from './tool-progress.ts'

const BlockId = Type.String({ description: 'Id of the block; all events of a block have the same id' })
const ToolCallId = Type.String({ description: 'Id of the tool call; all events of a tool call have the same id' })
const ToolName = Type.String()
const Input = Type.Unknown({ description: 'The input of the tool call' })
const ErrorText = Type.String({ description: 'What went wrong, and what to do' })
const Delta = Type.String({ description: 'The same text as content, under the name that the AI SDK uses' })

/** Defines one event of the documented stream; `name` is the name of its component in the OpenAPI document. */
function event<T extends string, P extends TProperties> (name: string, type: T, fields: P, description: string, examples?: object[]) {
  return Type.Object({ type: Type.Literal(type), ...fields }, { $id: name, description, ...examples && { examples } })
}

export const events = [
  event('StartEvent', 'start', {
    messageId: Type.String({ description: 'Id of the message that the run writes; it stays the same after an approval' }),
    messageMetadata: Type.Object({
      threadId: Type.String({ description: 'Id of the conversation; send it as `id` in the next request' }),
      runId: Type.String(),
      dryRun: Type.Optional(Type.Literal(true, { description: 'The run is a rehearsal: nothing of it happens' })),
      undone: Type.Optional(ref(ReplacedChangesSchema))
    })
  }, 'The stream begins. This event is sent before any model has answered'),
  event('ReasoningStartEvent', 'reasoning-start', {
    id: BlockId,
    providerMetadata: Type.Optional(
      Type.Object({ agent: Type.Object({ phase: Type.Literal('analysis') }) }, {
        description: "Present when the block is the analysis of the request; absent for the model's own thinking"
      })
    )
  }, 'A block of thinking begins'),
  event(
    'ReasoningDeltaEvent',
    'reasoning-delta',
    { id: BlockId, content: Type.String(), delta: Delta },
    'A piece of thinking'
  ),
  event('ReasoningEndEvent', 'reasoning-end', { id: BlockId }, 'A block of thinking ends'),
  event('StepBoundaryEvent', 'step-boundary', {}, 'Separates two steps: the model is called again after it'),
  event('StartStepEvent', 'start-step', {}, 'A step begins: one model call and the tool calls that it requests'),
  event('FinishStepEvent', 'finish-step', {}, 'A step ends'),
  event('TextStartEvent', 'text-start', { id: BlockId }, 'A block of the answer begins'),
  event('TextDeltaEvent', 'text-delta', { id: BlockId, content: Type.String(), delta: Delta }, 'A piece of the answer', [
    { type: 'text-delta', id: 'text-1', content: 'This folder holds ', delta: 'This folder holds ' }
  ]),
  event('TextEndEvent', 'text-end', { id: BlockId }, 'A block of the answer ends'),
  event(
    'ToolInputStartEvent',
    'tool-input-start',
    { toolCallId: ToolCallId, toolName: ToolName },
    'A tool call begins'
  ),
  event('ToolInputDeltaEvent', 'tool-input-delta', {
    toolCallId: ToolCallId,
    inputTextDelta: Type.String({ description: "A piece of the input's JSON text" })
  }, 'A piece of the input of a tool call, sent while the model writes it'),
  event('ToolInputAvailableEvent', 'tool-input-available', {
    toolCallId: ToolCallId,
    toolName: ToolName,
    input: Input
  }, 'The complete input of a tool call'),
  event('ToolInputErrorEvent', 'tool-input-error', {
    toolCallId: ToolCallId,
    toolName: ToolName,
    input: Type.Optional(Input),
    errorText: ErrorText
  }, "The input does not match the tool's schema. The model gets the error, and the run continues"),
  event('ToolOutputAvailableEvent', 'tool-output-available', {
    toolCallId: ToolCallId,
    toolName: ToolName,
    output: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description: 'The output of the tool' }))
  }, 'The result of a tool call'),
  event('ToolProgressEvent', 'tool-progress', {
    toolCallId: ToolCallId,
    toolName: ToolName,
    ...PROGRESS
  }, 'How far a call is, as its tool reports it; at most two a second, and none of them is stored'),
  event('ToolOutputErrorEvent', 'tool-output-error', {
    toolCallId: ToolCallId,
    toolName: ToolName,
    errorText: ErrorText
  }, 'A tool failed. The model gets the error, and the run continues'),
  event('ToolOutputDeniedEvent', 'tool-output-denied', {
    toolCallId: ToolCallId,
    toolName: ToolName,
    reason: Type.String({ description: 'Why the call was not executed' })
  }, 'A tool call was not executed because the user or the configuration denied it'),
  event('ToolApprovalRequestEvent', 'tool-approval-request', {
    approvalId: Type.String({ description: 'Id of the approval request, for POST /run/approve' }),
    toolCallId: ToolCallId,
    toolName: ToolName,
    input: Type.Unknown({ description: 'The complete input of the tool call' }),
    cwd: Type.Optional(Type.String({ description: 'Real path of the working directory of the call' })),
    reason: Type.Optional(Type.String({ description: 'Why the approval is requested again' })),
    ...SHOWN_WITH_CALL,
    expiresAt: Type.Optional(Timestamp)
  }, 'A tool call needs approval. The stream ends after the last approval request of a step; POST /run/approve continues the run'),
  event(
    'QuestionRequestEvent',
    'question-request',
    { ...QUESTION_REQUEST, ...LIVE_FIELDS },
    'The agent asks its user. The stream ends after the last request of a step; POST /approvals/{approvalId} or POST /run/approve with ' +
      'answers continues the run. With live, a tool server asks: the stream goes on, and POST /approvals/{approvalId} answers'
  ),
  event('QuestionClosedEvent', 'question-closed', {
    approvalId: QUESTION_REQUEST.approvalId,
    toolCallId: QUESTION_REQUEST.toolCallId,
    state: oneOf(['pending', 'answered', 'declined', 'expired', 'withdrawn'], { description: 'withdrawn: the call that asked has ended' })
  }, 'Live questions cannot be answered any more'),
  event('ToolCallRequestEvent', 'tool-call-request', {
    toolCallId: Type.String({ description: 'Id of the call, for POST /tool-calls/{id}' }),
    toolName: ToolName,
    input: Type.Unknown({ description: 'The complete input of the call' }),
    expiresAt: Type.Integer({ description: 'Until then the call can be answered; milliseconds since the Unix epoch' })
  }, 'The application is to execute a call of one of its tools (options.appTools). The stream ends after the last call of a step; ' +
    'POST /tool-calls/{id}, or POST /run with the tool result, continues the run'),
  event('DataTaskEvent', 'data-task', {
    id: Type.String({ description: 'The same as data.taskId' }),
    data: ref(RunTaskSchema)
  }, 'The run created and started a background task for the request. The text of the answer says so, too'),
  event('DataObjectEvent', 'data-object', {
    id: Type.Literal('object'),
    data: Type.Object({
      object: StructuredAnswer,
      attempts: Type.Integer({ description: 'The answers of the model, with those that did not fit' })
    })
  }, 'The structured answer that options.object asks for'),
  event('DataRevisionEvent', 'data-revision', {
    id: Type.Literal('revision'),
    data: Type.Object({ text: Type.String({ description: 'The whole text of the second version' }) })
  }, 'The answer was reviewed and written again, and the calls contradict this version less than the text before: show it in its place'),
  event('DataPlanEvent', 'data-plan', {
    id: Type.Literal('plan'),
    data: ref(PlanSchema)
  }, 'The plan of the run, as its model has just shown it; it replaces an earlier one'),
  event('DataCompactionEvent', 'data-compaction', {
    data: ref(CompactionSchema),
    transient: Type.Literal(true)
  }, 'The conversation was too long for its model and was shortened for it'),
  event('DataRetryEvent', 'data-retry', {
    data: Type.Object({
      attempt: Type.Integer({ description: 'Counted from 1 within the step' }),
      reason: Type.String({ description: 'A sentence that says what happened' }),
      dropped: Type.Array(Type.String(), { description: 'Ids of the parts and calls that are void: all since the last start-step' })
    })
  }, 'The answer of the model broke off in the middle, and the model is asked again. Drop what came since the last start-step'),
  event('DataWaitingEvent', 'data-waiting', {
    data: Type.Object({
      for: Type.Literal('model'),
      sinceMs: Type.Integer({ description: 'How long nothing has come, milliseconds' })
    }),
    transient: Type.Literal(true)
  }, 'Nothing has come from the model for ten seconds or more'),
  event('DataNoticeEvent', 'data-notice', {
    data: Type.Object({
      code: oneOf(['no-tools', 'no-pictures', 'file-refused', 'tool-refused', 'prompt-cut', 'no-task'], {
        description: 'The model takes no tools or no pictures, or refused a file or a tool, and goes on without; or its server reads ' +
          'less than it was sent; no-task: the request names a time, and no task was made or changed'
      }),
      text: Type.String({ description: 'A sentence for the user that says what is missing and what to do' }),
      task: Type.Optional(Type.Object({
        goal: Type.String({ description: 'The request without its time' }),
        schedule: ref(ScheduleSchema),
        words: Type.String({ description: 'The schedule in words' }),
        zone: Type.String({ description: 'The time zone of its local times' }),
        next: Type.Array(Timestamp, { description: 'The next planned times' })
      }, { description: 'For the code no-task: the body for POST /tasks that makes the task' }))
    }),
    transient: Type.Literal(true)
  }, 'The model, or its server, did not take all that it was sent; or no task was made of a request that names a time'),
  event('DataSteerEvent', 'data-steer', {
    id: Type.Optional(Type.String({ description: 'The same as data.id; absent while it waits' })),
    data: ref(SteerSchema),
    transient: Type.Optional(Type.Literal(true, { description: 'It waits, and is no part of the answer yet' }))
  }, 'What the user said while the run was under way. It stands before the step that reads it: a message of the user within the answer'),
  event(
    'DataStoppedEvent',
    'data-stopped',
    { data: ref(StoppedSchema) },
    'The run ends before its model said that it was done'
  ),
  event('ErrorEvent', 'error', {
    errorText: Type.String({ description: 'A sentence that names the model that failed, what happened and what to do' }),
    code: Type.String({ description: 'Stable machine-readable code, ERR_…' }),
    details: Type.Optional(ErrorDetails)
  }, 'The run failed; the event finish follows'),
  event(
    'AbortEvent',
    'abort',
    { reason: Type.String({ description: 'stop, timeout, shutdown, …' }) },
    'The run was ended before it was complete; the event finish follows'
  ),
  event(
    'FinishEvent',
    'finish',
    {
      finishReason: FinishReason,
      usage: ref(UsageSchema),
      stopped: Type.Optional(ref(StoppedSchema)),
      answeredBy: Type.Optional(AnsweredBySchema)
    },
    'The stream is complete. This is always the last event'
  )
] as const satisfies readonly TObject[]

/** The content of one `data:` line of `POST /run` and `POST /run/approve`. */
export const RunStreamEventSchema = Type.Unsafe<Static<typeof events[number]>>(Type.Union(events.map(ref), {
  $id: 'RunStreamEvent',
  description:
    "One event of a run's stream: the JSON of a `data:` line. Later versions may add fields and event types, so clients must ignore " +
    'unknown ones'
}))
