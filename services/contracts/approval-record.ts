import type { Choice, ChoiceTopic } from '../../schemas/approvals.ts'
import type { AskReason, Learned, OfferedScope, Scope, ShownToolServer, Until } from '../../schemas/grants.ts'
import type { Answers, Question } from '../../schemas/questions.ts'
import type { StateOf } from './approval-states.ts'
import type { Boundary } from './boundary.ts'
import type { ShownPlace, WorkFolder } from './tool.ts'

/** A conversation or a task: the run of an approval belongs to one of them. */
export type Owner = { threadId: string, taskId?: undefined } | { taskId: string, threadId?: undefined }

export const ownerOf = ({ threadId, taskId }: { threadId?: string, taskId?: string }): Owner =>
  taskId === undefined ? { threadId: threadId! } : { taskId }
/** Names an owner in one text, from which keys are made. */
export const ownerText = ({ threadId, taskId }: Owner): string => taskId === undefined ? `thread:${threadId}` : `task:${taskId}`

type OfThread = Extract<Owner, { threadId: string }>
type OfTask = Extract<Owner, { taskId: string }>

/** Where a file lies: the real path of its folder, and its name there. */
export interface FilePlace {
  folder: string
  name: string
}

/** What approvals of every kind record. */
interface Item {
  approvalId: string
  runId: string
  /** The segment of the run that made the request. The continuation after the decision is the next segment. */
  segment: number
  createdAt: number
  /** The time until which the request can be answered. */
  expiresAt: number
}

/** A decision of a person. The first decision is kept. */
interface Decided {
  approved?: boolean
  /** The reason that was given with the decision. */
  reason?: string
  /** Milliseconds since the Unix epoch. */
  decidedAt?: number
}

/** What is recorded of a call of a tool. */
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
  /** Real path of the folder that the call was shown to work in. */
  cwd: string
  /** The identity of the folder `cwd` at the request. */
  folder: Omit<WorkFolder, 'path'>
  /** The identity of the tool at the request, for tools that may change under the same name. */
  identity?: string
  /** Why it asks: the policies that asked, in words. */
  reasons?: AskReason[]
  /** Why the approval is requested again. */
  note?: string
  /** What was there at the paths that the call would change; empty where that is not known. Absent in records of older versions. */
  shown?: ShownPlace[]
  /** Of a task: the paths of `shown` with something that the task did not make, or that others have changed since. */
  others?: string[]
  /** What the approval teaches the later runs of its task, in words. */
  teaches?: string[]
  /** The digest of what the person saw who decided, where that is not `shown`. */
  previewDigest?: string
  /** The approvals of the same step whose calls come before this one and change files. */
  behind?: string[]
  /** How often this was asked before, because what is there had changed. */
  asks?: number
  /** The person approved the call with whatever is there then. */
  unbound?: true
  /** The input that the person put in the place of the model's. */
  correctedInput?: unknown
  /** The ids of the calls because of which it is asked. */
  because?: string[]
  /** The id of the new request that replaced this one after its approval, because the folder had changed; the call did not run. */
  replacedBy?: string
  /** What the decision may cover, each with a sentence for the user; absent: this call alone. */
  scopes?: OfferedScope[]
  /** Where the command runs, as it was shown. */
  boundary?: Boundary
  /** The server whose tool it is, as it was shown. */
  toolServer?: ShownToolServer
  /** Where the files of the call lie, for the scopes that need it. */
  places?: FilePlace[]
  /** What the decision covers beyond this call, and how long. */
  granted?: { scope: Scope, until?: Until }
}

/** The output of a task's run that needs, or needed, an approval. Without one the run was cancelled: it counts as denied. */
export interface ResultItem extends Item, Decided {
  kind: 'result'
  state: StateOf<'result'>
  output?: string
  /** What later runs may do unasked once this is approved, in words. */
  teaches?: string[]
  /** What the approval has taught. */
  learned?: Learned
  /** The id of the request about the result of a newer run, which took the place of this one. */
  replacedBy?: string
}

/** Questions of the agent to its user. The `approvalId` is the id of the call, if there is one. */
export interface QuestionItem extends Item {
  kind: 'question'
  state: StateOf<'question'>
  /** The call of the tool that asks; absent when a tool server asks. */
  toolCallId?: string
  questions: Question[]
  answers?: Answers
  reason?: string
  decidedAt?: number
  /** A tool server asked in the middle of a call that keeps running: the server, and the address that it wants to have opened. */
  live?: true
  server?: string
  url?: string
}

/** Keeps the alternatives of a union apart while fields are taken away. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A call of a tool that the application executes. Its `approvalId` is the id of the call, which is unique. */
export interface AppCallItem extends Item, Call {
  kind: 'app'
  state: StateOf<'app'>
  /** The application whose tool it is, by the name that it gave itself. */
  app?: string
  /** The instance of the application that executes the call, and the time until which it must renew its claim. */
  claim?: { instance: string, until: number }
  output?: Record<string, unknown>
  /** The output of the application was no object, and is the property `result` of `output`. */
  isWrapped?: true
  errorText?: string
}

/** A choice of a person about a task itself. It belongs to no run and does not expire. */
interface ChoiceItem {
  kind: 'task'
  approvalId: string
  state: StateOf<'task'>
  /** What the choice is about, which decides what it does. */
  about: ChoiceTopic
  /** What is asked, in a sentence. */
  text: string
  choices: Choice[]
  choice?: string
  createdAt: number
  decidedAt?: number
  runId?: undefined
  segment?: undefined
  expiresAt?: undefined
  reason?: undefined
}

/** What the calls of a step wait for. */
export type CallItem = ToolItem | QuestionItem | AppCallItem
/** What a task asks its person outside of its runs. */
export type TaskChoice = OfTask & ChoiceItem
/** Any item of the ledger. */
export type Approval = Owner & (CallItem | ResultItem) | TaskChoice
/** What the run of a conversation waits, or waited, for. */
export type ThreadItem = OfThread & CallItem
/** What the run of a conversation asks a person to approve or to answer. */
export type ThreadApproval = OfThread & (ToolItem | QuestionItem)
/** What the run of a task waits, or waited, for. */
export type TaskItem = OfTask & (CallItem | ResultItem)
/** What the run of a task asks a person to approve or to answer. */
export type TaskApproval = OfTask & (ToolItem | ResultItem | QuestionItem)
/** A new item for a call; the ledger adds the rest. */
export type NewCallItem = Without<CallItem, 'approvalId' | 'state' | 'digest' | 'createdAt' | 'expiresAt'>
/**
 * A call of a step that waits: for an approval, for the user's answer, or for the application, `ms` milliseconds at most. `behind` are here
 * the ids of calls, as their approvals are made with it.
 */
export type WaitingCall = Without<NewCallItem, 'runId' | 'segment'> & { toolCallId: string, ms?: number }

export const isOfThread = (approval: Approval): approval is ThreadApproval =>
  approval.threadId !== undefined && (approval.kind === 'tool' || approval.kind === 'question')
export const isOfTask = (approval: Approval): approval is TaskApproval =>
  approval.taskId !== undefined && approval.kind !== 'app' && approval.kind !== 'task'

/** What decides whether an item can be answered. */
export type Answerable = Pick<Approval, 'state' | 'expiresAt'> & Pick<AppCallItem, 'claim'>

/** Whether the item can be answered, apart from its time. */
export const isUnanswered = ({ state }: Pick<Approval, 'state'>): boolean => state === 'pending' || state === 'open' || state === 'claimed'

/** What a person decided about one approval. */
export interface Decision {
  approvalId: string
  /** Questions are answered, with `answers`, or declined. */
  approved: boolean
  answers?: Answers
  reason?: string
  /** What the approval covers; default: this call alone. */
  scope?: Scope
  until?: Until
  /** The call may run with whatever is there then. */
  unbound?: true
  /** The digest of the preview that the person saw. */
  previewDigest?: string
  /** The input that the call is to run with, and what was there at its paths. */
  corrected?: Correction
}

export type Correction = Pick<ToolItem, 'cwd' | 'folder' | 'shown' | 'correctedInput' | 'boundary'>

/** An entry of the index of open approvals: `expiresAt` lets the retention remove entries of requests that nobody answered. */
export interface OpenEntry {
  kind: Approval['kind']
  expiresAt?: number
}

/** The beginning of the id under which a tool server waits to be accepted. It is no item of the ledger. */
export const SERVER_ITEM = 'server-'

/** The reason that models get for a denial without a reason of the user. */
export const DENIED = 'The user denied this call.'

/** A call that the user refused. */
export interface RefusedCall {
  toolName: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  reason?: string
}

/** Returns the fields of an approval that record the folder shown with it. */
export const boundTo = ({ path, ...folder }: WorkFolder): Pick<ToolItem, 'cwd' | 'folder'> => ({ cwd: path, folder })

/** Returns the folder that was shown with an approval request. */
export const shownFolder = ({ cwd, folder }: Pick<ToolItem, 'cwd' | 'folder'>): WorkFolder => ({ path: cwd, ...folder })

/** Finds, in the items of a run, the newest approval of a call and what answers it in the tool's place. */
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
