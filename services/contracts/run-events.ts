import type { LanguageModelV4FinishReason, LanguageModelV4FunctionTool, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Analysis, RunTask } from '../../schemas/agent.ts'
import type { ErrorCode } from '../../schemas/error-codes.ts'
import type { ErrorBody } from '../../schemas/errors.ts'
import type { Evaluation } from '../../schemas/evaluation.ts'
import type { AskReason, OfferedScope, ShownToolServer } from '../../schemas/grants.ts'
import type { AnsweredBy } from '../../schemas/run-options.ts'
import type { Question, ReachedBudget } from '../../schemas/questions.ts'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { ReplacedChanges } from '../../schemas/undo.ts'
import type { Steer } from '../../schemas/steering.ts'
import type { Stopped } from '../../schemas/stopped.ts'
import type { Usage } from '../../schemas/usage.ts'
import type { ReadTime } from './task-control.ts'
import type { StateOf } from './approval-states.ts'
import type { FileChange } from './tool.ts'

export type FinishReason = LanguageModelV4FinishReason['unified']

/** The fields of every event about a tool call. */
interface Call extends Held {
  toolCallId: string
  toolName: string
}
interface ApprovalRequest {
  type: 'approval-request'
  approvalId: string
  input: unknown
  cwd?: string
  reason?: string
  /** The reasons for asking, one for each policy that requires an approval, in words. */
  reasons?: AskReason[]
  boundary?: { is: 'confined' | 'networked' | 'outside', text: string }
  /** The tool server to which the tool belongs. */
  toolServer?: ShownToolServer
  scopes?: OfferedScope[]
  expiresAt: number
  /** The application executes the call. */
  app?: true
}
interface QuestionRequest {
  approvalId: string
  toolCallId?: string
  questions: Question[]
  /** The service asks whether the run is allowed to spend more than this budget. */
  budget?: ReachedBudget
  live?: true
  /** The name of the tool server that asks, and `url`, a page that the user has to open. */
  server?: string
  url?: string
  expiresAt: number
}
/**
 * The fields of the event that ends a call: the files that the call changed (only the judge reads these), and
 * how long its tool executed, in milliseconds.
 */
interface Ended {
  changes?: FileChange[]
  durationMs?: number
}
/** All metadata that the provider has attached to the part so far. `agent.model` names the model; see models/reasoning.ts. */
interface Meta extends Held {
  providerMetadata?: SharedV4ProviderMetadata
}
/**
 * Marks the events of the second version of an answer. Marked events are not sent to readers, because the judge
 * compares the versions first.
 */
interface Held {
  isHeld?: true
}

/** A text file in a working folder with instructions for work in that folder. */
export interface FolderGuide {
  /** The name of the file. */
  name: string
  /** The beginning of the file. */
  text: string
  /** The size of the file in bytes, if `text` is only a part of it. */
  size?: number
  /** A digest of the folder and the text. */
  digest: string
}

/** What models receive besides the messages. It is created at the first step of a run and stays the same for the whole run. */
export interface RunContext {
  at: number
  cwd: string
  /** The system messages. Messages that seldom change come first. */
  system: string[]
  /**
   * The memory entries that the system messages show. The text about these entries is the last `length` characters
   * of system message `part`.
   */
  memory?: { shown: { ids: string[], isPartial: boolean }, part: number, length: number }
  /** The guide of the working folder: its AGENTS.md, else its CLAUDE.md. */
  guide?: FolderGuide
  /** A line for each skill that exists, with its name and description. */
  skills?: string[]
  /** The notes of earlier runs of the task, which the first message contains as data. */
  earlier?: string
  tools: LanguageModelV4FunctionTool[]
  /** The names of deferred tools: the model can call them, but finds their descriptions only with `findTools`. */
  deferred?: string[]
}

/**
 * Why a part of the request was not passed to the model, or was not carried out. `no-task`: the request names a
 * time, but no task was created.
 */
export type NoticeCode = 'no-tools' | 'no-pictures' | 'file-refused' | 'tool-refused' | 'prompt-cut' | 'no-task'

/** A structured answer. `attempts`: how many answers the model gave, including those that did not fit the schema. */
interface GivenObject {
  object: Record<string, unknown>
  attempts: number
}

/** A part of an answer, or a call, that has begun but not ended. */
export type OpenPart = { kind: 'text' | 'reasoning', id: string } | { kind: 'call', id: string, toolName: string }

/**
 * How a step ended. `isPaused`: the provider paused a long turn; the model is asked again with the same messages,
 * and continues. `unreadCall`: the answer ended with text that looks like a tool call but could not be parsed;
 * the step stores this text as reasoning. `isLooping`: the end of the text repeated itself and was cut off.
 */
export interface StepMarks {
  isPaused?: true
  unreadCall?: string
  isLooping?: true
}

/**
 * An event of a run, independent of any protocol. The loop appends the events. Every view of the run (the documented stream, the stream of
 * the AI SDK, replays, the prompt of the next model call) is computed from the events. `start` begins a segment: the part of a run that one
 * request streams, up to the end of the run or to its next wait for a person. A run that waits for approvals has several segments.
 */
export type RunEvent =
  /** `wasStopped`: the run continues a chat's message whose metadata says why it stopped. */
  | { type: 'start', messageId: string, threadId: string, runId: string, dryRun?: true, undone?: ReplacedChanges, wasStopped?: true }
  | { type: 'reasoning-start', id: string, phase: 'analysis' | 'answer' } & Meta
  | { type: 'reasoning-delta', id: string, delta: string } & Meta
  | { type: 'reasoning-end', id: string } & Meta
  | { type: 'analysis', analysis: Analysis }
  | { type: 'context', context: RunContext }
  | { type: 'step-start', step: number } & Held
  | { type: 'step-finish', step: number, finishReason: FinishReason, usage: Usage } & StepMarks & Held
  /**
   * The answer of the step broke off, and the model is asked again. The content since `step-start` is dropped. `dropped`: the
   * ids of its parts and calls. `open`: the parts that readers take to be in progress. `step-start` of the same step follows.
   */
  | { type: 'retry', attempt: number, reason: string, dropped: string[], open: OpenPart[] }
  /** The model has sent nothing for `sinceMs` milliseconds. The event is only shown while the run waits, and is not stored. */
  | { type: 'waiting', for: 'model', sinceMs: number }
  | { type: 'notice', code: NoticeCode, text: string, task?: { goal: string } & Omit<ReadTime, 'confirm'> }
  | { type: 'text-start', id: string } & Meta
  | { type: 'text-delta', id: string, delta: string } & Meta
  | { type: 'text-end', id: string } & Meta
  | { type: 'tool-input-start' } & Call
  | { type: 'tool-input-delta', toolCallId: string, delta: string } & Held
  /**
   * `app`: the application executes the call. Chat clients execute such a call as soon as they receive its input, so the input
   * is sent to them later. `isFromText`: the model wrote the call as text, so the call needs an approval unless it only reads.
   */
  | { type: 'tool-input', input: unknown, app?: true, isFromText?: true } & Call & Meta
  | { type: 'tool-input-error', input: unknown, errorText: string } & Call & Meta
  /**
   * The tool of the call is about to start. In runs that continue after a crash, the event is stored before each
   * call that can change something or that was approved. `grantId`: the grant that covers the call.
   */
  | { type: 'tool-intent', toolCallId: string, grantId?: string }
  /** The progress of a call. The event is only shown while the call runs, and is not stored. */
  | { type: 'tool-progress' } & Call & ToolProgress
  /**
   * `isWrapped`: the application's output was not an object, so it is the property `result` of `output`. Chat
   * clients receive the output as the application sent it.
   */
  | { type: 'tool-output', output: Record<string, unknown>, isWrapped?: true } & Call & Ended
  | { type: 'tool-error', errorText: string } & Call & Ended
  /**
   * `approvalId` is present if the user denied the call. It is absent if no approval was requested, if nobody answered in time, and for
   * calls of the application.
   */
  | { type: 'tool-denied', reason: string, approvalId?: string } & Call
  | ApprovalRequest & Call
  /** The application has to execute the call before `expiresAt` (milliseconds since the Unix epoch). */
  | { type: 'tool-call-request', input: unknown, expiresAt: number } & Call
  /** The agent asks the user. With `live`, a tool server asks in the middle of a call, and the run continues meanwhile. */
  | { type: 'question-request' } & QuestionRequest
  /** Live questions were answered, declined or withdrawn, or have expired. The answers are sent only to the tool server. */
  | { type: 'question-closed', state: StateOf<'question'> } & QuestionRequest
  | { type: 'evaluation', evaluation: Evaluation }
  /** The answer of a model to a question that the service asked about the run. `name`: which question. Used for recordings. */
  | { type: 'aside', name: string, model: string, text: string, usage: Usage }
  /** The structured answer that the options of the run require. */
  | { type: 'object' } & GivenObject
  /** The request became a background task. */
  | { type: 'task', task: RunTask }
  /**
   * The conversation was shortened. `before`, `after`: estimated tokens. `outputs`: how many tool outputs were
   * left out. `summarised`: how many messages were summarised. `dropped`: how many messages were dropped.
   */
  | { type: 'compaction', before: number, after: number, outputs: number, summarised: number, dropped: number }
  /**
   * A message of the user during the run. Its state is `waiting` until a step reads the message, which then counts as a user message
   * between two steps. If no step has read it when the run ends, the state is `unread`. The newest event with the same id counts.
   */
  | { type: 'steer', at: number } & Steer
  /**
   * A message from the service to the model between two steps. `isReview`: it lists the issues that the judge found.
   * `isRetry`: it says that the run has not given its answer yet, or repeats itself. `object`: the structured answer
   * that was reviewed. `mayStand`: the reviewed answer remains valid if no second version follows.
   */
  | { type: 'message', text: string, isRetry?: true, isReview?: true, object?: GivenObject, mayStand?: true }
  /** The second version of the answer replaces the first, because the calls contradict the second version less. */
  | { type: 'revision', text: string }
  /** `isEnd`: the run cannot continue, so chats keep the error with its message. */
  | { type: 'error', errorText: string, code: ErrorCode, details?: ErrorBody['details'], retryAfterMs?: number, isEnd?: true }
  | { type: 'abort', reason: string }
  | { type: 'finish', finishReason: FinishReason, usage: Usage, stopped?: Stopped, answeredBy?: AnsweredBy }

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

/**
 * Returns the metadata that chats store with the message of a run: the ids of conversation and run, whether the
 * run was a rehearsal, and which changes were undone before it.
 */
export const metadataOf = ({ threadId, runId, dryRun, undone }: EventOf<'start'>) =>
  ({ threadId, runId, ...(dryRun && { dryRun }), ...(undone && { undone }) })

/** Returns the metadata that chats store with the message of a run when a segment of the run has ended. */
export const finishMetadataOf = ({ finishReason, usage, stopped, answeredBy }: EventOf<'finish'>) =>
  ({ finishReason, usage, ...(stopped && { stopped }), ...(answeredBy && { answeredBy }) })

/** Whether an event is held back from readers. */
export const isHeld = (event: RunEvent): boolean => 'isHeld' in event && event.isHeld === true

/** Returns the text of the newest step, in any segment. */
export function newestText (events: readonly RunEvent[]): string {
  let text = ''
  for (const event of events) {
    if (event.type === 'step-start') text = ''
    if (event.type === 'text-delta') text += event.delta
  }
  return text
}

/** Returns the text of the answer: the text of the last step, or the second version if it replaced the first. */
export function answerText (events: readonly RunEvent[]): string {
  const revision = events.findLast((event) => event.type === 'revision' || (event.type === 'steer' && event.state === 'read'))
  return revision?.type === 'revision' ? revision.text : newestText(withoutRevision(events))
}

/** Returns the review that asked for a second version of the answer; undefined if there is none. */
export function reviewIn (events: readonly RunEvent[]): EventOf<'message'> | undefined {
  const newest = events.findLast((event): event is EventOf<'message' | 'steer'> =>
    (event.type === 'message' && event.isReview === true) || (event.type === 'steer' && event.state === 'read'))
  // If a message of the user came after the review, the run has to give another answer.
  return newest?.type === 'message' ? newest : undefined
}

/** Returns the events before the review that asked for a second version; all events if there is no review. */
function withoutRevision (events: readonly RunEvent[]): readonly RunEvent[] {
  const review = reviewIn(events)
  return review === undefined ? events : events.slice(0, events.lastIndexOf(review))
}

/** Returns the version of the answer that readers do not receive; undefined if there is only one version. */
export function otherVersion (events: readonly RunEvent[]): string | undefined {
  if (reviewIn(events) === undefined) return undefined
  const first = newestText(withoutRevision(events)).trim()
  const other = events.some(({ type }) => type === 'revision') ? first : newestText(events).trim()
  return other === '' || other === answerText(events).trim() ? undefined : other
}

/** Returns the events up to the end of the version of the answer that readers receive. */
export const answerEvents = (events: readonly RunEvent[]): readonly RunEvent[] =>
  events.some(({ type }) => type === 'revision') ? events : withoutRevision(events)

/** Returns the evaluation of the version of the answer that readers receive. */
export const answerEvaluation = (events: readonly RunEvent[]): Evaluation | undefined =>
  answerEvents(events).findLast((event) => event.type === 'evaluation')?.evaluation

/** Returns the tool calls that have no outcome, in their order. */
export function openCalls (events: readonly RunEvent[]): Array<EventOf<'tool-input'>> {
  const open = new Map<string, EventOf<'tool-input'>>()
  for (const event of events) {
    if (event.type === 'tool-input') open.set(event.toolCallId, event)
    if (event.type === 'tool-output' || event.type === 'tool-error' || event.type === 'tool-denied') open.delete(event.toolCallId)
  }
  return [...open.values()]
}

/** Returns the events from the beginning of the newest step; all events if no step has begun. */
export function newestStep (events: readonly RunEvent[]): readonly RunEvent[] {
  // A plain loop, because the function is called several times in each step, over thousands of events.
  let at = events.length - 1
  while (at > 0 && events[at].type !== 'step-start') at--
  return events.slice(Math.max(at, 0))
}
