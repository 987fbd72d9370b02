import type { FileUIPart } from 'ai'
import { ArrowUp, SlidersHorizontal, Square, SquareSlash } from 'lucide-react'
import { useEffect, useRef, useState, type ClipboardEvent, type FormEvent, type KeyboardEvent, type RefObject } from 'react'
import { AgentError, isCut } from '../../../../client/errors.ts'
import type { Prompt } from '../../../../client/generated/index.ts'
import { useDraft } from '../../../lib/draft.ts'
import { newId } from '../../../lib/new-id.ts'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import type { Conversation } from '../thread/use-conversation.ts'
import type { Chosen, Sending } from '../thread/chosen.ts'
import { chosenFor, filesOf } from '../thread/use-sent.ts'
import { AttachButton, AttachedFiles } from './attached-files.tsx'
import { ChoiceList } from './choice-list.tsx'
import { ChosenChips } from './chosen-chips.tsx'
import { ModelFields } from './model-fields.tsx'
import { PromptDialog } from './prompt-dialog.tsx'
import { TryFirst, useWay } from './try-first.tsx'
import { useAttached } from './use-attached.ts'
import { useChoiceMenu } from './use-choice-menu.ts'
import { useChosen } from './use-chosen.ts'
import type { ModelChoice } from './use-model-choice.ts'

/** The longest steering message, in characters. */
const LONGEST_STEERING = 20_000

/** Returns true if the run ended before the service received the message. */
const isLate = (error: unknown) => error instanceof AgentError && error.code === 'ERR_NO_LIVE_RUN'

/** Keys that scroll the message list from the field, with the distance in heights of the view. */
const VIEWS: Record<string, number> = { PageUp: -0.9, PageDown: 0.9 }

interface Props {
  /** The name of the draft, which survives a reload. */
  draftOf: string
  /** The text of the message that is edited. */
  initial?: string
  initialFiles?: FileUIPart[]
  initialChosen?: Chosen[]
  conversation: Conversation
  /** True if the run waits for an approval. Messages are then sent to that run. */
  isHeld: boolean
  choice: ModelChoice
  chatId: string
  /** Text that the user has chosen as a beginning. */
  suggested?: { text: string }
  field: RefObject<HTMLTextAreaElement>
  onSend: (text: string, sending: Sending) => void
  /** Scrolls the message list by a number of view heights; negative values scroll up. */
  onScroll: (views: number) => void
  /** Cancels the editing. */
  onCancel?: () => void
  /** Edits the last message. Undefined if that is not possible. */
  onEditLast?: () => void
}

/** The field and buttons for a message. While the agent works, the message is sent to the run, which reads it at its next step. */
export function Composer (props: Props) {
  const { draftOf, initial = '', initialFiles, initialChosen, conversation, isHeld, choice, chatId, field } = props
  const { suggested, onSend, onScroll, onCancel, onEditLast } = props
  const [draft, setDraft] = useDraft(`chat ${draftOf}`)
  const [text, setText] = useState(draft === '' ? initial : draft)
  const attached = useAttached(filesOf(`chat ${draftOf}`), initialFiles)
  const { files, sending, isSending } = attached
  const choices = useChosen(chosenFor(`chat ${draftOf}`), initialChosen)
  const { chosen } = choices
  /** The prompt whose arguments the dialog asks for. */
  const [asking, setAsking] = useState<Prompt>()
  const [caret, setCaret] = useState(0)
  /** True if the message is sent when its files are uploaded. */
  const [isQueued, setIsQueued] = useState(false)
  const { isBusy, stopping, steering, returned, unread, error } = conversation
  // The service would refuse the same message again, unless it is changed.
  const isRefused = error !== undefined && !isCut(error)
  const isUnderWay = isBusy || isHeld
  const isTooLong = isUnderWay && text.length > LONGEST_STEERING
  /** The key of the unread messages whose text was put into the field. The message that is sent replaces them. */
  const [offered, setOffered] = useDraft(`offered ${draftOf}`)
  const lastUnread = useRef(unread)
  /** A message that arrived too late for the run. It is sent when the run has ended. */
  const [late, setLate] = useState<string>()
  const [areChoicesOpen, setAreChoicesOpen] = useState(false)
  const { way, setWay, rehearsal } = useWay(chatId, choice)
  const isRehearsed = way === 'rehearse' && !isUnderWay && onCancel === undefined
  const announce = useAnnounce()
  useEffect(() => {
    // On a phone the keyboard would cover the conversation. An edit gets the focus anyway, because the user asked for it.
    if (onCancel !== undefined || !matchMedia('(pointer: coarse)').matches) field.current?.focus({ preventScroll: true })
  }, [field])

  const type = (next: string) => {
    setText(next)
    setDraft(next)
  }
  useEffect(() => {
    if (returned === undefined || returned.isEdit) return
    const typed = text.trim() === '' ? '' : `\n\n${text}`
    type(returned.text + typed)
    attached.restore(returned.files)
    choices.restore(returned.chosen)
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
      // A continued run has read them.
      type('')
    }
  }, [unread?.key])
  useEffect(() => {
    if (late === undefined || isBusy) return
    setLate(undefined)
    setText('')
    attached.clear()
    choices.clear()
    onSend(late, { files, chosen })
  }, [late, isBusy])
  useEffect(() => {
    if (!isQueued || isSending) return
    setIsQueued(false)
    if (sending.length === 0) submit()
  }, [isQueued, isSending])
  function submit (event?: FormEvent) {
    event?.preventDefault()
    if (isSending && !isUnderWay) return setIsQueued(true)
    const isEmpty = text.trim() === '' && (isUnderWay || files.length + chosen.length === 0)
    if (isEmpty || isTooLong || steering.isPending || rehearsal.isPending || late !== undefined) return
    if (isRehearsed) return rehearsal.mutate({ text, files, chosen })
    if (!isUnderWay) {
      // The drafts are deleted when the service has the message.
      setText('')
      attached.clear()
      choices.clear()
      steering.reset()
      return onSend(text, { files, chosen, isInPlace: unread !== undefined && offered === unread.key })
    }
    steering.mutate({ message: text, messageId: newId() }, {
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
  const menu = useChoiceMenu({
    text,
    caret,
    cwd: choice.cwd === '' ? undefined : choice.cwd,
    isOff: isUnderWay,
    onChoose (choice, rest) {
      type(rest)
      setCaret(0)
      if (choice.kind === 'skill') choices.add({ kind: 'skill', name: choice.name })
      else if (choice.prompt.arguments.length > 0) setAsking(choice.prompt)
      else choices.add({ kind: 'prompt', server: choice.prompt.server, name: choice.prompt.name })
    }
  })
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (menu.takeKey(event)) return
    if (event.key === 'Escape' && onCancel !== undefined) return onCancel()
    if (event.key === 'Escape' && isBusy && !stopping.isPending) return stopping.mutate()
    if (event.key === 'ArrowUp' && text === '' && onEditLast !== undefined) {
      event.preventDefault()
      return onEditLast()
    }
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
  /** Opens the list without a keyboard, as if a slash had been typed before the text. */
  function openSlash () {
    if (!text.startsWith('/')) type(`/${text}`)
    field.current?.focus()
    // React has to draw the new text first.
    setTimeout(() => field.current?.setSelectionRange(1, 1))
    setCaret(1)
    menu.reopen()
  }
  const onPaste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    const { files: pasted } = event.clipboardData
    if (pasted.length === 0) return
    event.preventDefault()
    attached.add(pasted)
  }
  const failure = steering.error ?? stopping.error ?? rehearsal.error ?? choice.error
  return (
    <form className='composer' onSubmit={submit}>
      {failure !== null && <Failed error={failure} />}
      {isTooLong && <p className='note note-warn' role='status'>{say('chat.steerTooLong', { count: LONGEST_STEERING })}</p>}
      {steering.isSuccess && isUnderWay && <p className='quiet' role='status'>{say('chat.steered')}</p>}
      {unread !== undefined && text === unread.text && <p className='note' role='status'>{say('chat.unread')}</p>}
      {returned !== undefined && <p className='note note-warn' role='alert'>{say(isRefused ? 'chat.refused' : 'chat.returned')}</p>}
      {onCancel !== undefined && <p className='quiet'>{say('chat.editing')}</p>}
      {way === 'copy' && <p className='composer-on-copy' role='note'>{say('chat.way.help.copy')}</p>}
      <ChosenChips choices={choices} />
      <AttachedFiles attached={attached} />
      {isUnderWay && files.length + chosen.length > 0 && <p className='quiet'>{say('chat.attachLater')}</p>}
      <div className='composer-box'>
        <ChoiceList menu={menu} />
        <label>
          <span className='visually-hidden'>{say('chat.message')}</span>
          <textarea
            ref={field} rows={1} value={text} placeholder={say(isUnderWay ? 'chat.steerHint' : 'chat.hint')} {...menu.fieldProps}
            onChange={({ target: { value, selectionStart } }) => {
              type(value)
              setCaret(selectionStart)
            }}
            onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)} onKeyDown={onKeyDown} onPaste={onPaste}
          />
        </label>
        <div className='composer-actions'>
          <AttachButton add={attached.add} />
          {!isUnderWay && <IconButton icon={SquareSlash} label={say('chat.slash')} onClick={openSlash} />}
          <IconButton
            icon={SlidersHorizontal} label={say('chat.choices')} className='button button-quiet button-icon composer-more'
            aria-expanded={areChoicesOpen} onClick={() => setAreChoicesOpen(!areChoicesOpen)}
          />
          <div className='composer-choices' data-open={areChoicesOpen || undefined}><ModelFields choice={choice} /></div>
          <span className='composer-space' />
          {!isUnderWay && onCancel === undefined && <TryFirst way={way} onChoose={setWay} />}
          {onCancel !== undefined && <Button onClick={onCancel}>{say('app.cancel')}</Button>}
          {isUnderWay && (
            <IconButton
              icon={Square} kind='normal' label={say('chat.stop')} className='button button-normal button-icon composer-stop'
              isBusy={stopping.isPending} onClick={() => stopping.mutate()}
            />
          )}
          {isQueued && <span className='quiet'>{say('chat.attachWait')}</span>}
          <IconButton
            icon={ArrowUp} type='submit' className='button button-primary button-icon composer-send'
            isBusy={steering.isPending || rehearsal.isPending || isQueued}
            label={say(isQueued ? 'chat.attachWait' : isUnderWay ? 'chat.steer' : isRehearsed ? 'chat.way.rehearse' : 'chat.send')}
          />
        </div>
      </div>
      <PromptDialog
        prompt={asking} onClose={() => setAsking(undefined)}
        onGiven={({ server, name }, given) => {
          choices.add({ kind: 'prompt', server, name, arguments: given })
          setAsking(undefined)
        }}
      />
    </form>
  )
}
