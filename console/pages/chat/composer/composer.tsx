import type { FileUIPart } from 'ai'
import { ArrowUp, SlidersHorizontal, Square } from 'lucide-react'
import { useEffect, useRef, useState, type ClipboardEvent, type FormEvent, type KeyboardEvent, type RefObject } from 'react'
import { AgentError } from '../../../../client/errors.ts'
import { useDraft } from '../../../lib/draft.ts'
import { newId } from '../../../lib/new-id.ts'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import type { Conversation } from '../thread/use-conversation.ts'
import { filesOf } from '../thread/use-sent.ts'
import { AttachButton, AttachedFiles } from './attached-files.tsx'
import { ModelFields } from './model-fields.tsx'
import { RehearseButton } from './rehearse-button.tsx'
import { useAttached } from './use-attached.ts'
import type { ModelChoice } from './use-model-choice.ts'

/** The longest message to a run that is under way. */
const LONGEST_STEERING = 20_000

/** The run has ended before the service had the message. */
const isLate = (error: unknown) => error instanceof AgentError && error.code === 'ERR_NO_LIVE_RUN'

/** Keys that scroll the messages from a text that does not scroll itself, and how far. */
const VIEWS: Record<string, number> = { PageUp: -0.9, PageDown: 0.9 }

interface Props {
  /** Names what is typed, which survives a reload. */
  draftOf: string
  /** The message that is edited. */
  initial?: string
  initialFiles?: FileUIPart[]
  conversation: Conversation
  /** The run waits for an approval: what the user says meanwhile is for that run. */
  isHeld: boolean
  choice: ModelChoice
  chatId: string
  /** Words that the user has chosen to begin with. */
  suggested?: { text: string }
  field: RefObject<HTMLTextAreaElement>
  /** `isInPlace`: in place of what the last run has not read. */
  onSend: (text: string, files: FileUIPart[], isInPlace?: boolean) => void
  /** Scrolls the messages by a part of their view: 1 for all of it, down; negative up. */
  onScroll: (views: number) => void
  /** Leaves the editing. */
  onCancel?: () => void
}

/** Where the user writes: a message, or while the agent works, what it is to know at its next step. */
export function Composer (props: Props) {
  const { draftOf, initial = '', initialFiles, conversation, isHeld, choice, chatId, field, suggested, onSend, onScroll, onCancel } = props
  const [draft, setDraft] = useDraft(`chat ${draftOf}`)
  const [text, setText] = useState(draft === '' ? initial : draft)
  const attached = useAttached(filesOf(`chat ${draftOf}`), initialFiles)
  const { files, sending, isSending } = attached
  /** The message is sent when its files are. */
  const [isQueued, setIsQueued] = useState(false)
  const { isBusy, stopping, steering, returned, unread } = conversation
  const isUnderWay = isBusy || isHeld
  /** The unread words that were put into the field, by their key: what is made of them takes their place. */
  const [offered, setOffered] = useDraft(`offered ${draftOf}`)
  const lastUnread = useRef(unread)
  /** What came too late for the run, and is sent when it has ended. */
  const [late, setLate] = useState<string>()
  const [areChoicesOpen, setAreChoicesOpen] = useState(false)
  const announce = useAnnounce()
  useEffect(() => field.current?.focus({ preventScroll: true }), [field])

  const type = (next: string) => {
    setText(next)
    setDraft(next)
  }
  useEffect(() => {
    if (returned === undefined || returned.isEdit) return
    const typed = text.trim() === '' ? '' : `\n\n${text}`
    type(returned.text + typed)
    attached.restore(returned.files)
  }, [returned])
  useEffect(() => {
    if (suggested === undefined) return
    type(suggested.text)
    field.current?.focus()
  }, [suggested])
  useEffect(() => {
    const { current: before } = lastUnread
    lastUnread.current = unread
    if (onCancel !== undefined || returned !== undefined) return
    if (unread !== undefined && text.trim() === '') {
      type(unread.text)
      setOffered(unread.key)
    } else if (unread === undefined && before !== undefined && offered === before.key && text === before.text) {
      // A run that goes on has read them.
      type('')
    }
  }, [unread?.key])
  useEffect(() => {
    if (late === undefined || isBusy) return
    setLate(undefined)
    setText('')
    attached.clear()
    onSend(late, files)
  }, [late, isBusy])
  useEffect(() => {
    if (!isQueued || isSending) return
    setIsQueued(false)
    if (sending.length === 0) submit()
  }, [isQueued, isSending])
  function submit (event?: FormEvent) {
    event?.preventDefault()
    if (isSending && !isUnderWay) return setIsQueued(true)
    const isEmpty = text.trim() === '' && (isUnderWay || files.length === 0)
    if (isEmpty || steering.isPending || late !== undefined) return
    if (!isUnderWay) {
      // The drafts are forgotten when the service has the message.
      setText('')
      attached.clear()
      steering.reset()
      return onSend(text, files, unread !== undefined && offered === unread.key)
    }
    steering.mutate({ message: text.slice(0, LONGEST_STEERING), messageId: newId() }, {
      onSuccess () {
        type('')
        announce(say('chat.steered'))
      },
      onError (error) {
        if (!isLate(error)) return
        setLate(text)
        steering.reset()
      }
    })
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Escape' && onCancel !== undefined) return onCancel()
    const views = VIEWS[event.key]
    const { scrollHeight, clientHeight } = event.currentTarget
    if (views !== undefined && !event.shiftKey && scrollHeight <= clientHeight) {
      event.preventDefault()
      return onScroll(views)
    }
    if (event.key !== 'Enter' || event.shiftKey || event.repeat || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  const onPaste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    const { files: pasted } = event.clipboardData
    if (pasted.length === 0) return
    event.preventDefault()
    attached.add(pasted)
  }
  const failure = steering.error ?? stopping.error ?? choice.error
  return (
    <form className='composer' onSubmit={submit}>
      {failure !== null && <Failed error={failure} />}
      {steering.isSuccess && isUnderWay && <p className='quiet' role='status'>{say('chat.steered')}</p>}
      {unread !== undefined && text === unread.text && <p className='note' role='status'>{say('chat.unread')}</p>}
      {returned !== undefined && <p className='note note-warn' role='alert'>{say('chat.returned')}</p>}
      {onCancel !== undefined && <p className='quiet'>{say('chat.editing')}</p>}
      <AttachedFiles attached={attached} />
      {isUnderWay && files.length > 0 && <p className='quiet'>{say('chat.attachLater')}</p>}
      <div className='composer-box'>
        <label>
          <span className='visually-hidden'>{say('chat.message')}</span>
          <textarea
            ref={field} rows={1} value={text} placeholder={say(isUnderWay ? 'chat.steerHint' : 'chat.hint')}
            onChange={(event) => type(event.target.value)} onKeyDown={onKeyDown} onPaste={onPaste}
          />
        </label>
        <div className='composer-actions'>
          <AttachButton add={attached.add} />
          <IconButton
            icon={SlidersHorizontal} label={say('chat.choices')} className='button button-quiet button-icon composer-more'
            aria-expanded={areChoicesOpen} onClick={() => setAreChoicesOpen(!areChoicesOpen)}
          />
          <div className='composer-choices' data-open={areChoicesOpen || undefined}><ModelFields choice={choice} /></div>
          <span className='composer-space' />
          {!isUnderWay && onCancel === undefined && <RehearseButton chatId={chatId} text={text} choice={choice} />}
          {onCancel !== undefined && <Button onClick={onCancel}>{say('app.cancel')}</Button>}
          {isUnderWay && (
            <IconButton
              icon={Square} kind='normal' label={say('chat.stop')} className='button button-normal button-icon composer-stop'
              isBusy={stopping.isPending} onClick={() => stopping.mutate()}
            />
          )}
          {isQueued && <span className='quiet'>{say('chat.attachWait')}</span>}
          <IconButton
            icon={ArrowUp} type='submit' className='button button-primary button-icon composer-send' isBusy={steering.isPending || isQueued}
            label={say(isQueued ? 'chat.attachWait' : isUnderWay ? 'chat.steer' : 'chat.send')}
          />
        </div>
      </div>
    </form>
  )
}
