import { getToolName, isToolUIPart, type UIMessage } from 'ai'
import { Activity, FileDiff, RotateCcw } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Changes } from '../../../parts/changes/changes.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { AnswerFacts } from './answer-facts.tsx'
import { runIdOf, textOf } from './rows.ts'

/** Tools whose use is worth words beside the sign that leads to the changes, and to their undo. */
const WRITES = new Set(['writeFile', 'editFile', 'deleteFile', 'moveFile', 'runCommand'])

/** What can be done with an answer: copy it, have another one, see and undo what it changed. */
export function AnswerEnd ({ message, onRegenerate }: { message: UIMessage, onRegenerate?: () => void }) {
  const [isChangesShown, setIsChangesShown] = useState(false)
  const { finishReason } = (message.metadata ?? {}) as { finishReason?: string }
  const runId = runIdOf(message)
  const text = textOf(message)
  const isWriting = message.parts.some((part) => isToolUIPart(part) && part.state === 'output-available' && WRITES.has(getToolName(part)))
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
