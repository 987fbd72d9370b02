import { isToolUIPart, type UIMessage } from 'ai'
import { useState } from 'react'
import { Link } from 'wouter'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Changes } from '../../../parts/changes/changes.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
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
        {onRegenerate && <Button kind='quiet' onClick={onRegenerate}>{say('chat.regenerate')}</Button>}
        {runId !== undefined && message.parts.some(isToolUIPart) && (
          <Button kind='quiet' aria-expanded={isChangesShown} onClick={() => setIsChangesShown(!isChangesShown)}>
            {say('chat.changes')}
          </Button>
        )}
        {runId !== undefined && <Link className='button button-quiet' href={`/runs/${encodeURIComponent(runId)}`}>{say('chat.run')}</Link>}
      </div>
      {isChangesShown && runId !== undefined && <Changes runId={runId} isOver />}
    </>
  )
}
