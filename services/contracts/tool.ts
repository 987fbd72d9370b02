import type { TSchema } from '@sinclair/typebox'
import type { Answers, Question } from '../../schemas/questions.ts'
import type { PathChange } from '../../schemas/undo.ts'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Boundary, SandboxMode } from './boundary.ts'

/**
 * The greatest change that a call of a tool can make outside of the service. `read`: none, so the call can be repeated freely. `write`:
 * changes of files or data that the input names. `external`: anything else, such as what a command or a request to another service does.
 */
export type ToolEffect = 'read' | 'write' | 'external'

/**
 * What a completed call of a tool can have done: written or moved a file, removed a file, run a command, or sent
 * a message. `any` for commands, and for tools of tool servers and of the application.
 */
export type ProvenEffect = 'file' | 'deletion' | 'command' | 'message' | 'any'

/** A real path that a call is about to change. `withContents`: the path is a folder that is removed or moved with everything in it. */
export interface ChangedPath {
  path: string
  withContents?: boolean
  /** Nothing exists at the path after the call. */
  isRemoved?: true
}

/** The state of a path as an approval request showed it. The approval is valid only while the path has this state. */
export interface ShownPlace {
  path: string
  /** Kind, content and permissions; see `stateOf`. If absent, the approval is valid for any state of the path. */
  state?: string
  /** The nearest existing folder above the path. */
  parent: FolderIdentity & { path: string }
}

/** The files as calls that have not run yet would leave them: their contents by real path; null if nothing would exist there. */
export type FileChanges = ReadonlyMap<string, Uint8Array | null>

/** A preview of the effect of a call. */
export interface ToolPreview {
  /** The unified diff of the only file that the call would write, or a note that says why there is no diff. */
  diff?: string
  /** A sentence about what the diff does not show, such as another encoding. */
  note?: string
  /** The files as the call would leave them, as far as that is known. */
  leaves?: FileChanges
}

/** A change that a command made during a trial. */
export type TriedChange = Omit<PathChange, 'from'>

/**
 * The result of trying out a command in a place whose changes are discarded, or the reason why it was not tried out (`refused`). `note`
 * says how the trial differed from a real run.
 */
export type TriedOut =
  | { refused: string }
  | { changes: TriedChange[], ran: { exitCode: number | null, stdout: string, stderr: string, timedOut?: boolean, note: string } }

/** A change that a tool made at a real path: digests of the content before and after, null if nothing existed. */
export interface FileChange {
  path: string
  before: string | null
  after: string | null
}

/**
 * A condition for offering a tool to a run. `userWords`: the run has messages of a user, which runs of tasks do not have. `person`: a
 * person sees what the run does, which is not the case with `interactive: false`. `task`: the run belongs to a task. `attachments`,
 * `skills`: the conversation has some. `commands`: commands can run in the background. `conversation`: the run is not that of an agent
 * inside of another run. `desktop`, `resources`: this computer has a screen, or tool servers have resources; see `missing` of the host.
 */
export type ToolNeed = 'userWords' | 'person' | 'task' | 'attachments' | 'skills' | 'commands' | 'conversation' | 'desktop' | 'resources'

export type Permission = 'allow' | 'ask' | 'deny'

/** The identity of a folder, independent of its name: its device and inode numbers, as decimal text. */
export interface FolderIdentity {
  dev: string
  ino: string
}

/** The working folder of a call, with its real path. An approval is valid only for this folder. */
export interface WorkFolder extends FolderIdentity {
  path: string
  /** The input names a folder that does not exist. `path` is then the folder against which relative paths resolve. */
  isStart?: true
}

/** Questions to the user in the middle of a call. */
export interface CallQuestions {
  questions: Question[]
  /** The tool server that asks. */
  server: string
  /** The URL of a page that the user has to open. */
  url?: string
  /** Validates answers that already fit the questions. Returns the problems, each with the id of its question. */
  check?(answers: Answers): Array<{ id: string, message: string }>
  /** Aborts when the tool server no longer waits. The questions are then withdrawn. */
  signal: AbortSignal
}

/** How questions ended. After ten minutes without an answer they are `unanswered`. */
export type QuestionOutcome = { is: 'answered', answers: Answers } | { is: 'declined', reason?: string } | { is: 'unanswered' }

/** The context of one call. */
export interface ToolContext {
  /**
   * Aborts when the caller disconnects, the run is stopped or the time limit is reached. The tool must then end
   * promptly, with its child processes.
   */
  signal: AbortSignal
  runId: string
  callId: string
  /** The number of the attempt at the run. */
  attempt: number
  /** The real path of the folder against which relative paths resolve. */
  cwd: string
  /** The path of this folder as the client gave it, which can be a symbolic link to `cwd`. */
  givenCwd: string
  /** The folder for which the call was approved, if it needed an approval. The tool must not work in another folder. */
  approvedFolder?: FolderIdentity
  /**
   * The real paths that the call is allowed to change. The paths were checked, and their contents were copied for undo.
   * Absent if the paths are not known.
   */
  paths?: readonly string[]
  /**
   * The call was approved or granted only for a box (a sandbox) without network with this working folder, and must not run in any other
   * way.
   */
  confinedTo?: WorkFolder
  /** Which commands run in a box, according to the options of the run. */
  sandbox?: SandboxMode
  /** The states of paths that the approval request showed, if there was one. */
  shown?: readonly ShownPlace[]
  /**
   * Asks the user while the call keeps running; absent if nobody can be asked. Throws ToolFailed for invalid
   * questions. If the signal aborts first, throws its reason.
   */
  ask?(questions: CallQuestions): Promise<QuestionOutcome>
  /**
   * The names of deferred tools (tools whose descriptions the model must look up) for the model that makes the call; absent if this is the
   * model of the run itself.
   */
  deferred?: readonly string[]
  /** Returns whether a request to one address can follow a redirect to another. If absent, every redirect is allowed. */
  mayRedirect?(from: string, to: string): Promise<boolean>
  /**
   * Returns the checks of which addresses an agent inside of the call is allowed to fetch. `events` returns the events of
   * that agent. If absent, all are allowed.
   */
  innerAddresses?(events: () => readonly { type: string }[]): Promise<{
    question(call: { toolName: string, input: unknown }): Promise<{ reason: string } | undefined>
    mayRedirect(toolName: string, hop: { from: string, to: string }): Promise<boolean>
  }>
  /** Waits for an answer of the user. The time limit of the call is stopped meanwhile and starts again afterwards. */
  waitForUser?<T>(answer: Promise<T>): Promise<T>
  /** Reports the progress of the call to the readers of the run. A report restarts the time limit of the call, within bounds. */
  progress?(progress: ToolProgress): void
  /** Announces that work of the call continues until the promise settles. The changes of the call are known only then. */
  stays?(ended: Promise<void>): void
  /** Records a change of a file in the run log, for the judge. Models never see this record. */
  changed?(change: FileChange): void
}

export type ToolOutput = Record<string, unknown>

/** A call whose tool exists and whose input is valid. */
export interface Call {
  toolCallId: string
  toolName: string
  input: unknown
  /** The model wrote the call as text instead of a tool call. */
  isFromText?: true
}

/** The name and the input of a call. */
export type NamedCall = Pick<Call, 'toolName' | 'input'>

/** The words with which a tool is described to people. */
export interface ToolWords {
  /** A label for any call of the tool: `Write a file`. */
  label: string
  /** The words for one call, before its object: `write the file`. */
  does: string
  /** The verb for short sentences, if it differs from `does`: `write`. */
  verb?: string
  /**
   * Returns the words for a call that `does` and its object do not describe well: `list this folder`. Fields of the input can be missing.
   */
  ofCall?(input: Record<string, any>): string | undefined
  /**
   * Returns the result of a call in one or two sentences, with its content; used by the offline model. If absent,
   * the result is shown unchanged.
   */
  result?(output: Record<string, any>, input: Record<string, any>): string
}

/**
 * The source of the result of a call. It decides who wrote the addresses in the result, and whether the result is
 * private. `file` is the content of one file, `files` are names or lines of several files. `tasks` are the user's tasks.
 */
export type ResultSource =
  | 'attachment' | 'page' | 'search' | 'file' | 'files' | 'command' | 'memory' | 'tasks' | 'server' | 'app' | 'screen' | 'user' | 'report'
  | 'none'

/** How a tool is named and described. */
export interface ToolSays {
  /** The words for people, by language. Only built-in tools have such words; other tools are shown by their names. */
  en: ToolWords
  /** The fields of the input that contain the object of a call, such as a path, a command or an address. */
  about?: readonly string[]
  /**
   * Names of the same tool in other agents, in lower case and without punctuation. A call with such a name counts
   * as a call of this tool if its input fits.
   */
  otherNames?: readonly string[]
}

/**
 * The context of the decision whether a call needs an approval. `textOfOthers` returns a description of texts
 * from others that the run has read; undefined if there are none.
 */
type AskContext = Pick<ToolContext, 'runId' | 'cwd'> & { textOfOthers?(): Promise<string | undefined> }

/** Returns why this call needs an approval, as a sentence; undefined if the call can run without asking. */
type AskReason<Input> = (input: Input, context: AskContext) => Promise<string | undefined>

/** How a tool is described to models, and how its input and output are checked and converted. */
interface ToolModel<Input> {
  name: string
  description: string
  /** The JSON Schema of the input. The input is validated before `execute` is called. */
  schema: TSchema
  /**
   * How often runs need the tool. `always`: models always receive its description. `seldom`: the tool is deferred,
   * so models have to find it. `finder`: the tool only finds other tools, and is offered if some are deferred. Any
   * other tool is deferred only for a model that accepts few tools or has a small window.
   */
  use?: 'always' | 'seldom' | 'finder'
  /** Description and schema for models with a small context window. Such models receive only tools that have this form. */
  readonly compact?: { description: string, schema: TSchema }
  /** Returns what is wrong with an input that the schema accepts; undefined if nothing is. */
  findMistake?(input: Input): string | undefined
  /** Converts an output to the form for models, if it differs from the form for readers. */
  output?(output: ToolOutput): ToolOutput
}

/** What decides whether a call is allowed to run. */
interface ToolPolicy<Input> {
  effect: ToolEffect
  /**
   * The default permission, if it differs from that of the effect; see `createPermissions`. A function means that
   * the tool is allowed but some calls need an approval: the function returns why. It is not called if the user
   * has allowed the tool. `everyTime`: an approval covers that call alone.
   */
  permission?: Permission | AskReason<Input> | { everyTime: AskReason<Input> }
  /** The conditions for offering the tool to a run. */
  needs?: readonly ToolNeed[]
  /** The timeout of a call, in milliseconds. Default: 60 s. */
  timeLimitMs?: number
}

/** The effect that a call would have on files. */
export interface FilesOfCall {
  /** The paths that the call would change. Their contents are copied before the call starts, so that the change can be undone. */
  changed: ChangedPath[]
  /**
   * Returns the effect of the call, applied after the changes of earlier calls (`ahead`). Changes nothing. Throws
   * where `execute` would fail.
   */
  preview(context: { ahead: FileChanges, signal: AbortSignal }): Promise<ToolPreview>
}

/** The effects of calls, as far as they are known before and after the calls run. */
interface ToolEffects<Input> {
  /**
   * Returns the effect that the call would have on files. Throws where `execute` would refuse a path; the call then fails with that error.
   */
  files?(input: Input, context: Pick<ToolContext, 'cwd' | 'givenCwd'>): Promise<FilesOfCall>
  /** Returns the addresses that receive the input: addresses that the call requests, and addresses that it passes to others. */
  addresses?(input: Input): string[]
  /** The source of the result. If absent, the source is the tool server for its tools, and otherwise only the input. */
  source?: ResultSource
  /** The effect that a completed call proves to the judge. If absent: `any`, or nothing for a tool whose effect is `read`. */
  proves?: ProvenEffect
  /** Returns the command in the input, whose effects cannot be known before it runs. Absent for other tools. */
  command?(input: Input): CommandOfCall
}

/** What is known about the command of a call before the command runs. */
export interface CommandOfCall {
  /** The working folder that the input names; undefined for the working folder of the run. */
  folder?: string
  /** Whether processes of the command might continue after the call. */
  mayStay?: boolean
  /** Returns where the command would run if it is started in `folder`. `base` is the working folder of the run. Both have real paths. */
  boundary(context: { folder: WorkFolder, base: string, narrowed?: SandboxMode }): Promise<Boundary>
  /** Runs the command in a throw-away environment, and returns its effects and output, for a person. */
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
   * Executes a call; errors that it throws have messages that tell the model what to do. If the user or the
   * application answers the calls instead (`by`), a call waits in the ledger, for at most `ms` milliseconds.
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
   * A text that changes whenever the definition of the tool changes, because a tool can change under the same
   * name. Approvals are valid for one identity only.
   */
  identity: string
  /** The name for people, from the source of the tool. */
  title?: string
  /** The source says that the tool might destroy something. */
  isDestructive?: boolean
  /** A warning for the user before the approval of a call; one sentence. */
  caution?: string
  /** The source validates the inputs itself, so the service refuses no input that the source might accept. */
  checksInput?: true
}

export const isSourceTool = (tool: Tool): tool is SourceTool => 'identity' in tool

/** Whether the tool requires at least one of these conditions. */
export const needsAny = (tool: Pick<Tool, 'policy'> | undefined, ...needs: readonly ToolNeed[]): boolean =>
  tool?.policy.needs?.some((need) => needs.includes(need)) ?? false

/** Returns the object of a call from its input, such as a path, a command or an address; undefined if the input names none. */
export function aboutOf (tool: Pick<Tool, 'says'> | undefined, input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const fields = input as Record<string, unknown>
  const named = tool?.says?.about?.map((field) => fields[field]).filter((value) => typeof value === 'string') ?? []
  return named.length === 0 ? undefined : named.join(' → ')
}
