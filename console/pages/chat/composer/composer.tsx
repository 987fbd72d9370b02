import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from 'react'
import { useDraft } from '../../../lib/draft.ts'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import type { Conversation } from '../thread/use-conversation.ts'
import { ModelFields } from './model-fields.tsx'
import type { ModelChoice } from './use-model-choice.ts'

/** The longest message to a run that is under way. */
const LONGEST_STEERING = 20_000

interface Props {
  /** Names what is typed, which survives a reload. */
  draftOf: string
  /** The message that is edited. */
  initial?: string
  conversation: Conversation
  choice: ModelChoice
  onSend: (text: string) => void
  /** Leaves the editing. */
  onCancel?: () => void
}

/** Where the user writes: a message, or while the agent works, what it is to know at its next step. */
export function Composer ({ draftOf, initial = '', conversation, choice, onSend, onCancel }: Props) {
  const [draft, setDraft] = useDraft(`chat ${draftOf}`)
  const [text, setText] = useState(draft === '' ? initial : draft)
  const { isBusy, stopping, steering } = conversation
  const field = useRef<HTMLTextAreaElement>(null)
  const announce = useAnnounce()
  useEffect(() => field.current?.focus({ preventScroll: true }), [])

  const type = (next: string) => {
    setText(next)
    setDraft(next)
  }
  function submit (event?: FormEvent) {
    event?.preventDefault()
    if (text.trim() === '' || steering.isPending) return
    if (!isBusy) {
      type('')
      return onSend(text)
    }
    steering.mutate(text.slice(0, LONGEST_STEERING), {
      onSuccess () {
        type('')
        announce(say('chat.steered'))
      }
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && onCancel !== undefined) return onCancel()
    if (event.key !== 'Enter' || event.shiftKey || event.repeat || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  const failure = steering.error ?? stopping.error
  return (
    <form className='composer' onSubmit={submit}>
      {failure !== null && <Failed error={failure} />}
      {steering.isSuccess && isBusy && <p className='quiet' role='status'>{say('chat.steered')}</p>}
      {onCancel !== undefined && <p className='quiet'>{say('chat.editing')}</p>}
      <label>
        <span className='visually-hidden'>{say('chat.message')}</span>
        <textarea
          ref={field} rows={2} value={text} placeholder={say(isBusy ? 'chat.steerHint' : 'chat.hint')}
          onChange={(event) => type(event.target.value)} onKeyDown={onKeyDown}
        />
      </label>
      <div className='composer-actions'>
        <ModelFields choice={choice} />
        <span className='composer-space' />
        {onCancel !== undefined && <Button onClick={onCancel}>{say('app.cancel')}</Button>}
        {isBusy && <Button isBusy={stopping.isPending} onClick={() => stopping.mutate()}>{say('chat.stop')}</Button>}
        <Button type='submit' kind='primary' isBusy={steering.isPending}>{say(isBusy ? 'chat.steer' : 'chat.send')}</Button>
      </div>
    </form>
  )
}
