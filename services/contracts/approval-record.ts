import type { Choice, ChoiceTopic } from '../../schemas/approvals.ts'
import type { DecidingDevice } from '../../schemas/deciding-device.ts'
import type { AskReason, Learned, OfferedScope, Scope, ShownToolServer, Until } from '../../schemas/grants.ts'
import type { Answers, Question, ReachedBudget } from '../../schemas/questions.ts'
import type { StateOf } from './approval-states.ts'
import type { Boundary } from './boundary.ts'
import type { ShownPlace, WorkFolder } from './tool.ts'

/** The conversation or task to which a run and its approvals belong. */
export type Owner = { threadId: string, taskId?: undefined } | { taskId: string, threadId?: undefined }

export const ownerOf = ({ threadId, taskId }: { threadId?: string, taskId?: string }): Owner =>
  taskId === undefined ? { threadId: threadId! } : { taskId }
/** Returns a text that identifies an owner, for use in keys. */
export const ownerText = ({ threadId, taskId }: Owner): string => taskId === undefined ? `thread:${threadId}` : `task:${taskId}`

type OfThread = Extract<Owner, { threadId: string }>
type OfTask = Extract<Owner, { taskId: string }>

/** The place of a file: the real path of its folder, and the name of the file. */
export interface FilePlace {
  folder: string
  name: string
}

/** The fields that approvals of most kinds have. Times are milliseconds since the Unix epoch. */
interface Item {
  approvalId: string
  runId: string
  /**
   * The number of the segment (the part of the run between two waits for a person) that made the request. After the decision, the run
   * continues in the next segment.
   */
  segment: number
  createdAt: number
  /** The time until which the request can be answered; milliseconds since the Unix epoch. */
  expiresAt: number
}

/** A decision of a person. Only the first decision counts. */
interface Decided {
  approved?: boolean
  /** The reason that the person gave. */
  reason?: string
  /** Milliseconds since the Unix epoch. */
  decidedAt?: number
  /** The paired device that decided. */
  device?: DecidingDevice
}

/** The fields that record a tool call. */
interface Call {
  toolCallId: string
  toolName: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
}

/** A tool call that needs, or needed, an approval. */
export interface ToolItem extends Item, Decided, Call {
  kind: 'tool'
  state: StateOf<'tool'>
  /** Real path of the working folder that the request showed. */
  cwd: string
  /** The identity of the folder `cwd` when the request was made. */
  folder: Omit<WorkFolder, 'path'>
  /** The identity of the tool when the request was made, for tools whose definition can change under the same name. */
  identity?: string
  /** The reasons for asking, one for each policy that requires an approval, in words. */
  reasons?: AskReason[]
  /** Why the approval is requested again, in words. */
  note?: string
  /**
   * The state of the paths that the call would change, as the request showed it; empty if these paths are not
   * known. Absent in records of older versions.
   */
  shown?: ShownPlace[]
  /**
   * Tasks only: the paths in `shown` with a file or folder that the task did not make, or that others have changed since the task made it.
   */
  others?: string[]
  /** What later runs of the task may do without asking, once this call is approved, in words. */
  teaches?: string[]
  /** The digest of the preview that the deciding person saw, if the preview differed from `shown`. */
  previewDigest?: string
  /** The ids of approvals of the step of this call whose calls run before this call and change files. */
  behind?: string[]
  /** How often the approval was requested before. It is requested again if the state of the paths has changed. */
  asks?: number
  /** The person approved the call independent of the state of its paths when the call runs. */
  unbound?: true
  /** The corrected input, if the person changed the input of the model. */
  correctedInput?: unknown
  /** The ids of earlier calls that are the reason for asking. */
  because?: string[]
  /** The id of the request that replaced this approved request, because the folder had changed. The call did not run. */
  replacedBy?: string
  /** The scopes that the decision can have, each with a sentence for the user. Absent if the decision can cover only this call. */
  scopes?: OfferedScope[]
  /** Where the command runs, as the request showed it. */
  boundary?: Boundary
  /** The tool server to which the tool belongs, as the request showed it. */
  toolServer?: ShownToolServer
  /** The places of the files of the call, for scopes that cover files. */
  places?: FilePlace[]
  /** The id of another request whose answer approved this call as well. */
  releasedBy?: string
  /** Which later calls the decision covers, and for how long. */
  granted?: { scope: Scope, until?: Until }
}

/** An approval of the output of a task's run. If the run is cancelled before a decision, the approval counts as denied. */
export interface ResultItem extends Item, Decided {
  kind: 'result'
  state: StateOf<'result'>
  output?: string
  /** What later runs of the task may do without asking, once this result is approved, in words. */
  teaches?: string[]
  /** What later runs of the task may do without asking, now that this result is approved. */
  learned?: Learned
  /** The id of the request that replaced this one: the approval of the result of a newer run. */
  replacedBy?: string
}

/**
 * Questions to the user from the agent, a tool server or the service. The `approvalId` is the id of the call, if a call asks the questions.
 */
export interface QuestionItem extends Item {
  kind: 'question'
  state: StateOf<'question'>
  /** The id of the tool call that asks; absent when a tool server or the service asks. */
  toolCallId?: string
  questions: Question[]
  answers?: Answers
  reason?: string
  decidedAt?: number
  device?: DecidingDevice
  /** A tool server asks in the middle of a call that keeps running. `server` is its name; `url` is a page that the user has to open. */
  live?: true
  server?: string
  url?: string
  /** The service asks whether the run is allowed to spend more than this budget. */
  budget?: ReachedBudget
}

/** Omits fields from each alternative of a union; `Omit` would merge the alternatives. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A call of a tool that the application executes. The `approvalId` is the id of the call. */
export interface AppCallItem extends Item, Call {
  kind: 'app'
  state: StateOf<'app'>
  /** The name under which the application that has this tool registered itself. */
  app?: string
  /**
   * The claim of the instance of the application that executes the call. The instance must renew the claim before
   * `until` (milliseconds since the Unix epoch).
   */
  claim?: { instance: string, until: number }
  output?: Record<string, unknown>
  /** The application's output was not an object, so it is stored as the property `result` of `output`. */
  isWrapped?: true
  errorText?: string
}

/** A question to a person about a task itself, with choices. It belongs to no run and does not expire. */
interface ChoiceItem {
  kind: 'task'
  approvalId: string
  state: StateOf<'task'>
  /** The topic of the question, which decides the effect of each choice. */
  about: ChoiceTopic
  /** The text of the question. */
  text: string
  choices: Choice[]
  choice?: string
  createdAt: number
  decidedAt?: number
  runId?: undefined
  segment?: undefined
  expiresAt?: undefined
  reason?: undefined
  device?: undefined
}

/** An item for which a tool call waits. */
export type CallItem = ToolItem | QuestionItem | AppCallItem
/** A question of a task to a person, outside of its runs. */
export type TaskChoice = OfTask & ChoiceItem
/** Any item of the ledger. */
export type Approval = Owner & (CallItem | ResultItem) | TaskChoice
/** An item for which the run of a conversation waits or has waited. */
export type ThreadItem = OfThread & CallItem
/** An item of the run of a conversation that a person has to approve or answer. */
export type ThreadApproval = OfThread & (ToolItem | QuestionItem)
/** An item for which the run of a task waits or has waited. */
export type TaskItem = OfTask & (CallItem | ResultItem)
/** An item of the run of a task that a person has to approve or answer. */
export type TaskApproval = OfTask & (ToolItem | ResultItem | QuestionItem)
/** The fields of a new item for a call; the ledger adds the others. */
export type NewCallItem = Without<CallItem, 'approvalId' | 'state' | 'digest' | 'createdAt' | 'expiresAt'>
/** The question of a run whether it is allowed to spend more than a budget. */
export type BudgetQuestion = Pick<QuestionItem, 'kind' | 'questions'> & { budget: ReachedBudget, toolCallId?: undefined, ms?: number }
/**
 * A call that waits for an approval, for the user's answer, or for the application. `ms`: the longest wait, in
 * milliseconds. `behind` holds ids of calls here, because the approvals get their ids only when they are created.
 */
export type WaitingCall = Without<NewCallItem, 'runId' | 'segment'> & { toolCallId: string, ms?: number }

export const isOfThread = (approval: Approval): approval is ThreadApproval =>
  approval.threadId !== undefined && (approval.kind === 'tool' || approval.kind === 'question')
export const isOfTask = (approval: Approval): approval is TaskApproval =>
  approval.taskId !== undefined && approval.kind !== 'app' && approval.kind !== 'task'

/** The fields that decide whether an item can be answered. */
export type Answerable = Pick<Approval, 'state' | 'expiresAt'> & Pick<AppCallItem, 'claim'>

/** Whether the item has no answer yet. An expired item without an answer counts as unanswered. */
export const isUnanswered = ({ state }: Pick<Approval, 'state'>): boolean => state === 'pending' || state === 'open' || state === 'claimed'

/** The decision of a person about one approval. */
export interface Decision {
  approvalId: string
  /** For questions, `true` means that the user answered (with `answers`), `false` that the user declined. */
  approved: boolean
  answers?: Answers
  reason?: string
  /** Which calls the approval covers. Default: only this call. */
  scope?: Scope
  until?: Until
  /** The call is allowed to run independent of the state of its paths at that time. */
  unbound?: true
  /** The digest of the preview that the person saw. */
  previewDigest?: string
  /** The corrected input with which the call has to run, with the folder, paths and boundary for that input. */
  corrected?: Correction
  /** The paired device that decides. */
  device?: DecidingDevice
}

/** The result of an answer. `released` are other open approvals that the answer approved as well. `continued`: the run continues. */
export interface Answered<I extends Approval = Approval> {
  item: I
  released?: I[]
  continued: boolean
}

export type Correction = Pick<ToolItem, 'cwd' | 'folder' | 'shown' | 'correctedInput' | 'boundary'>

/** An entry of the index of open approvals. By `expiresAt`, the retention finds requests that nobody answered in time. */
export interface OpenEntry {
  kind: Approval['kind']
  expiresAt?: number
}

/** The prefix of the id under which the inbox lists a tool server that waits to be accepted. Such an id names no item of the ledger. */
export const SERVER_ITEM = 'server-'

/** The reason that models receive if the user denied a call without giving a reason. */
export const DENIED = 'The user denied this call.'

/** A call that the user refused. */
export interface RefusedCall {
  toolName: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  reason?: string
}

/** Returns the fields of an approval that record the working folder which the request shows. */
export const boundTo = ({ path, ...folder }: WorkFolder): Pick<ToolItem, 'cwd' | 'folder'> => ({ cwd: path, folder })

/** Returns the working folder that an approval request showed. */
export const shownFolder = ({ cwd, folder }: Pick<ToolItem, 'cwd' | 'folder'>): WorkFolder => ({ path: cwd, ...folder })

/**
 * Finds the items of a call among the items of a run: the newest approval, and `answer`, the item through which
 * a person or the application answers the call.
 */
export const findOfCall = <I extends CallItem>(items: Iterable<I>, toolCallId: string) => {
  let approval: Extract<I, { kind: 'tool' }> | undefined
  let answer: Exclude<I, { kind: 'tool' }> | undefined
  for (const item of items) {
    if (item.toolCallId !== toolCallId) continue
    if (item.kind === 'tool') approval = item as typeof approval
    else answer = item as typeof answer
  }
  return { approval, answer }
}
