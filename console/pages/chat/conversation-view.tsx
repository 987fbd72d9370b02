import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { isFileUIPart, isToolUIPart, type UIMessage } from 'ai'
import { AgentError } from '../../../client/errors.ts'
import { say } from '../../lib/say.ts'
import { useSeenChat } from '../../lib/seen.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { openApprovals } from '../../parts/frame.tsx'
import { ManyBar } from '../../parts/waiting/many-bar.tsx'
import { ManyCalls } from '../../parts/waiting/many-calls.tsx'
import { Composer } from './composer/composer.tsx'
import { useModelChoice } from './composer/use-model-choice.ts'
import { MessageList, type MessageListHandle } from './rows/message-list.tsx'
import { ownTextOf } from './rows/rows.ts'
import { chosenOf, ownParts, type Sending } from './thread/chosen.ts'
import type { FoundMessage } from './thread/found-message.ts'
import type { ThreadPage } from './thread/thread-page.ts'
import { useConversation } from './thread/use-conversation.ts'
import { ReplacedQuestion } from './replaced-question.tsx'

interface Props {
  id: string
  page: ThreadPage
  /** The message at which the conversation opens. */
  found?: FoundMessage
  /** Called when the service has the first message. */
  onBegun: () => void
}

/** A conversation: its messages, the items that wait for the user, and the composer. */
export function ConversationView ({ id, page, found, onBegun }: Props) {
  const conversation = useConversation(id, page)
  const { messages, isBusy, isStreaming, error } = conversation
  const choice = useModelChoice(id, page)
  const { keep } = choice
  const isKept = useRef(false)
  const [edited, setEdited] = useState<UIMessage>()
  /** The message that was edited last, as it was before the edit. */
  const sentEdit = useRef<UIMessage>()
  const list = useRef<MessageListHandle>(null)
  const composer = useRef<HTMLTextAreaElement>(null)
  const [suggested, setSuggested] = useState<{ text: string }>()
  const { data } = useQuery(openApprovals)
  const waiting = useMemo(() => data?.approvals.filter(({ threadId }) => threadId === id) ?? [], [data, id])

  // A short answer may end before its streaming is seen, and a run may fail before its first output.
  const hasBegun = isStreaming || messages.at(-1)?.role === 'assistant' || (error !== undefined && !(error instanceof AgentError))
  useEffect(() => {
    if (!hasBegun || !page.isNew || isKept.current) return
    isKept.current = true
    keep()
    onBegun()
  }, [hasBegun, page.isNew, keep, onBegun])

  const { from, older } = conversation
  const shown = useRef<FoundMessage>()
  useEffect(() => {
    if (found === undefined || shown.current === found) return
    const isHere = messages.some(({ id }) => id === found.messageId)
    if (isHere) list.current?.show(found)
    if (isHere || from <= found.position || older.isError) shown.current = found
    else if (!older.isPending) older.mutate()
  }, [found, messages, from, older])

  useSeenChat(id, !page.isNew && !isBusy)
  const announce = useAnnounce()
  const wasBusy = useRef(false)
  useEffect(() => {
    if (wasBusy.current && !isBusy) announce(say(error ? 'chat.failed' : asks(messages.at(-1)) ? 'chat.asks' : 'chat.answered'))
    wasBusy.current = isBusy
  }, [isBusy, error, messages, announce])

  const draft = edited === undefined ? (page.isNew ? 'new' : id) : `${id} ${edited.id}`
  function send (text: string, { files, chosen, isInPlace = false }: Sending) {
    conversation.send(text, { files, chosen, draft: `chat ${draft}`, edited: edited?.id, isInPlace, options: choice.options })
    sentEdit.current = edited
    setEdited(undefined)
    list.current?.follow()
  }
  function regenerate () {
    sentEdit.current = undefined
    conversation.regenerate(choice.options)
  }
  function callBack () {
    conversation.callBack()
    setEdited(sentEdit.current)
  }
  // An edit that did not arrive is opened again, with the typed text.
  const { returned } = conversation
  const lastSaid = messages.findLast(({ role }) => role === 'user')
  const canEditLast = lastSaid !== undefined && edited === undefined && !isBusy && waiting.length === 0
  useEffect(() => {
    if (returned?.isEdit) setEdited(messages.find((message) => message.id === returned.messageId))
  }, [returned])
  return (
    <ManyCalls approvals={waiting}>
      <div className='conversation'>
        <MessageList
          ref={list} id={id} conversation={conversation} waiting={waiting} onEdit={setEdited} onSuggest={(text) => setSuggested({ text })}
          onRegenerate={regenerate} onAllDecided={() => composer.current?.focus()}
        />
        <ManyBar />
        <ReplacedQuestion open={conversation.replaced} isEdit={sentEdit.current !== undefined} onCancel={callBack} />
        <Composer
          key={edited?.id ?? 'new'} draftOf={draft}
          initial={edited && ownTextOf(edited)} initialFiles={edited && ownParts(edited).filter(isFileUIPart)}
          initialChosen={edited && chosenOf(edited)}
          conversation={conversation} isHeld={edited === undefined && waiting.some(({ kind }) => kind === 'tool')}
          choice={choice} chatId={id} field={composer} suggested={suggested}
          onSend={send} onScroll={(views) => list.current?.scroll(views)} onCancel={edited && (() => setEdited(undefined))}
          onEditLast={canEditLast ? () => setEdited(lastSaid) : undefined}
        />
      </div>
    </ManyCalls>
  )
}

/** Returns true if a call of the message waits for the user. */
const asks = (message: UIMessage | undefined) =>
  message?.parts.some((part) => isToolUIPart(part) && (part.state === 'approval-requested' || part.state === 'input-available')) ?? false
