import type { UIMessage } from 'ai'
import { Link } from 'wouter'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { textOf } from './rows.ts'

/** What can be done with an answer. */
export function AnswerEnd ({ message, onRegenerate }: { message: UIMessage, onRegenerate?: () => void }) {
  const { runId, finishReason } = (message.metadata ?? {}) as { runId?: string, finishReason?: string }
  const text = textOf(message)
  return (
    <>
      {finishReason === 'length' && <p className='note note-warn'>{say('chat.cutByLength')}</p>}
      {finishReason === 'content-filter' && <p className='note note-warn'>{say('chat.filtered')}</p>}
      <div className='answer-end'>
        {text !== '' && <CopyButton text={text} />}
        {onRegenerate && <Button kind='quiet' onClick={onRegenerate}>{say('chat.regenerate')}</Button>}
        {runId !== undefined && <Link className='button button-quiet' href={`/runs/${encodeURIComponent(runId)}`}>{say('chat.run')}</Link>}
      </div>
    </>
  )
}
