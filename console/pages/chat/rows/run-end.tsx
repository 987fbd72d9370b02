import { useQuery } from '@tanstack/react-query'
import type { UIMessage } from 'ai'
import { useEffect, useState } from 'react'
import { isCut } from '../../../../client/errors.ts'
import { listRuns } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { sayDuration } from '../../../lib/time.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { ServiceText } from '../../../parts/service-text.tsx'
import { splitUnread } from '../thread/unread-words.ts'
import type { Conversation } from '../thread/use-conversation.ts'
import { SaidRow } from './said-row.tsx'

interface Props {
  id: string
  conversation: Conversation
  isWaiting: boolean
  onRegenerate?: () => void
  /** Puts a text into the message field. */
  onSuggest: (text: string) => void
}

/** The end of a conversation: the activity of the agent, the reason why a run stopped, or suggestions for the first message. */
export function RunEnd ({ id, conversation, isWaiting, onRegenerate, onSuggest }: Props) {
  const { messages, isBusy, isStreaming, error, told, returned, isUnsure, reread, goOn } = conversation
  const { data } = useQuery({
    queryKey: [...keys.runs(), 'newest of', id],
    queryFn: () => listRuns({ ...asked(), query: { threadId: id, limit: 1 } }).then(body)
  })
  const run = data?.runs[0]
  const goesOn = <Button onClick={goOn}>{say('chat.goOn')}</Button>
  const notices = told.notices.map((text) => <p key={text} className='row note note-warn' role='status'><ServiceText text={text} /></p>)
  if (isBusy) {
    const { silentMs } = told
    const seconds = silentMs !== undefined && Math.round(silentMs / 1000)
    return (
      <>
        {notices}
        {told.waiting.map(({ id, text, state }) => <div key={id} className='row row-said'><SaidRow text={text} state={state} /></div>)}
        <p className='quiet row working' aria-live='off'>
          {seconds
            ? say('chat.silent', { seconds })
            : isStreaming ? <Working since={run?.status === 'running' ? run.startedAt : undefined} /> : say('chat.sending')}
        </p>
      </>
    )
  }
  if (error !== undefined) {
    return (
      <div className='row'>
        {isCut(error)
          ? (
            <div className='note note-warn' role='alert'>
              <p>{say(isUnsure ? 'chat.unsure' : 'chat.cut')}</p>
              <Button onClick={reread}>{say('app.retry')}</Button>
            </div>
            )
          : <Failed error={error} onRetry={returned === undefined ? onRegenerate : undefined} />}
        {returned === undefined && run?.status === 'failed' && goesOn}
      </div>
    )
  }
  if (messages.length === 0) return <Beginning onSuggest={onSuggest} />
  if (run === undefined || isWaiting) return notices
  if (run.status === 'failed') {
    return <div className='row'><Failed error={new Error(run.error)} onRetry={onRegenerate} />{goesOn}</div>
  }
  const isShort = run.stopped !== undefined && run.status === 'completed'
  if (!isShort && run.status !== 'interrupted' && run.status !== 'cancelled' && run.status !== 'stopped') return notices
  return (
    <div className='row'>
      <div className='note note-warn'>
        <p>
          {isShort && run.stopped !== undefined
            ? <ServiceText text={run.stopped.text} />
            : say(run.status === 'interrupted' ? 'chat.interrupted' : 'chat.stopped')}
        </p>
        {goesOn}
        {onRegenerate && !hasContent(messages) && <Button onClick={onRegenerate}>{say('chat.regenerate')}</Button>}
      </div>
    </div>
  )
}

/** Whether the newest message shows part of an answer. The end of an answer then offers to regenerate it. */
function hasContent (messages: UIMessage[]): boolean {
  const message = splitUnread(messages).before.at(-1)
  return message?.role === 'assistant' && message.parts.some(({ type }) => type !== 'step-start' && type !== 'data-stopped')
}

const SUGGESTIONS = ['folder', 'write', 'command', 'task'] as const

/** The beginning of an empty conversation: suggestions that go into the message field. */
function Beginning ({ onSuggest }: { onSuggest: (text: string) => void }) {
  return (
    <div className='row chat-empty'>
      <h2>{say('chat.welcome')}</h2>
      <p className='quiet'>{say('chat.empty')}</p>
      <div className='suggestions'>
        {SUGGESTIONS.map((name) => (
          <Button key={name} onClick={() => onSuggest(say(`chat.suggestions.${name}`))}>{say(`chat.suggestions.${name}`)}</Button>
        ))}
      </div>
    </div>
  )
}

const SECOND = 1_000

/** Shows that the agent works, and for how long. `since` is the time when it began, if known. Milliseconds since the Unix epoch. */
function Working ({ since }: { since?: number }) {
  const [shown] = useState(Date.now)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND)
    return () => clearInterval(timer)
  }, [])
  const ms = now - Math.min(since ?? shown, shown)
  return <>{ms < SECOND ? say('chat.working') : say('chat.workingFor', { time: sayDuration(Math.floor(ms / SECOND) * SECOND) })}</>
}
