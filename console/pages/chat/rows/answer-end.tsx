import { isToolUIPart, type UIMessage } from 'ai'
import { Activity, FileDiff, RotateCcw } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { FinishEvent } from '../../../../client/generated/index.ts'
import { dollars, hasText, say } from '../../../lib/say.ts'
import { Changes } from '../../../parts/changes/changes.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { modelName } from '../../../parts/models/provider-name.ts'
import { BranchButton } from './branch-button.tsx'
import { CopyCard } from './copy-card.tsx'
import { UndoneNote, useOutcome } from './undone.tsx'
import { runIdOf, textOf } from './rows.ts'

/** The class of buttons with text beside their icon. On a narrow page, some show only the icon. */
const WORDED = 'button button-quiet answer-action'

interface Props {
  threadId: string
  message: UIMessage
  onRegenerate?: () => void
}

/** The buttons below an answer: copy it, regenerate it, branch from it, show and undo its changes. */
export function AnswerEnd ({ threadId, message, onRegenerate }: Props) {
  const [isChangesShown, setIsChangesShown] = useState(false)
  const { finishReason } = (message.metadata ?? {}) as { finishReason?: string }
  const runId = runIdOf(message)
  const text = textOf(message)
  const hasCalls = message.parts.some(isToolUIPart)
  const outcome = useOutcome(hasCalls ? runId : undefined)
  return (
    <>
      {finishReason === 'length' && <p className='note note-warn'>{say('chat.cutByLength')}</p>}
      {finishReason === 'content-filter' && <p className='note note-warn'>{say('chat.filtered')}</p>}
      {outcome?.undone && <UndoneNote {...outcome.undone} />}
      <div className='answer-end'>
        {text !== '' && <CopyButton text={text} />}
        {onRegenerate && (
          <IconButton
            icon={RotateCcw} label={say('chat.regenerate')} words={say('chat.regenerate')} className={`${WORDED} answer-seldom`}
            onClick={onRegenerate}
          />
        )}
        <BranchButton threadId={threadId} messageId={message.id} className={`${WORDED} answer-seldom`} />
        {runId !== undefined && (
          <Link className={WORDED} href={`/runs/${encodeURIComponent(runId)}`}><Activity />{say('chat.run')}</Link>
        )}
        {outcome?.hasChanges && (
          <IconButton
            icon={FileDiff} label={say('chat.changes')} words={say('chat.changes')} className={WORDED} aria-expanded={isChangesShown}
            onClick={() => setIsChangesShown(!isChangesShown)}
          />
        )}
        <AnswerFacts message={message} />
      </div>
      {onRegenerate && runId !== undefined && hasCalls && (
        <CopyCard message={message} runId={runId} onLook={() => setIsChangesShown(true)} />
      )}
      {isChangesShown && runId !== undefined && <InView><Changes runId={runId} isOver /></InView>}
    </>
  )
}

/** Keeps a panel that was just opened in view while it grows, until the user interacts with the page. */
function InView ({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const observer = new ResizeObserver(() => box.current?.scrollIntoView({ block: 'nearest' }))
    const done = new AbortController()
    const stop = () => {
      observer.disconnect()
      done.abort()
    }
    observer.observe(box.current!)
    for (const type of ['pointerdown', 'wheel', 'keydown']) addEventListener(type, stop, { signal: done.signal })
    return stop
  }, [])
  return <div ref={box}>{children}</div>
}

type Metadata = Partial<Pick<FinishEvent, 'usage' | 'answeredBy'>>

/** The model, effort and cost of an answer, as far as its message holds them. A tooltip shows more. */
function AnswerFacts ({ message }: { message: UIMessage }) {
  const { usage, answeredBy } = (message.metadata ?? {}) as Metadata
  const model = answeredBy?.model ?? markOf(message)
  const facts = [
    ...model === undefined ? [] : [modelName(model)],
    ...sayEffort(answeredBy?.effort),
    ...usage?.costUsd ? [dollars.format(usage.costUsd)] : []
  ]
  if (facts.length === 0) return null
  const used = usage && say('chat.used', { input: usage.inputTokens, output: usage.outputTokens })
  const more = [model, used].filter((each) => each !== undefined)
  return (
    <span className='quiet answer-facts' title={more.join(' · ')}>
      {model !== undefined && <span className='visually-hidden'>{say('chat.answeredBy')} </span>}
      {facts.join(' · ')}
    </span>
  )
}

/** Returns the effort as text; nothing for the default effort. */
function sayEffort (effort = ''): string[] {
  const key = `chat.efforts.${effort}`
  return hasText(key) ? [say(key)] : []
}

/** Returns the model of an answer from an earlier version of the service, which named it in the answer's parts. */
function markOf ({ parts }: UIMessage): string | undefined {
  for (const part of parts) {
    const model = part.type === 'reasoning' || part.type === 'text' ? part.providerMetadata?.agent?.model : undefined
    if (typeof model === 'string') return model.replace(/^direct:/, '')
  }
  return undefined
}
