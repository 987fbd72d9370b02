import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { UIMessage } from 'ai'
import type { Approval } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { WaitingItem } from '../../../parts/waiting/waiting-item.tsx'
import type { Conversation } from '../thread/use-conversation.ts'
import { createRows, type Row } from './rows.ts'
import { RowView } from './row-view.tsx'
import { RunEnd } from './run-end.tsx'
import { usePinnedEnd } from './use-pinned-end.ts'

interface Props {
  id: string
  conversation: Conversation
  /** What waits for the user in this conversation. */
  waiting: Approval[]
  /** Whether the user has said something before the message at this place. */
  hasEarlier: (at: number) => boolean
  onEdit: (message: UIMessage) => void
  onRegenerate: () => void
}

type Line = Row | { key: string, kind: 'waiting', approval: Approval } | { key: string, kind: 'run' }

/** When this few rows are left above, older messages are read. */
const READ_AHEAD = 20

const sizeOf = (text: string) => 24 + 21 * Math.ceil(text.length / 100)
function estimate (line: Line): number {
  if (line.kind === 'block') return sizeOf(line.block.text)
  if (line.kind === 'said' || line.kind === 'system') return 24 + sizeOf(line.text.slice(0, 4_000))
  return line.kind === 'waiting' ? 320 : 44
}

/** The messages of a conversation, of which those in view are in the page. The end is followed while the user is there. */
export function MessageList ({ id, conversation, waiting, hasEarlier, onEdit, onRegenerate }: Props) {
  const { messages, isBusy, hasOlder, older } = conversation
  const [rowsOf] = useState(createRows)
  const lines = useMemo((): Line[] => [
    // A call that waits is shown with what is needed to decide it.
    ...rowsOf(messages).filter((row) => row.kind !== 'call' || !waiting.some(({ toolCallId }) => toolCallId === row.part.toolCallId)),
    ...waiting.map((approval): Line => ({ key: approval.approvalId, kind: 'waiting', approval })),
    { key: 'run', kind: 'run' }
  ], [messages, waiting, rowsOf])
  const area = useRef<HTMLDivElement>(null)
  // With other functions, the list would look at all of its lines again.
  const shown = useRef(lines)
  shown.current = lines
  const [{ estimateSize, getItemKey }] = useState(() => ({
    estimateSize: (at: number) => estimate(shown.current[at]),
    getItemKey: (at: number) => shown.current[at].key
  }))

  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => area.current,
    estimateSize,
    getItemKey,
    overscan: 6,
    // What is in view stays there when older messages are put before it.
    anchorTo: 'end'
  })
  const { isPinned, pin } = usePinnedEnd(list, area)
  const lastSaid = messages.findLastIndex(({ role }) => role === 'user')
  useEffect(pin, [messages[lastSaid]?.id])

  const items = list.getVirtualItems()
  const first = items[0]?.index ?? 0
  const { mutate: readOlder, isPending, isError } = older
  useEffect(() => {
    if (first < READ_AHEAD && hasOlder && !isPending && !isError) readOlder()
  }, [first, hasOlder, isPending, isError, readOlder])

  const answer = messages.findLast(({ role }) => role === 'assistant')
  const isOver = !isBusy && waiting.length === 0
  const onRepeat = isOver && lastSaid !== -1 && hasEarlier(lastSaid) ? onRegenerate : undefined
  function render (line: Line) {
    if (line.kind === 'waiting') return <WaitingItem approval={line.approval} withoutOwner />
    if (line.kind === 'run') return <RunEnd id={id} conversation={conversation} isWaiting={waiting.length > 0} onRegenerate={onRepeat} />
    const isOfLast = 'message' in line && line.message === answer
    const canEdit = !isBusy && line.kind === 'said' && hasEarlier(messages.indexOf(line.message))
    return (
      <RowView
        row={line} isWorking={isOfLast && !isOver} onEdit={canEdit ? onEdit : undefined} onRegenerate={isOfLast ? onRepeat : undefined}
      />
    )
  }
  return (
    <div className='messages-frame'>
      <div className='messages' ref={area} role='region' aria-label={say('chat.messages')} tabIndex={0}>
        {hasOlder && (
          <div className='quiet messages-older'>
            {isError ? <Failed error={older.error} onRetry={() => readOlder()} /> : say('chat.older')}
          </div>
        )}
        <div className='messages-all' style={{ height: list.getTotalSize() }}>
          {items.map(({ key, index, start }) => (
            <div
              key={key} ref={list.measureElement} data-index={index} className='message-row' style={{ transform: `translateY(${start}px)` }}
            >
              {render(lines[index])}
            </div>
          ))}
        </div>
      </div>
      {!isPinned && <Button className='button messages-newest' onClick={pin}>{say('chat.newest')}</Button>}
    </div>
  )
}
