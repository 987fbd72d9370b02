import { createHash } from 'node:crypto'
import type { ApprovalView } from '../../schemas/agent.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import type { WorkFolder } from '../tools/work-folder.ts'

/**
 * One tool call that waits for a person. `pending → approved | denied`, `approved → executing → done | unknown`;
 * or `expired`, or `withdrawn` when the user said something else instead, or when an approved call is asked about again.
 */
export interface Approval extends ApprovalView {
  /** The segment of the run whose stream asked; the answer's continuation is the next one. */
  segment: number
  /** Of the tool that was asked about, where tools may change under their name. */
  identity?: string
  /** Which folder `cwd` was when it was shown, see `WorkFolder`. Absent in older records, which are bound to the path alone. */
  folder?: Omit<WorkFolder, 'path'>
  /** The request that was asked in its place after it was approved: it did not run, as its folder had changed. */
  replacedBy?: string
  /** What was decided, once. */
  approved?: boolean
}

/** How long a person has, milliseconds. */
export const APPROVAL_TTL_MS = 24 * 60 * 60 * 1000

/** Two calls with this in common do the same: SHA-256 of the canonical input, hexadecimal. */
export function inputDigest (input: unknown): string {
  return createHash('sha256').update(canonicalJson(input)).digest('hex')
}

export const approvalKey = (id: string) => `approval/${id}`
/** Beside each open approval, so that listing them reads no others. */
export const openKey = (id: string) => `open-approval/${id}`

/** Told to the model of a denial that the user gave no reason for. */
export const DENIED = 'The user denied this call.'
