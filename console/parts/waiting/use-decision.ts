import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { decideApproval, type Approval, type ApprovalDecision, type DecidedApproval } from '../../../client/generated/index.ts'
import { AgentError } from '../../../client/errors.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../announcer.tsx'

/** The decision of an approval, as its form needs it. */
export interface DecisionInProgress {
  send: (decision: ApprovalDecision) => void
  isPending: boolean
  isSuccess: boolean
  error: unknown
  data?: DecidedApproval
}

/** Sends the decision of an approval, has it read aloud, and moves the focus from the buttons, which go, to the item. */
export function useDecision ({ approvalId }: Approval, onDecided?: (item: HTMLElement) => void) {
  const item = useRef<HTMLElement>(null)
  const queries = useQueryClient()
  const announce = useAnnounce()
  const { mutate, isPending, isSuccess, error, data } = useMutation({
    mutationFn: (decision: ApprovalDecision) => decideApproval({ ...asked(), path: { id: approvalId }, body: decision }).then(body),
    onSuccess ({ state }) {
      if (item.current?.contains(document.activeElement)) item.current.focus({ preventScroll: true })
      announce(say(`approval.state.${state}`))
      if (item.current !== null) onDecided?.(item.current)
    },
    onError (thrown) {
      // Somebody else decided it, or its time is over: the list tells.
      if (thrown instanceof AgentError && [404, 409, 410].includes(thrown.statusCode ?? 0)) {
        void queries.invalidateQueries({ queryKey: keys.approvals() })
      }
    }
  })
  const decision: DecisionInProgress = { send: mutate, isPending, isSuccess, error, data }
  return { decision, item }
}
