import type { Scope, Until } from '../../schemas/grants.ts'
import type { Answers } from '../../schemas/questions.ts'
import type { ToolItem } from '../contracts/approval-record.ts'

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
