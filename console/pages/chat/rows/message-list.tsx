import { forwardRef, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { isToolUIPart, type UIMessage } from 'ai'
import type { Approval } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { useNearView } from '../../../parts/near-view.tsx'
import { WaitingItem } from '../../../parts/waiting/waiting-item.tsx'
import type { FoundMessage } from '../thread/found-message.ts'
import type { Conversation } from '../thread/use-conversation.ts'
import { keepPlace, type Place } from './reading-place.ts'
import { RowGroup } from './row-group.tsx'
import { createGroups, type Group, type Row } from './rows.ts'
import { RunEnd } from './run-end.tsx'
import type { RowState } from './row-view.tsx'

interface Props {
  id: string
  conversation: Conversation
  /** The items of this conversation that wait for the user. */
  waiting: Approval[]
  onEdit: (message: UIMessage) => void
  onRegenerate: () => void
  onSuggest: (text: string) => void
  /** Called when the user has decided an item with a key and no other item waits. */
  onAllDecided: () => void
}

/** The functions of the list that other components call. */
export interface MessageListHandle {
  /** Scrolls to the end and follows it. */
  follow: () => void
  /** Scrolls to the place of a search result in a message. */
  show: (found: FoundMessage) => void
  /** Scrolls by a number of view heights; negative values scroll up. */
  scroll: (views: number) => void
}

/** The number of groups at the end that are rendered before it is known which groups are in view. */
const DRAWN_AT_FIRST = 3

const isOfUser = ({ role }: UIMessage) => role === 'user'

/**
 * The messages of a conversation. Only messages near the view are in the document. The list follows its end while the user is at the end.
 */
export const MessageList = forwardRef<MessageListHandle, Props>(function MessageList (props, ref) {
  const { id, conversation, waiting, onRegenerate, onAllDecided } = props
  const { messages, hasOlder, older } = conversation
  const area = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const near = useNearView(area)
  const [groupsOf] = useState(createGroups)
  const groups = useMemo(() => groupsOf(messages), [groupsOf, messages])
  const written = conversation.isStreaming ? newestBlock(groups) : undefined

  const [{ isAway, isNearBeginning }, setPlace] = useState<Place>({ isAway: false, isNearBeginning: false })
  const place = useRef<ReturnType<typeof keepPlace>>()
  useLayoutEffect(() => {
    const kept = keepPlace(area.current!, content.current!, setPlace)
    place.current = kept
    return kept.end
  }, [])
  useImperativeHandle(ref, () => ({
    follow: () => place.current?.follow(),
    scroll: (views) => place.current?.scroll(views),
    show (found) {
      const { row, at } = placeOfFound(groups, found)
      const rows = content.current!
      // The row exists only after its group is rendered, near the view. Until then, the group is the target.
      place.current?.show(() => rows.querySelector(`[data-row="${CSS.escape(row?.key ?? '')}"]`) ?? rows.children[at])
    }
  }), [groups])

  const { mutate: readOlder, isPending, isError } = older
  useEffect(() => {
    if (isNearBeginning && hasOlder && !isPending && !isError) readOlder()
  }, [isNearBeginning, hasOlder, isPending, isError, readOlder])

  const decided = (item: HTMLElement) => focusNext(area.current!, item, onAllDecided)
  const state = useRowState(props, decided)
  const calls = useMemo(() => {
    const parts = waiting.length === 0 ? [] : messages.flatMap((message) => message.parts)
    return new Set(parts.flatMap((part) => isToolUIPart(part) ? part.toolCallId : []))
  }, [messages, waiting])
  const follow = () => {
    place.current?.follow()
    area.current?.focus({ preventScroll: true })
  }
  return (
    <div className='messages-frame'>
      <div className='messages' ref={area} role='region' aria-label={say('chat.messages')} tabIndex={0}>
        <div ref={content}>
          {groups.map(({ key, rows }, at) => (
            <RowGroup
              key={key} near={near} rows={rows} state={state} isDrawnAtFirst={at >= groups.length - DRAWN_AT_FIRST}
              written={rows.includes(written!) ? written!.key : undefined}
            />
          ))}
          {waiting.filter(({ toolCallId }) => toolCallId === undefined || !calls.has(toolCallId)).map((approval) => (
            <div key={approval.approvalId} className='message-row'>
              <WaitingItem approval={approval} withoutOwner onDecided={decided} />
            </div>
          ))}
          <div className='message-row'>
            <RunEnd
              id={id} conversation={conversation} onSuggest={props.onSuggest} isWaiting={waiting.length > 0}
              onRegenerate={state.canRegenerate ? onRegenerate : undefined}
            />
          </div>
        </div>
      </div>
      {hasOlder && (isPending || isError) && (
        <div className='quiet messages-older'>
          {isError ? <Failed error={older.error} onRetry={() => readOlder()} /> : say('chat.older')}
        </div>
      )}
      {isAway && <Button className='button messages-newest' onClick={follow}>{say('chat.newest')}</Button>}
    </div>
  )
})

/** Returns the row of the message that contains the found text, else the message's first row, and the index of its group. */
function placeOfFound (groups: Group[], { messageId, words }: FoundMessage): { row?: Row, at: number } {
  const rows = groups.flatMap((group, at) =>
    group.rows.flatMap((row) => row.key.startsWith(`${messageId} `) ? [{ row, at }] : [])
  )
  const isHeld = ({ row }: { row: Row }) => textOfRow(row).toLowerCase().includes(words.toLowerCase())
  return rows.find(isHeld) ?? rows[0] ?? { at: -1 }
}

/** Returns the last row of the last message if it is a text block: a streaming answer is at this row. */
function newestBlock (groups: Group[]): Row | undefined {
  const row = groups.slice(-2).flatMap(({ rows }) => rows).findLast(({ kind }) => kind !== 'end')
  return row?.kind === 'block' ? row : undefined
}

const textOfRow = (row: Row) => row.kind === 'block' ? row.block.text : 'text' in row ? row.text : ''

/**
 * Returns the state that all rows share. It stays the same object while an answer streams, so that only the rows that grow are rendered.
 */
function useRowState ({ id, conversation, waiting, onEdit, onRegenerate }: Props, onDecided: RowState['onDecided']): RowState {
  const { messages, isBusy, hasOlder } = conversation
  const latest = useRef({ onEdit, onRegenerate, onDecided })
  useEffect(() => {
    latest.current = { onEdit, onRegenerate, onDecided }
  })
  const [verbs] = useState(() => ({
    onEdit: (message: UIMessage) => latest.current.onEdit(message),
    onRegenerate: () => latest.current.onRegenerate(),
    onDecided: (item: HTMLElement) => latest.current.onDecided(item)
  }))
  const answerId = messages.findLast(({ role }) => role === 'assistant')?.id
  // A message can be sent again only if all messages before it are loaded.
  const lockedId = hasOlder ? messages.find(isOfUser)?.id : undefined
  const lastSaidId = messages.findLast(isOfUser)?.id
  const isOver = !isBusy && waiting.length === 0
  const canRegenerate = isOver && lastSaidId !== undefined && lastSaidId !== lockedId
  return useMemo(
    () => ({ ...verbs, threadId: id, answerId, lockedId, isOver, canEdit: !isBusy, canRegenerate, waiting }),
    [verbs, id, answerId, lockedId, isOver, isBusy, canRegenerate, waiting]
  )
}

/** Moves the focus from an item that was decided by a key to the next item; if no other item waits, calls `onNone`. */
function focusNext (area: HTMLElement, decided: HTMLElement, onNone: () => void) {
  const { activeElement } = document
  if (activeElement === null || !decided.contains(activeElement)) return
  // Without a keyboard, a focused text field would open the on-screen keyboard.
  if (!activeElement.matches(':focus-visible')) return area.focus({ preventScroll: true })
  const items = [...area.querySelectorAll<HTMLElement>('[data-waiting]')]
  const at = items.indexOf(decided)
  const next = [...items.slice(at + 1), ...items.slice(0, at)].find(({ dataset }) => dataset.open !== undefined)
  if (next === undefined) onNone()
  else next.focus()
}
