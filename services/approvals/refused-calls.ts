import type { ToolItem } from '../contracts/approval-record.ts'

/** A call that the user refused. */
export interface RefusedCall {
  toolName: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  reason?: string
}

/** The number of refused calls of a conversation that are kept; older ones are dropped. */
const REFUSED_KEPT = 200

/** Returns the refused calls of a conversation, oldest first, with those of these approvals. */
export const withRefused = (refusedCalls: RefusedCall[], refused: ToolItem[]): RefusedCall[] => [
  ...refusedCalls,
  ...refused.map(({ toolName, input, digest, reason }) => ({ toolName, input, digest, ...(reason && { reason }) }))
].slice(-REFUSED_KEPT)

/** Whether the user refused the same call (same tool, same input) before. */
export const wasRefused = (refusedCalls: RefusedCall[], toolName: string, digest: string): boolean =>
  refusedCalls.some((call) => call.toolName === toolName && call.digest === digest)
