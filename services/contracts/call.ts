import type { ToolItem } from './approval-record.ts'
import type { Boundary } from './boundary.ts'
import type { ShownPlace, WorkFolder } from './tool.ts'

/** A call whose tool exists and whose input is valid. */
export interface Call {
  toolCallId: string
  toolName: string
  input: unknown
  /** The model wrote it as text. */
  isFromText?: true
}

/** What the ledger knows of a call that needed an approval. */
export interface CallApproval {
  approvalId: string
  /** `begun`: the tool was started before; `expired`: nobody answered in time. */
  state: 'open' | 'approved' | 'begun' | 'denied' | 'expired'
  /** The identity of the approved tool. Another tool with the same name is not executed. */
  identity?: string
  /** The folder that was shown. */
  folder: WorkFolder
  /** What was shown of the paths that the call changes, see `ToolItem`. */
  shown?: ShownPlace[]
  previewDigest?: string
  asks: number
  unbound?: true
  /** The input that the person put in the place of the model's. */
  correctedInput?: unknown
  /** Where the command runs, as it was shown. */
  boundary?: Boundary
  /** The reason of a denial, for the model. */
  reason: string
}

/** What the ledger knows of a call that the user or the application answers in the tool's place. */
export type CallAnswer =
  | { is: 'open' }
  | { is: 'output', output: Record<string, unknown>, isWrapped?: true }
  | { is: 'error', errorText: string }
  /** The application began the call, and nobody knows how it ended. */
  | { is: 'unknown', errorText: string }

/** A call that needs an approval. */
interface UnapprovedCall extends Call, Pick<
  ToolItem,
  'scopes' | 'places' | 'shown' | 'others' | 'teaches' | 'asks' | 'correctedInput' | 'because' | 'boundary' | 'toolServer'
> {
  kind: 'tool'
  /** The folder that it would work in. */
  folder: WorkFolder
  /** The identity of its tool. */
  identity?: string
  /** The ids of the calls of its step that come before it and would change files. */
  behind?: string[]
  /** The reason for the user why the call is asked, or asked again. */
  reason?: string
}

/** A call with which the agent asks the user. */
interface QuestionCall extends Call {
  kind: 'question'
}

/** A call that the application executes. */
interface AppCall extends Call {
  kind: 'app'
  app?: string
  /** Milliseconds in which it must be answered. */
  ms?: number
}

/** A call that waits: for an approval, for the user's answer, or for the application. */
export type AskedCall = UnapprovedCall | QuestionCall | AppCall
