import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { ref } from './common.ts'
import { CompactionSchema, FinishReason, RunTaskSchema } from './agent.ts'
import * as examples from './examples/events.ts'

const BlockId = Type.String({ description: 'Tells which events belong together' })
const ToolCallId = Type.String({ description: 'Tells which events are about the same tool call' })
const ToolName = Type.String()
const Input = Type.Unknown({ description: 'What the tool is called with' })
const ErrorText = Type.String({ description: 'What went wrong, and what to do' })
const Delta = Type.String({ description: 'The same as content, under the name the AI SDK gives it' })

/** One event of the documented stream; `name` is its component in the OpenAPI document. */
function event<T extends string, P extends TProperties> (name: string, type: T, fields: P, description: string) {
  return Type.Object({ type: Type.Literal(type), ...fields }, { $id: name, description, examples: examples.byType[type] })
}

const Start = event('StartEvent', 'start', {
  messageId: Type.String({ description: 'The message being written; the same after an approval' }),
  messageMetadata: Type.Object({
    threadId: Type.String({ description: 'The conversation: `id` of the next request' }),
    runId: Type.String()
  })
}, 'The stream begins. Leaves before any model has answered')
const ReasoningStart = event('ReasoningStartEvent', 'reasoning-start', {
  id: BlockId,
  providerMetadata: Type.Optional(
    Type.Object({ agent: Type.Object({ phase: Type.Literal('analysis') }) }, {
      description: "On the analysis of the request; absent on the model's own thinking"
    })
  )
}, 'Thinking begins')
const ReasoningDelta = event(
  'ReasoningDeltaEvent',
  'reasoning-delta',
  { id: BlockId, content: Type.String(), delta: Delta },
  'A piece of thinking'
)
const ReasoningEnd = event('ReasoningEndEvent', 'reasoning-end', { id: BlockId }, 'Thinking ends')
const StepBoundary = event('StepBoundaryEvent', 'step-boundary', {}, 'Separates two steps: the model is called again')
const StartStep = event('StartStepEvent', 'start-step', {}, 'A step begins: one call of the model and the tools it asks for')
const FinishStep = event('FinishStepEvent', 'finish-step', {}, 'A step ends')
const TextStart = event('TextStartEvent', 'text-start', { id: BlockId }, 'A block of the answer begins')
const TextDelta = event('TextDeltaEvent', 'text-delta', { id: BlockId, content: Type.String(), delta: Delta }, 'A piece of the answer')
const TextEnd = event('TextEndEvent', 'text-end', { id: BlockId }, 'A block of the answer ends')
const ToolInputStart = event(
  'ToolInputStartEvent',
  'tool-input-start',
  { toolCallId: ToolCallId, toolName: ToolName },
  'A tool call begins'
)
const ToolInputDelta = event('ToolInputDeltaEvent', 'tool-input-delta', {
  toolCallId: ToolCallId,
  inputTextDelta: Type.String({ description: "A piece of the input's JSON text" })
}, 'The input of a tool call, as the model writes it')
const ToolInputAvailable = event('ToolInputAvailableEvent', 'tool-input-available', {
  toolCallId: ToolCallId,
  toolName: ToolName,
  input: Input
}, 'The whole input of a tool call')
const ToolInputError = event('ToolInputErrorEvent', 'tool-input-error', {
  toolCallId: ToolCallId,
  toolName: ToolName,
  input: Type.Optional(Input),
  errorText: ErrorText
}, 'The input does not fit the tool; the model is told, and the run goes on')
const ToolOutputAvailable = event('ToolOutputAvailableEvent', 'tool-output-available', {
  toolCallId: ToolCallId,
  toolName: ToolName,
  output: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description: 'What the tool answered' }))
}, 'The result of a tool call')
const ToolOutputError = event('ToolOutputErrorEvent', 'tool-output-error', {
  toolCallId: ToolCallId,
  toolName: ToolName,
  errorText: ErrorText
}, 'A tool failed; the model is told, and the run goes on')
const ToolOutputDenied = event('ToolOutputDeniedEvent', 'tool-output-denied', {
  toolCallId: ToolCallId,
  toolName: ToolName,
  reason: Type.String({ description: 'Why it was not run' })
}, 'A tool call was not run: the user said no, or the configuration did')
const ToolApprovalRequest = event('ToolApprovalRequestEvent', 'tool-approval-request', {
  approvalId: Type.String({ description: 'What POST /run/approve answers' }),
  toolCallId: ToolCallId,
  toolName: ToolName,
  input: Type.Unknown({ description: 'The whole input the tool will get' }),
  cwd: Type.Optional(Type.String({ description: 'Real path of the folder the call works in' })),
  reason: Type.Optional(Type.String({ description: 'Why it is asked again' }))
}, "A tool call wants a person's word. After the last of its step the stream ends, to be continued by POST /run/approve")
const DataTask = event('DataTaskEvent', 'data-task', {
  id: Type.String({ description: 'The same as data.taskId' }),
  data: ref(RunTaskSchema)
}, 'The request was work for the background: a task was made and started. The answer says so in words, too')
const DataCompaction = event('DataCompactionEvent', 'data-compaction', {
  data: Type.Object(CompactionSchema.properties),
  transient: Type.Literal(true)
}, 'The conversation was too long for its model and was made shorter for it')
const ErrorEvent = event('ErrorEvent', 'error', {
  errorText: Type.String({ description: 'Which model failed, what happened and what to do' }),
  code: Type.String({ description: 'Stable machine-readable code, ERR_…' })
}, 'The run failed; finish follows')
const Abort = event(
  'AbortEvent',
  'abort',
  { reason: Type.String({ description: 'stop, timeout, shutdown, …' }) },
  'The run was ended from outside; finish follows'
)
const Finish = event('FinishEvent', 'finish', { finishReason: FinishReason }, 'The stream is complete; always the last event')

export const events = [
  Start,
  ReasoningStart,
  ReasoningDelta,
  ReasoningEnd,
  StepBoundary,
  StartStep,
  FinishStep,
  TextStart,
  TextDelta,
  TextEnd,
  ToolInputStart,
  ToolInputDelta,
  ToolInputAvailable,
  ToolInputError,
  ToolOutputAvailable,
  ToolOutputError,
  ToolOutputDenied,
  ToolApprovalRequest,
  DataTask,
  DataCompaction,
  ErrorEvent,
  Abort,
  Finish
] as const satisfies readonly TObject[]

/** What a `data:` line of `POST /run` and `/run/approve` holds. */
export const RunStreamEventSchema = Type.Unsafe<Static<typeof events[number]>>(Type.Union(events.map(ref), {
  $id: 'RunStreamEvent',
  description:
    "One event of a run's stream, the JSON of a `data:` line. Events may gain fields, and there may be more types: ignore what you do not know"
}))
export type RunStreamEvent = Static<typeof RunStreamEventSchema>
