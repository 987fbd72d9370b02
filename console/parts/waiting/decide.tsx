import { useState } from 'react'
import type { Approval } from '../../../client/generated/index.ts'
import { useDraft } from '../../lib/draft.ts'
import { say } from '../../lib/say.ts'
import { Failed } from '../failed.tsx'
import { GuardedButton } from './guarded-button.tsx'
import { grantOf, Scopes, type Chosen } from './scopes.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** The reasons that the service keeps are not longer. */
const LONGEST_REASON = 4_000

/** Approve or deny, with a reason; a call of a tool also for later calls. Nothing here is sent by Enter in a field. */
export function Decide ({ approval, decision }: { approval: Approval, decision: DecisionInProgress }) {
  const { approvalId, kind, scopes = [] } = approval
  const [reason, setReason] = useDraft(`reason ${approvalId}`)
  const [chosen, setChosen] = useState<Chosen>({ scope: 'once', end: 'open' })
  const [pressed, setPressed] = useState<'approve' | 'deny'>()

  function decide (approved: boolean) {
    setPressed(approved ? 'approve' : 'deny')
    decision.send({ approved, ...(reason.trim() !== '' && { reason: reason.trim() }), ...(approved && grantOf(chosen)) })
    setReason('')
  }

  return (
    <div className='decide'>
      {scopes.length > 1 && <Scopes scopes={scopes} chosen={chosen} onChoose={setChosen} />}
      {decision.error !== null && <Failed error={decision.error} />}
      <div className='actions'>
        <GuardedButton kind='primary' isBusy={decision.isPending && pressed === 'approve'} onPress={() => decide(true)}>
          {say(chosen.scope === 'once' ? 'approval.approve' : 'approval.approveLater')}
        </GuardedButton>
        <GuardedButton isBusy={decision.isPending && pressed === 'deny'} onPress={() => decide(false)}>
          {say(kind === 'result' ? 'approval.reject' : 'approval.deny')}
        </GuardedButton>
        <textarea
          className='reason'
          rows={1}
          maxLength={LONGEST_REASON}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          aria-label={say('approval.reason')}
          placeholder={say(kind === 'result' ? 'approval.reasonOfResult' : 'approval.reasonOfTool')}
        />
      </div>
    </div>
  )
}
