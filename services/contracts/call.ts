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
