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
  /** Aborted when the time of the call is over, when its claim is lost, and with the run's own signal. */
  signal: AbortSignal
}
/** Executes a call; what it returns is the tool's output, and what it throws is told to the model. */
export type Execute = (input: any, context: ToolContext) => unknown
/** A tool of the application: its definition and its function. */
export type Tool = Omit<AppTool, 'name'> & { execute: Execute }
export type Tools = Record<string, Tool | Execute>

/** Whether a tool call may run, and how far the permission reaches; the model gets the reason of a denial. */
export type Decision = boolean | (Omit<ApprovalDecision, 'answers'> & { approved: boolean })

/** What a run may ask its application. Without a handler for it, the run waits and the iteration ends. */
export interface Handlers {
  /** Called for each tool call that needs approval, one after the other. It may take as long as the user does. */
  approve?: (request: ToolApprovalRequestEvent) => Decision | Promise<Decision>
  /**
   * Called for questions of the agent, and, with `live`, of a tool server. `false` declines them. Chats ask with
   * `options.interactive: true`, which this sets.
   */
  ask?: (request: QuestionRequestEvent) => Answers | false | Promise<Answers | false>
  /** The application's own tools by name; calls of them are executed. */
  tools?: Tools
  /** An abort stops the run. To leave it running, leave the loop instead. */
  signal?: AbortSignal
}

/** A prompt of a tool server, as `listPrompts` names it. */
export type ServerPrompt = NonNullable<RunBody['prompt']>

/** What is asked of the agent: a `prompt`, the `messages` of a conversation, or one `message` for the thread `id`. */
export interface RunRequest<S = unknown> extends Handlers {
  /** A text; or a prompt of a tool server, in front of the message or in its place. */
  prompt?: string | ServerPrompt
  /** The name of a skill for the working folder (`listSkills`), which is read before all else. */
  skill?: string
  messages?: Message[]
  message?: Message
  /** The thread to continue: `threadId` of an earlier run, or an id of your choice. */
  id?: string
  /** Goes on after the last run of the thread `id`, which stopped, failed or was interrupted; in place of a message. */
  continue?: boolean
  /** The approvals and questions that the thread waits for: `withdraw` them (default), or `keep` them and refuse the message. */
  waiting?: RunBody['waiting']
  /**
   * The file changes of the answers that the messages replace: `keep` them (default), `undo` them, or `ask`, which refuses the message and
   * names them.
   */
  changes?: RunBody['changes']
  /** A rehearsal on a copy of the folder, which reaches nothing else and asks nobody: `getSheet` says what it would do. */
  dryRun?: boolean
  /** Working directory for relative paths and commands; default: the workspace of the service. */
  cwd?: string
  /** Name of an agent of the service, whose options apply beside those of this run. */
  agent?: string
  /** Model, instructions, effort and limits of this run. */
  options?: RunOptions
  /** JSON schema of the answer, which is then `object` of the result. */
  schema?: S
  tools?: Record<string, Tool>
  /** Whether the run goes on without a reader, and is read again after a cut. Default: true. */
  resumable?: boolean
  /**
   * Makes the request one that may be sent again, for a day: the same request with this key reads the run that the first one began. It
   * is then sent again while the service cannot be reached, for about a minute.
   */
  idempotencyKey?: string
}

/** An item that a run waits for and that no handler has dealt with. */
export type Pending =
  | { kind: 'tool', approvalId: string, toolName: string, input: unknown }
  | { kind: 'question', approvalId: string, questions: Question[] }
  | { kind: 'app', toolCallId: string, toolName: string, input: unknown }

export interface RunResult<T = unknown> {
  /** The answer: the text after the last tool call. */
  text: string
  /** The messages to append to the conversation. */
  messages: Message[]
  /** The messages of the user during the run. Those that are `unread` are in the thread; the model gets them with the next message. */
  steering: Steer[]
  finishReason: FinishEvent['finishReason']
  /** Why the run ended before its model said that it was done; `continue()` of the run goes on. */
  stopped?: FinishEvent['stopped']
  /** The answer that fits the schema of the request. */
  object?: T
  /** The changes that were undone before the run began, with `changes: 'undo'`. */
  undone?: ReplacedChanges
  /** The background task that the run created, if there is one. */
  task?: RunTask
  /** The id of the thread under which the service stores the conversation. */
  threadId: string
  runId: string
  /** The approvals, questions and calls that the run waits for, when `finishReason` is "tool-calls". */
  pending: Pending[]
}
