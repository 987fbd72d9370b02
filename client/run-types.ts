import type { Message } from './conversation.ts'
import type {
  Answers,
  ApprovalDecision,
  FinishEvent,
  ReplacedChanges,
  Question,
  QuestionRequestEvent,
  RunBody,
  RunOptions,
  RunTask,
  Steer,
  ToolApprovalRequestEvent
} from './generated/index.ts'

/** The definition of a tool of the application. */
export type AppTool = NonNullable<RunOptions['appTools']>[number]
export interface ToolContext {
  toolCallId: string
  toolName: string
  /** Aborts when the call has timed out, when its claim is lost, and together with the run's own signal. */
  signal: AbortSignal
}
/** Executes a call. The returned value is the output of the tool; a thrown error is reported to the model. */
export type Execute = (input: any, context: ToolContext) => unknown
/** A tool of the application: its definition and the function that executes it. */
export type Tool = Omit<AppTool, 'name'> & { execute: Execute }
export type Tools = Record<string, Tool | Execute>

/** The decision about a tool call, with the scope of the permission. The model is told the reason of a denial. */
export type Decision = boolean | (Omit<ApprovalDecision, 'answers'> & { approved: boolean })

/** Handlers for the requests of a run. If a request has no handler, the run waits and the iteration ends. */
export interface Handlers {
  /** Called for each tool call that needs approval, one after the other. The handler may take as long as the user needs. */
  approve?: (request: ToolApprovalRequestEvent) => Decision | Promise<Decision>
  /**
   * Called for questions of the agent, and for questions of a tool server, which have `live`. `false` declines the questions. The agent
   * asks questions only in runs with `options.interactive: true`, which this handler sets.
   */
  ask?: (request: QuestionRequestEvent) => Answers | false | Promise<Answers | false>
  /** The application's tools by name. Their calls are executed by this process. */
  tools?: Tools
  /** An abort stops the run. To leave the run running, leave the loop instead. */
  signal?: AbortSignal
}

/** A prompt of a tool server, as `listPrompts` returns it. */
export type ServerPrompt = NonNullable<RunBody['prompt']>

/** A request to the agent: a `prompt`, the `messages` of a conversation, or one `message` for the thread `id`. */
export interface RunRequest<S = unknown> extends Handlers {
  /** The text of the user; or a prompt of a tool server, which is put before the message or replaces it. */
  prompt?: string | ServerPrompt
  /** The name of a skill for the working folder (`listSkills`). The model reads the skill first. */
  skill?: string
  messages?: Message[]
  message?: Message
  /** The thread to continue: the `threadId` of an earlier run, or an id of your choice. */
  id?: string
  /** Continues the last run of the thread `id`, which stopped, failed or was interrupted. Used instead of a message. */
  continue?: boolean
  /**
   * The treatment of the thread's open approvals and questions: `withdraw` withdraws them (default), `keep` keeps them and refuses the
   * message.
   */
  waiting?: RunBody['waiting']
  /**
   * The treatment of file changes made by the answers that the messages replace: `keep` keeps them (default), `undo` undoes them, and `ask`
   * refuses the message with a list of the changes.
   */
  changes?: RunBody['changes']
  /**
   * Makes the run a rehearsal: it works on a copy of the folder, reaches nothing else and asks nobody. `getSheet` returns the calls that
   * the run would make.
   */
  dryRun?: boolean
  /** The working folder for relative paths and commands; by default, the workspace of the service. */
  cwd?: string
  /** The name of an agent of the service. Its options apply unless this request sets them. */
  agent?: string
  /** Model, instructions, effort and limits of this run. */
  options?: RunOptions
  /** The JSON Schema of the structured answer, which is then `object` of the result. */
  schema?: S
  tools?: Record<string, Tool>
  /** True (default) if the run continues without a reader, and is read again after a lost connection. */
  resumable?: boolean
  /**
   * Makes the request safe to repeat for a day: the same request with this key reads the run that the first one began. The client then
   * repeats the request for about a minute while the service cannot be reached.
   */
  idempotencyKey?: string
}

/** A request that a run waits for and that no handler has answered. */
export type Pending =
  | { kind: 'tool', approvalId: string, toolName: string, input: unknown }
  | { kind: 'question', approvalId: string, questions: Question[] }
  | { kind: 'app', toolCallId: string, toolName: string, input: unknown }

export interface RunResult<T = unknown> {
  /** The answer: the text after the last tool call. */
  text: string
  /** The messages to append to the conversation. */
  messages: Message[]
  /** The user's steering messages. Those that are `unread` are in the thread, and the model gets them with the next message. */
  steering: Steer[]
  finishReason: FinishEvent['finishReason']
  /** The reason why the run ended before its model said that it was done. `continue()` continues such a run. */
  stopped?: FinishEvent['stopped']
  /** The structured answer, which matches the schema of the request. */
  object?: T
  /** The changes that were undone before the run began, with `changes: 'undo'`. */
  undone?: ReplacedChanges
  /** The background task that the run created, if any. */
  task?: RunTask
  /** The id of the thread in which the service stores the conversation. */
  threadId: string
  runId: string
  /** The approvals, questions and calls that the run waits for, if `finishReason` is "tool-calls". */
  pending: Pending[]
}
