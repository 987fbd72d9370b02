import type { TSchema } from '@sinclair/typebox'
import type { Answers, Question } from '../../schemas/questions.ts'
import type { PathChange } from '../../schemas/undo.ts'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Boundary, SandboxMode } from './boundary.ts'

/** What a tool changes outside of the service; only `read` may be repeated freely. */
export type ToolEffect = 'read' | 'write' | 'external'

/**
 * What a completed call of a tool may have done: written or moved a file, removed one, run a command, sent a message; `any` for commands,
 * and for tools of tool servers and of the application.
 */
export type ProvenEffect = 'file' | 'deletion' | 'command' | 'message' | 'any'

/** A real path that a call is about to change; `withContents` if it is a folder that is removed or moved with everything in it. */
export interface ChangedPath {
  path: string
  withContents?: boolean
  /** Nothing is at the path after the call. */
  isRemoved?: true
}

/** What an approval request showed at a path: the approval is valid only while the same is there. */
export interface ShownPlace {
  path: string
  /** Kind, content and permissions, see `stateOf`; absent: the approval is valid whatever is there. */
  state?: string
  /** The nearest folder above the path that existed. */
  parent: FolderIdentity & { path: string }
}

/** What calls that have not run yet would leave: the content of files by their real path; null means that nothing is there. */
export type FileChanges = ReadonlyMap<string, Uint8Array | null>

/** What a call would leave. */
export interface ToolPreview {
  /** Unified diff of the only file that the call would write, or a note that says why there is no diff. */
  diff?: string
  /** A sentence about what the diff does not show, such as another encoding. */
  note?: string
  /** What the call would leave, as far as that is known. */
  leaves?: FileChanges
}

/** A change that a command made when it was tried out. */
export type TriedChange = Omit<PathChange, 'from'>

/** What a command did when it was tried out, or why it was not tried out. `note` says how the trial differed from a real run. */
export type TriedOut =
  | { refused: string }
  | { changes: TriedChange[], ran: { exitCode: number | null, stdout: string, stderr: string, timedOut?: boolean, note: string } }

/** A change that a tool made at a real path: digests of the content before and after, null for nothing. */
export interface FileChange {
  path: string
  before: string | null
  after: string | null
}

/**
 * A condition for offering a tool to a run. `userWords`: the run has words of a user, so runs of tasks are not offered it. `person`:
 * somebody sees what it does, so runs with `interactive: false` are not offered it. `task`: the run is one of a task. `attachments` and
 * `skills`: the conversation has some. `commands`: commands can run in the background. `conversation`: the run is not one of an agent
 * inside of another run. `desktop` and `resources`: this computer has a screen, or tool servers with resources: see `missing` of the host.
 */
export type ToolNeed = 'userWords' | 'person' | 'task' | 'attachments' | 'skills' | 'commands' | 'conversation' | 'desktop' | 'resources'

export type Permission = 'allow' | 'ask' | 'deny'

/** The identity of a folder, independent of its name: device and inode, as decimal numbers. */
export interface FolderIdentity {
  dev: string
  ino: string
}

/** The folder that a call works in, with its real path. An approval is valid only for this folder. */
export interface WorkFolder extends FolderIdentity {
  path: string
  /** The input named a folder that did not exist: `path` is the folder that relative paths start from instead. */
  isStart?: true
}

/** Questions to the user in the middle of a call. */
export interface CallQuestions {
  questions: Question[]
  /** The tool server that asks. */
  server: string
  /** The address that the user is to open. */
  url?: string
  /** Checks answers that fit the questions. Returns what is wrong with them, each with the id of its question. */
  check?(answers: Answers): Array<{ id: string, message: string }>
  /** Aborts when the tool server does not wait any more: the questions are then withdrawn. */
  signal: AbortSignal
}

/** How questions ended. Silence is not taken for an answer: `unanswered` after ten minutes. */
export type QuestionOutcome = { is: 'answered', answers: Answers } | { is: 'declined', reason?: string } | { is: 'unanswered' }

/** The context of one call. */
export interface ToolContext {
  /** Aborts when the caller disconnects, the run is stopped or the time limit is reached. The tool then ends promptly with its children. */
  signal: AbortSignal
  runId: string
  callId: string
  /** The number of the attempt at executing the run. */
  attempt: number
  /** Real path of the folder that relative paths resolve against. */
  cwd: string
  /** The same folder as the client named it; it may be a symbolic link to `cwd`. */
  givenCwd: string
  /** The folder for which the call was approved, if it needed approval: the tool must not work in another. */
  approvedFolder?: FolderIdentity
  /** The real paths that the call may change: they were allowed, and what was there was kept for undo. Absent if they are not known. */
  paths?: readonly string[]
  /** The call was approved or granted for a box without network with this working folder: it must not run in another way. */
  confinedTo?: WorkFolder
  /** Which commands run in a box, by the options of the run. */
  sandbox?: SandboxMode
  /** What the approval request showed at these paths, if there was one. */
  shown?: readonly ShownPlace[]
  /**
   * Asks the user while the call keeps running; absent if nobody can be asked. Throws ToolFailed for questions that cannot be asked. If the
   * signal aborts first, throws its reason.
   */
  ask?(questions: CallQuestions): Promise<QuestionOutcome>
  /** The names of the tools that the model of the call has to find; absent if it is the model of the run. */
  deferred?: readonly string[]
  /** Whether a request to one address may be redirected to another; absent: always. */
  mayRedirect?(from: string, to: string): Promise<boolean>
  /** Decides which addresses an agent inside of the call may fetch; `events` are those of that agent. Absent: all. */
  innerAddresses?(events: () => readonly { type: string }[]): Promise<{
    question(call: { toolName: string, input: unknown }): Promise<{ reason: string } | undefined>
    mayRedirect(toolName: string, hop: { from: string, to: string }): Promise<boolean>
  }>
  /** Waits for the user. The time limit of the call is stopped meanwhile, and starts again after it. */
  waitForUser?<T>(answer: Promise<T>): Promise<T>
  /** Reports the progress of the call to the readers of the run. The time limit starts again, within bounds. */
  progress?(progress: ToolProgress): void
  /** Tells the caller that work of the call continues until the promise settles: its changes are known only then. */
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
  /** The model wrote the call as text. */
  isFromText?: true
}

/** The name and the input of a call. */
export type NamedCall = Pick<Call, 'toolName' | 'input'>

/** Words for people that say what a tool does. */
export interface ToolWords {
  /** For a call of any input: `Write a file`. */
  label: string
  /** For one call, followed by what it is about: `write the file`. */
  does: string
  /** For a short sentence, if it differs: `write`. */
  verb?: string
  /** Returns words for a call that `does` and its object do not describe well: `list this folder`. Its input may lack fields. */
  ofCall?(input: Record<string, any>): string | undefined
  /**
   * Returns the result of a call in a sentence or two, with its content; absent: the result is shown as it is. Used by the offline model.
   */
  result?(output: Record<string, any>, input: Record<string, any>): string
}

/**
 * Where the result of a call comes from, which decides who wrote the addresses in it, and whether it is private. `file` is the content of
 * one file, `files` are the names or lines of several; `tasks` are those of the user.
 */
export type ResultSource =
  | 'attachment' | 'page' | 'search' | 'file' | 'files' | 'command' | 'memory' | 'tasks' | 'server' | 'app' | 'screen' | 'user' | 'report'
  | 'none'

/** The names of a tool, and what its calls are about. */
export interface ToolSays {
  /** The words for people, by language. Built-in tools have them; for other tools, their names are used. */
  en: ToolWords
  /** The fields of the input that hold the object of a call, such as a path, a command or an address. */
  about?: readonly string[]
  /**
   * The names that other agents have for such a tool, in lower case and without punctuation: a call with such a name counts as a call of
   * this tool if its input fits.
   */
  otherNames?: readonly string[]
}

/**
 * The context of the decision whether a call must ask. `textOfOthers` names texts that the run has read and that others wrote; undefined if
 * there are none.
 */
export type AskContext = Pick<ToolContext, 'runId' | 'cwd'> & { textOfOthers?(): Promise<string | undefined> }

/** Returns why this call asks its user, in a sentence; undefined if it may run without asking. */
type AskReason<Input> = (input: Input, context: AskContext) => Promise<string | undefined>

/** What a model is told of a tool, and how input and output are converted. */
interface ToolModel<Input> {
  name: string
  description: string
  /** JSON Schema of the input, which is checked before `execute` is called. */
  schema: TSchema
  /**
   * How often runs need the tool: the others are described to models only where there is room, otherwise models find them. `finder`: the
   * tool only finds other tools, and is offered where some tools are not described. Default: often.
   */
  use?: 'always' | 'seldom' | 'finder'
  /** Description and schema for models with a small window. Such models are told only of tools that have them. */
  readonly compact?: { description: string, schema: TSchema }
  /** Returns what is wrong with an input that the schema accepts; undefined for nothing. */
  findMistake?(input: Input): string | undefined
  /** Converts an output to the form that models get, if it differs from the form for readers. */
  output?(output: ToolOutput): ToolOutput
}

/** What decides whether a call may run. */
interface ToolPolicy<Input> {
  effect: ToolEffect
  /**
   * The default permission, if it differs from that of the effect: see `createPermissions`. A function means that the tool is allowed, but
   * some calls ask: it returns why. It is not called if the user has allowed the tool. `everyTime`: an approval covers that call alone.
   */
  permission?: Permission | AskReason<Input> | { everyTime: AskReason<Input> }
  /** The conditions for offering the tool to a run. */
  needs?: readonly ToolNeed[]
  /** The timeout of a call: milliseconds after which it is stopped. Default: 60 s. */
  timeLimitMs?: number
}

/** What a call would do to files. */
export interface FilesOfCall {
  /** The paths that it would change. What is there is copied before the call starts, so that the change can be undone. */
  changed: ChangedPath[]
  /** Returns what it would leave after the changes of calls before it (`ahead`). Changes nothing; throws where `execute` would fail. */
  preview(context: { ahead: FileChanges, signal: AbortSignal }): Promise<ToolPreview>
}

/** What calls do to the world, as far as that is known before and after they run. */
interface ToolEffects<Input> {
  /** Returns what the call would do to files. Throws where `execute` would refuse a path; the call then fails with that error. */
  files?(input: Input, context: Pick<ToolContext, 'cwd' | 'givenCwd'>): Promise<FilesOfCall>
  /** Returns the addresses that the input is sent to: those that the call requests, and those that it passes to others. */
  addresses?(input: Input): string[]
  /** Where the result comes from; absent: from the tool server if it has the tool, otherwise only from the input. */
  source?: ResultSource
  /** What a completed call proves to the judge; absent: `any`, or nothing for a tool whose effect is `read`. */
  proves?: ProvenEffect
  /** Returns the command in the input, whose effects cannot be known before it runs. Absent for other tools. */
  command?(input: Input): CommandOfCall
}

/** What is known of the command of a call before it runs. */
export interface CommandOfCall {
  /** The working folder that the input names; undefined if it is the folder of the run. */
  folder?: string
  /** Whether processes of the command may continue after the call. */
  mayStay?: boolean
  /** Returns where the command would run if started in `folder`; `base` is the working folder of the run. Both have real paths. */
  boundary(context: { folder: WorkFolder, base: string, narrowed?: SandboxMode }): Promise<Boundary>
  /** Runs the command in a place from which nothing is kept, and returns what it did, for a person. */
  tryOut(context: { cwd: string, narrowed?: SandboxMode, signal: AbortSignal }): Promise<TriedOut>
}

interface Execute<Input> {
  (input: Input, context: ToolContext): Promise<ToolOutput>
  by?: undefined
}

/** A tool of the agent. */
export interface Tool<Input = any> {
  model: ToolModel<Input>
  says?: ToolSays
  policy: ToolPolicy<Input>
  effects?: ToolEffects<Input>
  /**
   * Executes a call. Fails by throwing errors whose messages tell the model what it can do. Or who answers the call instead: it then waits
   * in the ledger, for `ms` milliseconds at most.
   */
  execute: Execute<Input> | { by: 'user' | 'app', app?: string, ms?: number }
}

/** A tool of the service itself, which has words for people. */
export interface BuiltinTool<Input = any> extends Tool<Input> {
  says: ToolSays
  execute: Execute<Input>
}

/** A tool that is not part of the service: of a tool server or of the application. */
export interface SourceTool extends Tool {
  /**
   * A text that changes whenever the definition does, because tools may change under the same name: approvals are valid for one identity.
   */
  identity: string
  /** The name for people that its source gives. */
  title?: string
  /** The source says that it may destroy something. */
  isDestructive?: boolean
  /** A sentence that tells the user what to know before approving a call of the tool. */
  caution?: string
  /** The source itself checks the inputs: the service does not refuse any that the source might accept. */
  checksInput?: true
}

export const isSourceTool = (tool: Tool): tool is SourceTool => 'identity' in tool

/** Whether one of these conditions must be met to offer the tool. */
export const needsAny = (tool: Pick<Tool, 'policy'> | undefined, ...needs: readonly ToolNeed[]): boolean =>
  tool?.policy.needs?.some((need) => needs.includes(need)) ?? false

/** Returns the object of the call that the input names, such as a path, a command or an address; undefined if it names none. */
export function aboutOf (tool: Pick<Tool, 'says'> | undefined, input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const fields = input as Record<string, unknown>
  const named = tool?.says?.about?.map((field) => fields[field]).filter((value) => typeof value === 'string') ?? []
  return named.length === 0 ? undefined : named.join(' → ')
}
