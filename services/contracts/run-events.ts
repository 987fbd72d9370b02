import type { LanguageModelV4FinishReason, LanguageModelV4FunctionTool, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Analysis, RunTask } from '../../schemas/agent.ts'
import type { ErrorBody } from '../../schemas/errors.ts'
import type { Evaluation } from '../../schemas/evaluation.ts'
import type { AskReason, OfferedScope, ShownToolServer } from '../../schemas/grants.ts'
import type { AnsweredBy } from '../../schemas/run-options.ts'
import type { Question } from '../../schemas/questions.ts'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
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
  /** Why it asks: the policies that asked, in words. */
  reasons?: AskReason[]
  boundary?: { is: 'confined' | 'networked' | 'outside', text: string }
  /** The tool server whose tool it is. */
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
  live?: true
  /** The tool server that asks, and the address that it wants to have opened. */
  server?: string
  url?: string
  expiresAt: number
}
/** The end of a call: the files that it changed, which only the judge reads, and how long its tool worked, milliseconds. */
interface Ended {
  changes?: FileChange[]
  durationMs?: number
}
/** All metadata that the provider has attached to the part so far. `agent.model` is the model, see models/reasoning.ts. */
interface Meta extends Held {
  providerMetadata?: SharedV4ProviderMetadata
}
/** Of the second version of an answer: no reader is shown the event, because the version is judged first. */
interface Held {
  isHeld?: true
}

/** The text of the file in a working folder that says how to work there. */
export interface FolderGuide {
  /** The name of the file. */
  name: string
  /** The beginning of the file. */
  text: string
  /** The bytes of the file when `text` is not all of it. */
  size?: number
  /** Identifies folder and text. */
  digest: string
}

/** The context that models get beside the messages. It is made at the first step of a run and stays the same for the whole run. */
export interface RunContext {
  at: number
  cwd: string
  /** The system messages, from what seldom changes to what often changes. */
  system: string[]
  /** What the system messages show of the user's memory, and which characters of which message say it. */
  memory?: { shown: { ids: string[], isPartial: boolean }, part: number, length: number }
  /** The guide of the working folder. */
  guide?: FolderGuide
  /** Names and descriptions of the skills that there are, a line each. */
  skills?: string[]
  /** What earlier runs of the task noted, which the first message brings as data. */
  earlier?: string
  tools: LanguageModelV4FunctionTool[]
  /** The names of the tools that the model can call and is not told of; it finds them. */
  deferred?: string[]
}

/** What a model, or its server, did not take; no-task: the request names a time, and no task was made. */
export type NoticeCode = 'no-tools' | 'no-pictures' | 'file-refused' | 'tool-refused' | 'prompt-cut' | 'no-task'

/** A structured answer, and the number of answers of the model, with those that did not fit. */
interface GivenObject {
  object: Record<string, unknown>
  attempts: number
}

/** A part or a call of an answer that has begun. */
export type OpenPart = { kind: 'text' | 'reasoning', id: string } | { kind: 'call', id: string, toolName: string }

/**
 * How a step ended. `isPaused`: the provider paused a long turn; the model is asked again as it is, and goes on. `unreadCall`: the answer
 * ended with what looks like a call and could not be read; it stands in the step as reasoning. `isLooping`: its text repeated its own end
 * and was cut.
 */
export interface StepMarks {
  isPaused?: true
  unreadCall?: string
  isLooping?: true
}

/**
 * One neutral event of a run. The loop appends the events; every view of the run (the documented stream, the SDK's protocol,
 * replays, the prompt of the next model call) is rendered from them.
 *
 * `start` begins a segment, which is the part of a run that one request streams. A run that waits for approvals has several.
 */
export type RunEvent =
  | { type: 'start', messageId: string, threadId: string, runId: string, dryRun?: true }
  | { type: 'reasoning-start', id: string, phase: 'analysis' | 'answer' } & Meta
  | { type: 'reasoning-delta', id: string, delta: string } & Meta
  | { type: 'reasoning-end', id: string } & Meta
  | { type: 'analysis', analysis: Analysis }
  | { type: 'context', context: RunContext }
  | { type: 'step-start', step: number } & Held
  | { type: 'step-finish', step: number, finishReason: FinishReason, usage: Usage } & StepMarks & Held
  /**
   * The answer of the step broke off: what it held since `step-start` is dropped (`dropped`: the ids of its parts and calls; `open`: what
   * readers take to be under way), and the model is asked again. `step-start` of the same step follows.
   */
  | { type: 'retry', attempt: number, reason: string, dropped: string[], open: OpenPart[] }
  /** Nothing has come from the model for so long, milliseconds. It is shown while the run waits, and not stored. */
  | { type: 'waiting', for: 'model', sinceMs: number }
  | { type: 'notice', code: NoticeCode, text: string, task?: { goal: string } & Omit<ReadTime, 'confirm'> }
  | { type: 'text-start', id: string } & Meta
  | { type: 'text-delta', id: string, delta: string } & Meta
  | { type: 'text-end', id: string } & Meta
  | { type: 'tool-input-start' } & Call
  | { type: 'tool-input-delta', toolCallId: string, delta: string } & Held
  /**
   * `app`: the application executes the call. Chat clients act on a call when its input is there, so they get it later. `isFromText`: the
   * model wrote the call as text, so that it asks unless it only reads.
   */
  | { type: 'tool-input', input: unknown, app?: true, isFromText?: true } & Call & Meta
  | { type: 'tool-input-error', input: unknown, errorText: string } & Call & Meta
  /**
   * The tool of the call is about to start. In runs that continue after a crash, it is stored before each call that may change
   * something or was approved. `grantId` is the grant that covers it.
   */
  | { type: 'tool-intent', toolCallId: string, grantId?: string }
  /** How far a call is. It is shown while the call runs, and not stored. */
  | { type: 'tool-progress' } & Call & ToolProgress
  /** `isWrapped`: the application's output was no object, and is the property `result`. Chat clients get it as they gave it. */
  | { type: 'tool-output', output: Record<string, unknown>, isWrapped?: true } & Call & Ended
  | { type: 'tool-error', errorText: string } & Call & Ended
  /**
   * `approvalId` is present if the user denied the call, and absent if no approval was requested or none was answered in time, and for
   * calls of the application.
   */
  | { type: 'tool-denied', reason: string, approvalId?: string } & Call
  | ApprovalRequest & Call
  /** The application is to execute the call, until `expiresAt` (milliseconds since the Unix epoch). */
  | { type: 'tool-call-request', input: unknown, expiresAt: number } & Call
  /** The agent asks the user, or, with `live`, a tool server in the middle of a call: then the run goes on meanwhile. */
  | { type: 'question-request' } & QuestionRequest
  /** Live questions were answered or declined, have expired or were withdrawn. The answers are the server's alone. */
  | { type: 'question-closed', state: StateOf<'question'> } & QuestionRequest
  | { type: 'evaluation', evaluation: Evaluation }
  /** What a model answered to a question of the service about the run, by the name of the question; for recordings. */
  | { type: 'aside', name: string, model: string, text: string, usage: Usage }
  /** The structured answer that the options of the run ask for. */
  | { type: 'object' } & GivenObject
  /** The request became a background task. */
  | { type: 'task', task: RunTask }
  /**
   * The conversation was compacted: estimated tokens before and after, and the numbers of tool outputs left out (`outputs`), of
   * messages summarised and of messages dropped.
   */
  | { type: 'compaction', before: number, after: number, outputs: number, summarised: number, dropped: number }
  /**
   * What the user said while the run was under way. It is `waiting` until a step reads it: then it is a message of the user between two
   * steps. What no step has answered when the run ends is `unread`. The newest event of an id counts.
   */
  | { type: 'steer', at: number } & Steer
  /**
   * A message to the model between two steps that nobody said meanwhile: the issues that the judge found (`isReview`), or, with `isRetry`,
   * what the service has to say: that the run still owes its answer, or repeats itself. `object` is the structured answer that was
   * reviewed. `mayStand`: the answer that was reviewed stands when no other version comes.
   */
  | { type: 'message', text: string, isRetry?: true, isReview?: true, object?: GivenObject, mayStand?: true }
  /** The second version of the answer is what the calls contradict less: it takes the place of the first. */
  | { type: 'revision', text: string }
  | { type: 'error', errorText: string, code: string, details?: ErrorBody['details'] }
  | { type: 'abort', reason: string }
  | { type: 'finish', finishReason: FinishReason, usage: Usage, stopped?: Stopped, answeredBy?: AnsweredBy }

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

/** Returns what chats keep with the message of a run: where it belongs, and whether it was only rehearsed. */
export const metadataOf = ({ threadId, runId, dryRun }: EventOf<'start'>) => ({ threadId, runId, ...(dryRun && { dryRun }) })

/** Returns what chats keep with the message of a run when a segment of it has ended. */
export const finishMetadataOf = ({ finishReason, usage, stopped, answeredBy }: EventOf<'finish'>) =>
  ({ finishReason, usage, ...(stopped && { stopped }), ...(answeredBy && { answeredBy }) })

/** Whether no reader is shown an event. */
export const isHeld = (event: RunEvent): boolean => 'isHeld' in event && event.isHeld === true

/** Returns the text of the newest step that has begun, over all segments. */
export function newestText (events: readonly RunEvent[]): string {
  let text = ''
  for (const event of events) {
    if (event.type === 'step-start') text = ''
    if (event.type === 'text-delta') text += event.delta
  }
  return text
}

/** Returns the text of the answer: the assistant's text in the last step, over all segments, or the version that took its place. */
export function answerText (events: readonly RunEvent[]): string {
  const revision = events.findLast((event) => event.type === 'revision' || (event.type === 'steer' && event.state === 'read'))
  return revision?.type === 'revision' ? revision.text : newestText(withoutRevision(events))
}

/** Returns the review that asked for the second version of the answer that the run gives or has given; undefined for none. */
export function reviewIn (events: readonly RunEvent[]): EventOf<'message'> | undefined {
  const newest = events.findLast((event): event is EventOf<'message' | 'steer'> =>
    (event.type === 'message' && event.isReview === true) || (event.type === 'steer' && event.state === 'read'))
  // What the user said after the review asks for another answer.
  return newest?.type === 'message' ? newest : undefined
}

/** Returns the events up to the review that asked for a second version; all where none did. */
function withoutRevision (events: readonly RunEvent[]): readonly RunEvent[] {
  const review = reviewIn(events)
  return review === undefined ? events : events.slice(0, events.lastIndexOf(review))
}

/** Returns the version of the answer that its readers do not get; undefined where there is one version. */
export function otherVersion (events: readonly RunEvent[]): string | undefined {
  if (reviewIn(events) === undefined) return undefined
  const first = newestText(withoutRevision(events)).trim()
  const other = events.some(({ type }) => type === 'revision') ? first : newestText(events).trim()
  return other === '' || other === answerText(events).trim() ? undefined : other
}

/** Returns the events up to the end of the version of the answer that its readers get. */
export const answerEvents = (events: readonly RunEvent[]): readonly RunEvent[] =>
  events.some(({ type }) => type === 'revision') ? events : withoutRevision(events)

/** Returns the evaluation of the version of the answer that its readers get. */
export const answerEvaluation = (events: readonly RunEvent[]): Evaluation | undefined =>
  answerEvents(events).findLast((event) => event.type === 'evaluation')?.evaluation

/** Returns the tool calls without an outcome, in their order. */
export function openCalls (events: readonly RunEvent[]): Array<EventOf<'tool-input'>> {
  const open = new Map<string, EventOf<'tool-input'>>()
  for (const event of events) {
    if (event.type === 'tool-input') open.set(event.toolCallId, event)
    if (event.type === 'tool-output' || event.type === 'tool-error' || event.type === 'tool-denied') open.delete(event.toolCallId)
  }
  return [...open.values()]
}

/** Returns the events of the newest step, and of what followed it; all events if there is none. */
export function newestStep (events: readonly RunEvent[]): readonly RunEvent[] {
  // A loop: it goes over the events of an answer, thousands of deltas, a few times in each step.
  let at = events.length - 1
  while (at > 0 && events[at].type !== 'step-start') at--
  return events.slice(Math.max(at, 0))
}
