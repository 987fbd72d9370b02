import { useState } from 'react'
import type { Answers, Approval } from '../../../client/generated/index.ts'
import { useDraft } from '../../lib/draft.ts'
import { say } from '../../lib/say.ts'
import { Failed } from '../failed.tsx'
import { GuardedButton } from './guarded-button.tsx'
import { QuestionField } from './question-field.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** The questions of the agent or of a tool server. The answers survive a reload until they are sent. */
export function Questions ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  const { approvalId, questions = [], live, url } = approval
  const [draft, setDraft] = useDraft(`answers ${approvalId}`)
  const [pressed, setPressed] = useState<'answer' | 'decline'>()
  const answers: Answers = draft === '' ? {} : JSON.parse(draft) as Answers
  const missing = questions.filter(({ id, required }) => required && isEmpty(answers[id]))

  function change (id: string, answer: string | string[]) {
    const { [id]: _, ...rest } = answers
    setDraft(JSON.stringify(isEmpty(answer) ? rest : { ...rest, [id]: answer }))
  }
  const answer = () => {
    setPressed('answer')
    if (missing.length === 0) decision.send({ answers })
  }
  const decline = () => {
    setPressed('decline')
    decision.send({ approved: false })
  }

  return (
    <div className='decide'>
      {live && <p className='quiet'>{say('approval.live')}</p>}
      {questions.map((question) => (
        <QuestionField
          key={question.id}
          question={question}
          answer={answers[question.id]}
          isMissing={pressed === 'answer' && missing.includes(question)}
          isOpen={isOpen}
          onChange={(given) => change(question.id, given)}
        />
      ))}
      {url !== undefined && isOpen && <Address url={url} />}
      {decision.error !== null && <Failed error={decision.error} />}
      {isOpen && (
        <div className='actions'>
          <GuardedButton kind='primary' isBusy={decision.isPending && pressed === 'answer'} onPress={answer}>
            {say('approval.answer')}
          </GuardedButton>
          <GuardedButton isBusy={decision.isPending && pressed === 'decline'} onPress={decline}>{say('approval.decline')}</GuardedButton>
        </div>
      )}
    </div>
  )
}

/** The address that a tool server asks the user to open. Only the user opens it, and no referrer is sent. */
function Address ({ url }: { url: string }) {
  const { protocol, host } = URL.parse(url) ?? {}
  if (host === undefined || (protocol !== 'https:' && protocol !== 'http:')) return null
  return <p><a href={url} target='_blank' rel='noopener noreferrer'>{say('approval.openAddress', { host })}</a></p>
}

const isEmpty = (answer: string | string[] | undefined) => answer === undefined || answer.length === 0
