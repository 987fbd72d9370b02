import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import {
  decideApproval,
  type Approval,
  type ApprovalDecision,
  type DecidedApproval,
  type Learned
} from '../../../client/generated/index.ts'
import { AgentError } from '../../../client/errors.ts'
import { forgetDraft } from '../../lib/draft.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../announcer.tsx'

/** An item that has waited longer than this, in milliseconds, needs a second press to be decided. */
const OLD_MS = 24 * 60 * 60 * 1000

export const isOld = ({ createdAt }: Pick<Approval, 'createdAt'>): boolean => Date.now() - createdAt >= OLD_MS

/** A decision that the service refused. Its item might no longer exist. */
export interface Refusal {
  approvalId: string
  error: Error
}

/** The state of a decision, for the form of the approval. */
export interface DecisionInProgress {
  /** Sends the decision. For an old item, the first call only asks to confirm. */
  send: (decision: ApprovalDecision) => void
  /** True if an old item must be confirmed by a second press. */
  asksAgain: boolean
  isPending: boolean
  isSuccess: boolean
  error: unknown
  data?: DecidedApproval
}

/** Sends the decision of an approval, announces it, and moves the focus to the item, because the buttons disappear. */
export function useDecision (
  approval: Approval,
  { onDecided, onRefused, onLearned }: {
    onDecided?: (item: HTMLElement) => void,
    onRefused?: (refusal: Refusal) => void,
    onLearned?: (learned: Learned) => void
  }
) {
  const { approvalId } = approval
  const [asksAgain, setAsksAgain] = useState(false)
  const item = useRef<HTMLElement>(null)
  const queries = useQueryClient()
  const announce = useAnnounce()
  const { mutate, isPending, isSuccess, error, data } = useMutation({
    mutationFn: (decision: ApprovalDecision) => decideApproval({ ...asked(), path: { id: approvalId }, body: decision }).then(body),
    onSuccess ({ state, learned }) {
      for (const typed of ['reason', 'answers']) forgetDraft(`${typed} ${approvalId}`)
      if (learned !== undefined) onLearned?.(learned)
      if (item.current?.contains(document.activeElement)) item.current.focus({ preventScroll: true })
      announce(say(`approval.state.${state}`))
      if (item.current !== null) onDecided?.(item.current)
    },
    onError (thrown) {
      // The item was decided elsewhere or has expired; the updated list shows it.
      if (thrown instanceof AgentError && [404, 409, 410].includes(thrown.statusCode ?? 0)) {
        onRefused?.({ approvalId, error: thrown })
        void queries.invalidateQueries({ queryKey: keys.approvals() })
      }
    }
  })
  function send (decision: ApprovalDecision): void {
    const isAgain = asksAgain || !isOld(approval)
    setAsksAgain(!isAgain)
    if (isAgain) mutate(decision)
    else announce(say('approval.old'))
  }
  const decision: DecisionInProgress = { send, asksAgain, isPending, isSuccess, error, data }
  return { decision, item }
}
