import { getToolName, isToolUIPart, type UIMessage } from 'ai'
import { Activity, FileDiff, RotateCcw } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { FinishEvent } from '../../../../client/generated/index.ts'
import facts from '../../../lib/tool-facts.json'
import { dollars, hasText, say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Changes } from '../../../parts/changes/changes.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { modelName } from '../../../parts/models/provider-name.ts'
import { runIdOf, textOf } from './rows.ts'

/** Tools whose use is worth words beside the sign that leads to the changes, and to their undo. */
const CHANGING = new Set(facts.changing)

/** What can be done with an answer: copy it, have another one, see and undo what it changed. */
export function AnswerEnd ({ message, onRegenerate }: { message: UIMessage, onRegenerate?: () => void }) {
  const [isChangesShown, setIsChangesShown] = useState(false)
  const { finishReason } = (message.metadata ?? {}) as { finishReason?: string }
  const runId = runIdOf(message)
  const text = textOf(message)
  const isWriting = message.parts.some((part) => isToolUIPart(part) && part.state === 'output-available' && CHANGING.has(getToolName(part)))
  return (
    <>
      {finishReason === 'length' && <p className='note note-warn'>{say('chat.cutByLength')}</p>}
      {finishReason === 'content-filter' && <p className='note note-warn'>{say('chat.filtered')}</p>}
      <div className='answer-end'>
        {text !== '' && <CopyButton text={text} />}
        {onRegenerate && <IconButton icon={RotateCcw} label={say('chat.regenerate')} onClick={onRegenerate} />}
        {runId !== undefined && message.parts.some(isToolUIPart) && (
          <Button
            kind='quiet' className={`button button-quiet ${isWriting ? 'answer-changes' : 'button-icon'}`} aria-expanded={isChangesShown}
            aria-label={say('chat.changes')} title={say('chat.changes')} onClick={() => setIsChangesShown(!isChangesShown)}
          >
            <FileDiff />{isWriting && say('chat.changes')}
          </Button>
        )}
        {runId !== undefined && (
          <Link
            className='button button-quiet button-icon' href={`/runs/${encodeURIComponent(runId)}`} aria-label={say('chat.run')}
            title={say('chat.run')}
          >
            <Activity />
          </Link>
        )}
        <AnswerFacts message={message} />
      </div>
      {isChangesShown && runId !== undefined && <InView><Changes runId={runId} isOver /></InView>}
    </>
  )
}

/** Keeps what was just opened in view while it grows, until the user does something else. */
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

/** The model and the effort of an answer and what it cost, as far as its message tells; more when the pointer rests on it. */
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

/** Returns the effort in words, if it is not the usual one. */
function sayEffort (effort = ''): string[] {
  const key = `chat.efforts.${effort}`
  return hasText(key) ? [say(key)] : []
}

/** The parts of an answer of an earlier version name the model that made them. */
function markOf ({ parts }: UIMessage): string | undefined {
  for (const part of parts) {
    const model = part.type === 'reasoning' || part.type === 'text' ? part.providerMetadata?.agent?.model : undefined
    if (typeof model === 'string') return model.replace(/^direct:/, '')
  }
  return undefined
}
