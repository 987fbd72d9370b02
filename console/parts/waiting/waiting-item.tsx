import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { Approval, Learned } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { visibleText } from '../../lib/visible-characters.ts'
import { Failed } from '../failed.tsx'
import { Loading } from '../loading.tsx'
import { ServiceText } from '../service-text.tsx'
import { Time } from '../time.tsx'
import { VisibleText } from '../visible-text.tsx'
import { Decide } from './decide.tsx'
import { GuardedButton } from './guarded-button.tsx'
import { ManyBox } from './many-bar.tsx'
import { Questions } from './questions.tsx'
import { RequestOwner } from './request-owner.tsx'
import { ToolQuestion } from './tool-question.tsx'
import { ToolRequest } from './tool-request.tsx'
import { type DecisionInProgress, type Refusal, useDecision } from './use-decision.ts'
import './waiting.css'

interface Props {
  approval: Approval
  /** True if the page already shows the owner, as a chat does. */
  withoutOwner?: boolean
  /** Called with the element of the item when the service has accepted a decision of this page. */
  onDecided?: (item: HTMLElement) => void
  /** Called when the service has refused the decision for good. The item might disappear before its message is read. */
  onRefused?: (refusal: Refusal) => void
  /** Called with the grants that an approved result has taught its task. */
  onLearned?: (learned: Learned) => void
}

/**
 * An item that waits for the user, with everything that is needed to decide it: a tool call, the result of a run, questions, or a choice
 * about a task. The item gets the focus after the decision, because its buttons disappear.
 */
export function WaitingItem ({ approval, withoutOwner, onDecided, onRefused, onLearned }: Props) {
  const { decision, item } = useDecision(approval, { onDecided, onRefused, onLearned })
  const { approvalId, kind, createdAt, expiresAt, note, budget } = approval
  const isOpen = approval.state === 'pending' && !decision.isSuccess
  return (
    <article
      className='waiting-item' ref={item} tabIndex={-1} aria-labelledby={`title-${approvalId}`}
      data-waiting={approvalId} data-open={isOpen || undefined}
    >
      <header className='waiting-head'>
        <div className='waiting-title'>
          <h3 id={`title-${approvalId}`}>{titleOf(approval)}</h3>
          {isOpen && <ManyBox approval={approval} />}
        </div>
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
      {kind === 'question' && budget !== undefined && <BudgetRequest approval={approval} decision={decision} isOpen={isOpen} />}
      {kind === 'question' && budget === undefined && <Questions approval={approval} decision={decision} isOpen={isOpen} />}
      {isOpen && decision.asksAgain && <p className='note note-warn'>{say('approval.old')}</p>}
      {!isOpen && <p className='quiet'>{say(`approval.state.${decision.data?.state ?? approval.state}`)}</p>}
    </article>
  )
}

function titleOf ({ kind, toolName, input, live, server = '', about = 'failing', budget }: Approval): ReactNode {
  if (kind === 'tool') return <ToolQuestion toolName={toolName} input={input} />
  if (kind === 'result') return say('approval.result')
  if (kind === 'server') return <>{say('approval.server')} <VisibleText text={server} limit={200} /></>
  if (kind === 'task') return say(`approval.about.${about}`)
  if (live) return <>{say('approval.liveQuestion')} <VisibleText text={server} limit={200} /></>
  return say(budget === undefined ? 'approval.question' : 'approval.budget')
}

/** The question whether a run is allowed to exceed its budget or the daily budget. */
function BudgetRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  const [question] = approval.questions ?? []
  const [pressed, setPressed] = useState<boolean>()
  const decide = (approved: boolean) => {
    setPressed(approved)
    decision.send({ approved })
  }
  const [more, stop] = question?.options ?? []
  return (
    <div className='decide'>
      <p><ServiceText text={question?.text ?? ''} /></p>
      {decision.error !== null && <Failed error={decision.error} />}
      {isOpen && (
        <div className='actions'>
          <GuardedButton kind='primary' isBusy={decision.isPending && pressed === true} onPress={() => decide(true)}>
            {more?.label}
          </GuardedButton>
          <GuardedButton isBusy={decision.isPending && pressed === false} onPress={() => decide(false)}>{stop?.label}</GuardedButton>
        </div>
      )}
    </div>
  )
}

/** A choice about a task, with a button for each answer. */
function Choices ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
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

/**
 * The tools of a server that claim to be read-only and that the user has not accepted in their present form; no tools while the server asks
 * for variables.
 */
function ServerRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  return (
    <>
      {approval.serverTools?.length !== 0 && (
        <ul className='tool-list' tabIndex={0}>
          {approval.serverTools?.map(({ name, description, state }) => (
            <li key={name}>
              <p><code><VisibleText text={name} limit={200} /></code> <span className='quiet'>{say(`approval.tool.${state}`)}</span></p>
              <p className='quiet'><VisibleText text={description} /></p>
            </li>
          ))}
        </ul>
      )}
      {isOpen && <Decide approval={approval} decision={decision} />}
    </>
  )
}

const Report = lazy(() => import('../markdown/report.tsx'))

/** The result of a task's run, which counts only after the user has approved it. */
function ResultRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  return (
    <>
      <Suspense fallback={<Loading />}>
        <div className='report waiting-report'><Report text={visibleText(approval.output ?? '')} /></div>
      </Suspense>
      {isOpen && <p className='quiet'>{say('approval.resultHelp')}</p>}
      {isOpen && <Decide approval={approval} decision={decision} />}
    </>
  )
}
