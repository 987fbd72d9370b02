import type { ToolItem } from '../contracts/approval-record.ts'

/** A call that the user refused. */
export interface Denial {
  toolName: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  reason?: string
}

/** The number of refused calls of a conversation that are kept; older ones are dropped. */
const DENIALS_KEPT = 200

/** Returns the refused calls of a conversation, oldest first, with those of these approvals. */
export const withRefused = (denials: Denial[], refused: ToolItem[]): Denial[] => [
  ...denials,
  ...refused.map(({ toolName, input, digest, reason }) => ({ toolName, input, digest, ...(reason && { reason }) }))
].slice(-DENIALS_KEPT)

/** Whether the user refused the same call (same tool, same input) before. */
export const wasRefused = (denials: Denial[], toolName: string, digest: string): boolean =>
  denials.some((denial) => denial.toolName === toolName && denial.digest === digest)
