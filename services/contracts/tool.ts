import type { TSchema } from '@sinclair/typebox'
import type { Answers, Question } from '../../schemas/questions.ts'
import type { PathChange } from '../../schemas/undo.ts'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Boundary, SandboxMode } from './boundary.ts'

/** What a tool does to the world: only `read` may be repeated freely. */
export type ToolEffect = 'read' | 'write' | 'external'

/**
 * The effects that a completed call of a tool can have had: it wrote or moved a file, removed one, ran a command, sent a message;
 * `any` for commands, and for tools of tool servers and of the application.
 */
export type ProvenEffect = 'file' | 'deletion' | 'command' | 'message' | 'any'

/** A real path that a call is about to change; `withContents` when it is a folder that is removed or moved with all that is in it. */
export interface ChangedPath {
  path: string
  withContents?: boolean
  /** Nothing is there afterwards. */
  isRemoved?: true
}

/** What was at a path when an approval showed it: the approval is bound to it. */
export interface ShownPlace {
  path: string
  /** Its kind, content and permissions, see `stateOf`; absent: whatever is there. */
  state?: string
  /** The nearest folder above it that existed. */
  parent: FolderIdentity & { path: string }
}

/** What calls leave that are not made yet: the content of files by their real path, null for nothing. */
export type FileChanges = ReadonlyMap<string, Uint8Array | null>

/** What a call would do to files. */
export interface ToolPreview {
  /** Unified diff of the one file that the call would write, or a note that says why there is none. */
  diff?: string
  /** What the diff does not show, such as another encoding; a sentence. */
  note?: string
  /** What it would leave, as far as that is known. */
  leaves?: FileChanges
}

/** A change of a command that was tried out. */
export type TriedChange = Omit<PathChange, 'from'>

/** What a command did that was tried out, or why it was not. `note` says what was other than it would be. */
export type TriedOut =
  | { refused: string }
  | { changes: TriedChange[], ran: { exitCode: number | null, stdout: string, stderr: string, timedOut?: boolean, note: string } }

/** A change that a tool made at a real path: digests of the content before and after, null where nothing was there. */
export interface FileChange {
  path: string
  before: string | null
  after: string | null
}

/**
 * What must be there for a run to be offered a tool. `userWords`: the words of a user, so that runs of tasks are not offered it.
 * `person`: somebody who sees what it does, so that runs with `interactive: false` are not offered it. `task`: a run of a task, as in a
 * conversation what it does is said. `attachments` and `skills`: some in the conversation. `commands`: it is of use to commands in the
 * background alone. `conversation`: no agent inside of a run is offered it. `desktop` and `resources`: a screen, and tool servers that have
 * some, on this computer: see `missing` of the host.
 */
export type ToolNeed = 'userWords' | 'person' | 'task' | 'attachments' | 'skills' | 'commands' | 'conversation' | 'desktop' | 'resources'

export type Permission = 'allow' | 'ask' | 'deny'

/** The identity of a folder, independent of its name: device and inode, as decimal numbers. */
export interface FolderIdentity {
  dev: string
  ino: string
}

/** The folder that a call works in, with its real path. An approval is bound to it. */
export interface WorkFolder extends FolderIdentity {
  path: string
  /** Set when the input named a folder that did not exist: this is then the folder that relative paths start from. */
  isStart?: true
}

/** Questions to the user in the middle of a call. */
export interface CallQuestions {
  questions: Question[]
  /** The tool server that asks. */
  server: string
  /** The address that the user is to open. */
  url?: string
  /** Returns what is wrong with answers that fit the questions, by the question's id. */
  check?(answers: Answers): Array<{ id: string, message: string }>
  /** Ends with what asks: the questions are then withdrawn. */
  signal: AbortSignal
}

/** What became of questions. Nobody's silence is an answer: `unanswered` after ten minutes. */
export type QuestionOutcome = { is: 'answered', answers: Answers } | { is: 'declined', reason?: string } | { is: 'unanswered' }

/** The context of one call. */
export interface ToolContext {
  /** Aborts when the caller disconnects, the run is stopped or the time limit is reached. The tool then ends promptly with its children. */
  signal: AbortSignal
  runId: string
  callId: string
  /** The number of the attempt at the run, which the fence gave it. */
  attempt: number
  /** Real path of the folder that relative paths resolve against. */
  cwd: string
  /** The same folder as it was given to the run; it may be a symbolic link to `cwd`. */
  givenCwd: string
  /** The folder that the call was approved for, if it needed approval: the tool must work in no other. */
  approvedFolder?: FolderIdentity
  /** The real paths that the call may change: those that were allowed and kept. Absent where that is not known. */
  paths?: readonly string[]
  /** The call was approved or granted in a box without network, with this working folder: it must not run otherwise. */
  confinedTo?: WorkFolder
  /** What the options of the run say of boxes for commands. */
  sandbox?: SandboxMode
  /** What the approval showed at these paths, if there was one. */
  shown?: readonly ShownPlace[]
  /**
   * Asks the user while the call keeps running; absent where nobody is asked. Throws ToolFailed for questions that cannot be asked, and
   * the reason of the signal when that aborts first.
   */
  ask?(questions: CallQuestions): Promise<QuestionOutcome>
  /** The names of the tools that the model of the call has to find, where it is not the model of the run. */
  deferred?: readonly string[]
  /** Whether an answer from one address may lead to another; absent: yes. */
  mayRedirect?(from: string, to: string): Promise<boolean>
  /** Decides about addresses for an agent that the call runs, whose events these are; absent: all may be fetched. */
  innerAddresses?(events: () => readonly { type: string }[]): Promise<{
    question(call: { toolName: string, input: unknown }): Promise<{ reason: string } | undefined>
    mayRedirect(toolName: string, hop: { from: string, to: string }): Promise<boolean>
  }>
  /** Waits for the user; the time limit of the call rests meanwhile, and starts anew. */
  waitForUser?<T>(answer: Promise<T>): Promise<T>
  /** Reports how far the call is, to the readers of the run. The time limit starts anew, within bounds. */
  progress?(progress: ToolProgress): void
  /** Says that what the call has begun goes on until the promise settles: what it changes is known only then. */
  stays?(ended: Promise<void>): void
  /** Records a change of a file in the log of the run, for the judge; models never see it. */
  changed?(change: FileChange): void
}

export type ToolOutput = Record<string, unknown>

/** A call whose tool exists and whose input is valid. */
export interface Call {
  toolCallId: string
  toolName: string
  input: unknown
  /** The model wrote it as text. */
  isFromText?: true
}

/** A call, apart from its id. */
export type NamedCall = Pick<Call, 'toolName' | 'input'>

/** What a tool does, in words for people. */
export interface ToolWords {
  /** Whatever a call is about: `Write a file`. */
  label: string
  /** What one call does; what it is about follows: `write the file`. */
  does: string
  /** The same for a short sentence, where it differs: `write`. */
  verb?: string
  /** Says what this call does, where `does` and what it is about do not say it: `list this folder`. Its input may lack fields. */
  ofCall?(input: Record<string, any>): string | undefined
  /** Says the result of a call in a sentence or two, with what it holds; absent: it is shown as it is. Read by the offline model. */
  result?(output: Record<string, any>, input: Record<string, any>): string
}

/**
 * Where the result of a call comes from: it decides whose words an address in it are, and whether it is private. `file` is the content of
 * one file, `files` are the names or lines of several; `tasks` are those of the user.
 */
export type ResultSource =
  | 'attachment' | 'page' | 'search' | 'file' | 'files' | 'command' | 'memory' | 'tasks' | 'server' | 'app' | 'screen' | 'user' | 'report'
  | 'none'

/** What a tool is called, and what its calls are about. */
export interface ToolSays {
  /** The words for people, by language. Built-in tools have some; others are called by their names. */
  en: ToolWords
  /** The fields of an input that name what a call is about, such as a path, a command or an address. */
  about?: readonly string[]
  /** What other agents call such a tool, in small letters without marks: a call by such a name is one of this tool if its input fits. */
  otherNames?: readonly string[]
}

/** The context of a question whether a call must ask. `textOfOthers` names what the run has read of others; undefined for nothing. */
export type AskContext = Pick<ToolContext, 'runId' | 'cwd'> & { textOfOthers?(): Promise<string | undefined> }

/** Returns why this call asks its user, in a sentence; undefined for one that may run. */
type AskReason<Input> = (input: Input, context: AskContext) => Promise<string | undefined>

/** What a model is told of a tool, and what passes between them. */
interface ToolModel<Input> {
  name: string
  description: string
  /** JSON Schema of the input; it is validated before `execute` is called. */
  schema: TSchema
  /**
   * How often runs need it: models are told of others only where there is room, and find them else.
   * `finder`: it only leads to other tools, and is offered where some are not described. Default: often.
   */
  use?: 'always' | 'seldom' | 'finder'
  /** What models with a small window are told in place of the description and the schema. They are told of the tools that have it. */
  readonly compact?: { description: string, schema: TSchema }
  /** Returns what is wrong with an input that its schema admits; undefined for nothing. */
  findMistake?(input: Input): string | undefined
  /** Converts an output to the form that models get, where it differs from the form for readers. */
  output?(output: ToolOutput): ToolOutput
}

/** What decides whether a call may run. */
interface ToolPolicy<Input> {
  effect: ToolEffect
  /**
   * The permission by default, where it differs from that of the effect: see `createPermissions`. A function allows the tool, and returns
   * why a call asks nevertheless; it is not called where the user has allowed the tool.
   */
  permission?: Permission | AskReason<Input>
  /**
   * The most that an approval of a call may cover: that call alone, the same call again, calls below its folder, or every call of the
   * tool. Default: `exact`.
   */
  widestScope?: 'once' | 'exact' | 'folder' | 'tool'
  /**
   * Who answers a call in the tool's place: the user, or the application that defined the tool. Such a call is never executed; it
   * waits in the ledger, `ms` milliseconds at most.
   */
  answeredBy?: { by: 'user', ms?: number } | { by: 'app', app?: string, ms?: number }
  /** What must be there for a run to be offered the tool. */
  needs?: readonly ToolNeed[]
  /** Milliseconds after which a call is stopped; 60 s unless the tool says otherwise. */
  timeLimitMs?: number
}

/** `ahead` is what calls in front of it would leave. */
export type PreviewContext = Pick<ToolContext, 'cwd' | 'givenCwd' | 'signal'> & { ahead?: FileChanges }

/** What calls do to the world, as far as that is known before and after they run. */
interface ToolEffects<Input> {
  /**
   * Returns the paths that the call would change. What is there is kept for undo before the call starts, so that the change can
   * be undone. Throws where `execute` would refuse the path; the call then fails with that error.
   */
  paths?(input: Input, context: Pick<ToolContext, 'cwd' | 'givenCwd'>): Promise<ChangedPath[]>
  /** Returns the addresses that a call goes to, or hands to others: where its input is sent. */
  addresses?(input: Input): string[]
  /**
   * Returns what the call would do to files, as they are now, and as calls in front of it would leave them (`ahead`). Changes nothing;
   * throws where `execute` would fail.
   */
  preview?(input: Input, context: PreviewContext): Promise<ToolPreview>
  /** Where its result comes from; absent: from a tool server for its tools, else from nowhere but the input. */
  source?: ResultSource
  /** What a completed call proves to the judge; absent: `any`, or nothing for a tool whose effect is `read`. */
  proves?: ProvenEffect
  /** Returns the command that the input holds: what that does cannot be known beforehand. Absent for other tools. */
  command?(input: Input): CommandOfCall
}

/** The command of a call: what is known of it before it runs. */
export interface CommandOfCall {
  /** The working folder that the input names; undefined when it works in the folder of the run. */
  folder?: string
  /** Whether what it begins may go on after the call. */
  mayStay?: boolean
  /** Returns where it would run that starts in `folder`; `base` is the working folder of the run. Real paths. */
  boundary(context: { folder: WorkFolder, base: string, narrowed?: SandboxMode }): Promise<Boundary>
  /** Runs it where nothing of it stays, and returns what it did, for a person. */
  tryOut(context: { cwd: string, narrowed?: SandboxMode, signal: AbortSignal }): Promise<TriedOut>
}

/** A tool of the agent. Failures are thrown as errors whose message the model can act on. */
export interface Tool<Input = any> {
  model: ToolModel<Input>
  says?: ToolSays
  policy: ToolPolicy<Input>
  effects?: ToolEffects<Input>
  execute(input: Input, context: ToolContext): Promise<ToolOutput>
}

/** A tool of the service itself, which has words for people. */
export type BuiltinTool<Input = any> = Tool<Input> & Required<Pick<Tool, 'says'>>

/** A tool of a source beside the service: of a tool server, or of the application. */
export interface SourceTool extends Tool {
  /** Changes whenever the definition does, as tools may change under their name: approvals are bound to it. */
  identity: string
  /** Its name for people, as its source has it. */
  title?: string
  /** A digest of the tool as its source defines it. */
  definition?: string
  /** The source says that it may destroy something. */
  isDestructive?: boolean
  /** What its user should know before approving a call of it, a sentence. */
  caution?: string
  /** The source checks the inputs itself: one that it may take is not refused before. */
  checksInput?: true
}

export const isSourceTool = (tool: Tool): tool is SourceTool => 'identity' in tool

/** Whether the tool needs one of these. */
export const needsAny = (tool: Pick<Tool, 'policy'> | undefined, ...needs: readonly ToolNeed[]): boolean =>
  tool?.policy.needs?.some((need) => needs.includes(need)) ?? false

/** Returns what an input names as the object of the call, such as a path, a command or an address; undefined for nothing. */
export function aboutOf (tool: Pick<Tool, 'says'> | undefined, input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const fields = input as Record<string, unknown>
  const named = tool?.says?.about?.map((field) => fields[field]).filter((value) => typeof value === 'string') ?? []
  return named.length === 0 ? undefined : named.join(' → ')
}
