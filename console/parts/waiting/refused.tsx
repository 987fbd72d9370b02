import { useState, type ReactNode } from 'react'
import type { Approval } from '../../../client/generated/index.ts'
import { Failed } from '../failed.tsx'
import type { Refusal } from './use-decision.ts'

/**
 * Keeps the message of the last refused decision visible after its item has left the list, such as a result that a newer one has
 * superseded. Returns the note, if there is one, and the callback for the items.
 */
export function useRefusals (listed: readonly Approval[]): { note: ReactNode, onRefused: (refusal: Refusal) => void } {
  const [refusal, onRefused] = useState<Refusal>()
  const isGone = refusal !== undefined && listed.every(({ approvalId }) => approvalId !== refusal.approvalId)
  return { note: isGone ? <Failed error={refusal.error} /> : undefined, onRefused }
}
