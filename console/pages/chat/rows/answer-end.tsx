import { isToolUIPart, type UIMessage } from 'ai'
import { Activity, FileDiff, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { say } from '../../../lib/say.ts'
import { Changes } from '../../../parts/changes/changes.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { AnswerFacts } from './answer-facts.tsx'
import { runIdOf, textOf } from './rows.ts'

/** What can be done with an answer: copy it, have another one, see and undo what it changed. */
export function AnswerEnd ({ message, onRegenerate }: { message: UIMessage, onRegenerate?: () => void }) {
  const [isChangesShown, setIsChangesShown] = useState(false)
  const { finishReason } = (message.metadata ?? {}) as { finishReason?: string }
  const runId = runIdOf(message)
  const text = textOf(message)
  return (
    <>
      {finishReason === 'length' && <p className='note note-warn'>{say('chat.cutByLength')}</p>}
      {finishReason === 'content-filter' && <p className='note note-warn'>{say('chat.filtered')}</p>}
      <div className='answer-end'>
        {text !== '' && <CopyButton text={text} />}
        {onRegenerate && <IconButton icon={RotateCcw} label={say('chat.regenerate')} onClick={onRegenerate} />}
        {runId !== undefined && message.parts.some(isToolUIPart) && (
          <IconButton
            icon={FileDiff} label={say('chat.changes')} aria-expanded={isChangesShown}
            onClick={() => setIsChangesShown(!isChangesShown)}
          />
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
      {isChangesShown && runId !== undefined && <Changes runId={runId} isOver />}
    </>
  )
}
