import { useState } from 'react'
import type { Approval } from '../../../client/generated/index.ts'
import { Failed } from '../failed.tsx'
import { ServiceText } from '../service-text.tsx'
import { GuardedButton } from './guarded-button.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** A choice about a task, with a button for each answer. */
export function Choices ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  const { text = '', choices = [] } = approval
  const [pressed, setPressed] = useState<string>()
  const choose = (choice: string) => {
    setPressed(choice)
    decision.send({ choice })
  }
  return (
    <div className='decide'>
      <p><ServiceText text={text} limit={1_000} /></p>
      {decision.error !== null && <Failed error={decision.error} />}
      {isOpen && (
        <div className='actions'>
          {choices.map(({ value, label }, at) => (
            <GuardedButton
              key={value}
              kind={at === 0 ? 'primary' : undefined}
              isBusy={decision.isPending && pressed === value}
              onPress={() => choose(value)}
            >
              {label}
            </GuardedButton>
          ))}
        </div>
      )}
    </div>
  )
}
