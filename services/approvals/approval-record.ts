import { createHash } from 'node:crypto'
import type { ApprovalView } from '../../schemas/agent.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import type { WorkFolder } from '../tools/work-folder.ts'

/**
 * A tool call that needs, or needed, an approval. States: `pending → approved | denied`, `approved → executing → done | unknown`;
 * or `expired`; or `withdrawn`, if a new message superseded the run or a new request replaced an approved one.
 */
export interface Approval extends ApprovalView {
  /** The segment of the run that requested the approval. The continuation after the decision is the next segment. */
  segment: number
  /** The identity of the tool at the request, for tools that may change under the same name. */
  identity?: string
  /** The identity of the folder `cwd` at the request. Requests of earlier versions lack it and are bound to the path alone. */
  folder?: Omit<WorkFolder, 'path'>
  /** The id of the new request that replaced this one after its approval, because the folder had changed; the call did not run. */
  replacedBy?: string
  /** The decision; the first decision is kept. */
  approved?: boolean
}

/** The time in which a request can be answered, milliseconds. */
export const APPROVAL_TTL_MS = 24 * 60 * 60 * 1000

/** Returns the SHA-256 of the canonical input, hexadecimal. Two calls of a tool with the same digest are the same call. */
export function inputDigest (input: unknown): string {
  return createHash('sha256').update(canonicalJson(input)).digest('hex')
}

/** The reason that models get for a denial without a reason of the user. */
export const DENIED = 'The user denied this call.'
