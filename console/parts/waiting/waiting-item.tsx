import type { ReactNode } from 'react'
import type { Approval, Learned } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { ServiceText } from '../service-text.tsx'
import { Time } from '../time.tsx'
import { VisibleText } from '../visible-text.tsx'
import { Choices } from './choices.tsx'
import { Questions } from './questions.tsx'
import { RequestOwner } from './request-owner.tsx'
import { ServerRequest } from './server-request.tsx'
import { ResultRequest } from './result-request.tsx'
import { ToolQuestion } from './tool-question.tsx'
import { ToolRequest } from './tool-request.tsx'
import { useDecision, type Refusal } from './use-decision.ts'
import './waiting.css'

interface Props {
  approval: Approval
  /** Where the page tells already whose run it is, such as in its chat. */
  withoutOwner?: boolean
  /** Called with the item when the service has accepted the decision of this page. */
  onDecided?: (item: HTMLElement) => void
  /** Called when the service refused the decision for good: the item may be gone before its sentence was read. */
  onRefused?: (refusal: Refusal) => void
  /** Called with what an approved result has taught its task. */
  onLearned?: (learned: Learned) => void
}

/**
 * Something that waits for the user, with all that is needed to decide it: the call of a tool, the result of a run, questions, or a choice
 * about a task. It gets the focus after the decision, so that the focus is not lost with the buttons.
 */
export function WaitingItem ({ approval, withoutOwner, onDecided, onRefused, onLearned }: Props) {
  const { decision, item } = useDecision(approval, { onDecided, onRefused, onLearned })
  const { approvalId, kind, createdAt, expiresAt, note } = approval
  const isOpen = approval.state === 'pending' && !decision.isSuccess
  return (
    <article
      className='waiting-item' ref={item} tabIndex={-1} aria-labelledby={`title-${approvalId}`}
      data-waiting={approvalId} data-open={isOpen || undefined}
    >
      <header className='waiting-head'>
        <h3 id={`title-${approvalId}`}>{titleOf(approval)}</h3>
        <p className='quiet'>
          {!withoutOwner && kind !== 'server' && <><RequestOwner {...approval} />{' · '}</>}
          <Time at={createdAt} />
          {isOpen && expiresAt !== undefined && <>{' · '}{say('approval.until')} <Time at={expiresAt} /></>}
        </p>
      </header>
      {note !== undefined && <p className='note note-warn'><ServiceText text={note} /></p>}
      {kind === 'tool' && <ToolRequest approval={approval} decision={decision} isOpen={isOpen} />}
      {kind === 'result' && <ResultRequest approval={approval} decision={decision} isOpen={isOpen} />}
      {kind === 'server' && <ServerRequest approval={approval} decision={decision} isOpen={isOpen} />}
      {kind === 'task' && <Choices approval={approval} decision={decision} isOpen={isOpen} />}
      {kind === 'question' && <Questions approval={approval} decision={decision} isOpen={isOpen} />}
      {isOpen && decision.asksAgain && <p className='note note-warn'>{say('approval.old')}</p>}
      {!isOpen && <p className='quiet'>{say(`approval.state.${decision.data?.state ?? approval.state}`)}</p>}
    </article>
  )
}

function titleOf ({ kind, toolName, input, live, server = '', about = 'failing' }: Approval): ReactNode {
  if (kind === 'tool') return <ToolQuestion toolName={toolName} input={input} />
  if (kind === 'result') return say('approval.result')
  if (kind === 'server') return <>{say('approval.server')} <VisibleText text={server} limit={200} /></>
  if (kind === 'task') return say(`approval.about.${about}`)
  if (live) return <>{say('approval.liveQuestion')} <VisibleText text={server} limit={200} /></>
  return say('approval.question')
}
