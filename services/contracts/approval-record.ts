import type { Choice, ChoiceTopic } from '../../schemas/approvals.ts'
import type { DecidingDevice } from '../../schemas/deciding-device.ts'
import type { AskReason, Learned, OfferedScope, Scope, ShownToolServer, Until } from '../../schemas/grants.ts'
import type { Answers, Question, ReachedBudget } from '../../schemas/questions.ts'
import type { StateOf } from './approval-states.ts'
import type { Boundary } from './boundary.ts'
import type { ShownPlace, WorkFolder } from './tool.ts'

/** The conversation or the task that a run, and so its approvals, belong to. */
export type Owner = { threadId: string, taskId?: undefined } | { taskId: string, threadId?: undefined }

export const ownerOf = ({ threadId, taskId }: { threadId?: string, taskId?: string }): Owner =>
  taskId === undefined ? { threadId: threadId! } : { taskId }
/** Returns a text that identifies an owner; keys are made from it. */
export const ownerText = ({ threadId, taskId }: Owner): string => taskId === undefined ? `thread:${threadId}` : `task:${taskId}`

type OfThread = Extract<Owner, { threadId: string }>
type OfTask = Extract<Owner, { taskId: string }>

/** Where a file is: the real path of its folder, and its name in it. */
export interface FilePlace {
  folder: string
  name: string
}

/** The fields of approvals of every kind. */
interface Item {
  approvalId: string
  runId: string
  /** The segment of the run that made the request. After the decision, the run continues in the next segment. */
  segment: number
  createdAt: number
  /** The time until which the request can be answered. */
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
  /** The identity of the tool when the request was made, for tools whose definition may change under the same name. */
  identity?: string
  /** The policies because of which the call asks, in words. */
  reasons?: AskReason[]
  /** Why the approval is requested again, in words. */
  note?: string
  /** What was at the paths that the call would change; empty if these paths are not known. Absent in records of older versions. */
  shown?: ShownPlace[]
  /** In a task: the paths of `shown` with something that the task did not make, or that others have changed since the task made it. */
  others?: string[]
  /** What later runs of the task may do unasked once this is approved, in words. */
  teaches?: string[]
  /** The digest of the preview that the person saw who decided, if it differed from `shown`. */
  previewDigest?: string
  /** The ids of approvals of the same step whose calls come before this one and change files. */
  behind?: string[]
  /** How often the request was made before, because what is at the paths had changed. */
  asks?: number
  /** The person approved the call for whatever is at its paths when it runs. */
  unbound?: true
  /** The input with which the person replaced the input of the model. */
  correctedInput?: unknown
  /** The ids of the calls that are the reason for asking. */
  because?: string[]
  /** The id of the request that replaced this one after it was approved, because the folder had changed; the call did not run. */
  replacedBy?: string
  /** The scopes that the decision may have, each with a sentence for the user; absent: only this call. */
  scopes?: OfferedScope[]
  /** Where the command runs, as the request showed it. */
  boundary?: Boundary
  /** The server whose tool it is, as the request showed it. */
  toolServer?: ShownToolServer
  /** Where the files of the call are, for the scopes that need it. */
  places?: FilePlace[]
  /** The id of the request whose answer also covered this call. */
  releasedBy?: string
  /** What the decision covers beyond this call, and for how long. */
  granted?: { scope: Scope, until?: Until }
}

/** An approval of the output of a task's run. One without a decision, because the run was cancelled, counts as denied. */
export interface ResultItem extends Item, Decided {
  kind: 'result'
  state: StateOf<'result'>
  output?: string
  /** What later runs may do unasked once this is approved, in words. */
  teaches?: string[]
  /** What later runs of the task may do since this was approved. */
  learned?: Learned
  /** The id of the request about the result of a newer run, which replaced this one. */
  replacedBy?: string
}

/** Questions of the agent to its user. The `approvalId` is the id of the call, if a call asks them. */
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
  /** A tool server asks in the middle of a call, which keeps running: the server, and the address that the user is to open. */
  live?: true
  server?: string
  url?: string
  /** The service asks whether the run may spend more than this budget. */
  budget?: ReachedBudget
}

/** Omits fields from each alternative of a union; `Omit` would merge the alternatives. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A call of a tool that the application executes. Its `approvalId` is the id of the call, which is unique. */
export interface AppCallItem extends Item, Call {
  kind: 'app'
  state: StateOf<'app'>
  /** The name that the application with this tool gave itself. */
  app?: string
  /** The instance of the application that executes the call, and the time until which it must renew its claim. */
  claim?: { instance: string, until: number }
  output?: Record<string, unknown>
  /** The output of the application was not an object: it is the property `result` of `output`. */
  isWrapped?: true
  errorText?: string
}

/** A choice of a person about a task itself. It belongs to no run and does not expire. */
interface ChoiceItem {
  kind: 'task'
  approvalId: string
  state: StateOf<'task'>
  /** The topic of the choice, which decides what an answer does. */
  about: ChoiceTopic
  /** The question, in a sentence. */
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

/** What a tool call waits for. */
export type CallItem = ToolItem | QuestionItem | AppCallItem
/** What a task asks a person outside of its runs. */
export type TaskChoice = OfTask & ChoiceItem
/** Any item of the ledger. */
export type Approval = Owner & (CallItem | ResultItem) | TaskChoice
/** What the run of a conversation waits for, or has waited for. */
export type ThreadItem = OfThread & CallItem
/** What the run of a conversation asks a person to approve or to answer. */
export type ThreadApproval = OfThread & (ToolItem | QuestionItem)
/** A call in a conversation that needs, or needed, an approval. */
export type ThreadCall = OfThread & ToolItem
/** What the run of a task waits for, or has waited for. */
export type TaskItem = OfTask & (CallItem | ResultItem)
/** What the run of a task asks a person to approve or to answer. */
export type TaskApproval = OfTask & (ToolItem | ResultItem | QuestionItem)
/** The fields of a new item for a call; the ledger adds the others. */
export type NewCallItem = Without<CallItem, 'approvalId' | 'state' | 'digest' | 'createdAt' | 'expiresAt'>
/** What a run asks its user before it spends more than a budget. */
export type BudgetQuestion = Pick<QuestionItem, 'kind' | 'questions'> & { budget: ReachedBudget, toolCallId?: undefined, ms?: number }
/**
 * A call that waits: for an approval, for the user's answer, or for the application (`ms` milliseconds at most). `behind` holds ids of
 * calls here, because the approvals get their ids only when they are made.
 */
export type WaitingCall = Without<NewCallItem, 'runId' | 'segment'> & { toolCallId: string, ms?: number }

export const isOfThread = (approval: Approval): approval is ThreadApproval =>
  approval.threadId !== undefined && (approval.kind === 'tool' || approval.kind === 'question')
export const isOfTask = (approval: Approval): approval is TaskApproval =>
  approval.taskId !== undefined && approval.kind !== 'app' && approval.kind !== 'task'

/** The fields that decide whether an item can be answered. */
export type Answerable = Pick<Approval, 'state' | 'expiresAt'> & Pick<AppCallItem, 'claim'>

/** Whether the item has no answer yet; whether it has expired is not considered. */
export const isUnanswered = ({ state }: Pick<Approval, 'state'>): boolean => state === 'pending' || state === 'open' || state === 'claimed'

/** What a person decided about one approval. */
export interface Decision {
  approvalId: string
  /** For questions, `true` means that they are answered (with `answers`), `false` that the user declined. */
  approved: boolean
  answers?: Answers
  reason?: string
  /** What the approval covers; default: only this call. */
  scope?: Scope
  until?: Until
  /** The call may run whatever is at its paths then. */
  unbound?: true
  /** The digest of the preview that the person saw. */
  previewDigest?: string
  /** The input that the call is to run with, and what was there at its paths. */
  corrected?: Correction
  /** The paired device that decides. */
  device?: DecidingDevice
}

export type Correction = Pick<ToolItem, 'cwd' | 'folder' | 'shown' | 'correctedInput' | 'boundary'>

/** An entry of the index of open approvals. With `expiresAt`, the retention finds the entries of requests that nobody answered. */
export interface OpenEntry {
  kind: Approval['kind']
  expiresAt?: number
}

/** The beginning of the id of a tool server that waits to be accepted. Such an id names no item of the ledger. */
export const SERVER_ITEM = 'server-'

/** The reason that models get when the user denied a call without a reason. */
export const DENIED = 'The user denied this call.'

/** A call that the user refused. */
export interface RefusedCall {
  toolName: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  reason?: string
}

/** Returns the fields with which an approval records the folder that it shows. */
export const boundTo = ({ path, ...folder }: WorkFolder): Pick<ToolItem, 'cwd' | 'folder'> => ({ cwd: path, folder })

/** Returns the folder that an approval request showed. */
export const shownFolder = ({ cwd, folder }: Pick<ToolItem, 'cwd' | 'folder'>): WorkFolder => ({ path: cwd, ...folder })

/**
 * Finds the newest approval of a call in the items of a run, and the item that holds the answer if a person or the application answers the
 * call.
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
