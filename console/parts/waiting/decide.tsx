import { useState } from 'react'
import type { Approval } from '../../../client/generated/index.ts'
import { useDraft } from '../../lib/draft.ts'
import { say, type TextKey } from '../../lib/say.ts'
import { Failed } from '../failed.tsx'
import { GuardedButton } from './guarded-button.tsx'
import { Teaches } from './lessons.tsx'
import { grantOf, isOfCall, Scopes, type Chosen } from './scopes.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** The longest reason that the service accepts, in characters. */
const LONGEST_REASON = 4_000

/** Labels of the buttons for items other than tool calls. */
const WORDS: Partial<Record<Approval['kind'], TextKey>> = { result: 'approval.approve', server: 'approval.accept' }
const REFUSALS: Partial<Record<Approval['kind'], TextKey>> = { result: 'approval.reject', server: 'approval.dontAccept' }

interface Props {
  approval: Approval
  decision: DecisionInProgress
  /** The digest of the preview that the user sees. */
  previewDigest?: string
}

/**
 * Buttons to approve or deny, with a reason; for a tool call, also with a scope for later calls. Enter in a field does not send the form.
 */
export function Decide ({ approval, decision, previewDigest }: Props) {
  const { approvalId, kind, scopes = [], teaches = [], unboundOffered } = approval
  const [reason, setReason] = useDraft(`reason ${approvalId}`)
  const [chosen, setChosen] = useState<Chosen>({ scope: 'usual', end: 'open' })
  const once = chosen.scope === 'usual' && teaches.length > 0 ? 'approval.allow' : 'approval.allowOnce'
  const [pressed, setPressed] = useState<'approve' | 'deny' | 'unbound'>()

  function decide (approved: boolean, unbound = false) {
    setPressed(unbound ? 'unbound' : approved ? 'approve' : 'deny')
    const bound = unbound ? { unbound } : previewDigest !== undefined && { previewDigest }
    const given = reason.trim()
    decision.send({ approved, ...(given !== '' && { reason: given }), ...(approved && { ...bound, ...grantOf(chosen) }) })
  }

  return (
    <div className='decide'>
      {(scopes.length > 1 || teaches.length > 0) && scopes.length > 0 && (
        <Scopes scopes={scopes} isTeaching={teaches.length > 0} chosen={chosen} onChoose={setChosen} />
      )}
      {chosen.scope === 'usual' && <Teaches {...approval} />}
      {decision.error !== null && <Failed error={decision.error} />}
      <div className='actions'>
        <GuardedButton kind='primary' isBusy={decision.isPending && pressed === 'approve'} onPress={() => decide(true)}>
          {say(WORDS[kind] ?? (isOfCall(chosen) ? once : 'approval.allowLater'))}
        </GuardedButton>
        {unboundOffered && (
          <GuardedButton isBusy={decision.isPending && pressed === 'unbound'} onPress={() => decide(true, true)}>
            {say('approval.unbound')}
          </GuardedButton>
        )}
        <GuardedButton isBusy={decision.isPending && pressed === 'deny'} onPress={() => decide(false)}>
          {say(REFUSALS[kind] ?? 'approval.deny')}
        </GuardedButton>
        <textarea
          className='reason'
          rows={1}
          maxLength={LONGEST_REASON}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          aria-label={say(kind === 'result' ? 'approval.feedback' : 'approval.reason')}
          placeholder={say(kind === 'result' ? 'approval.reasonOfResult' : 'approval.reasonOfTool')}
        />
      </div>
    </div>
  )
}
