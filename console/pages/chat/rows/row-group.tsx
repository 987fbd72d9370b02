import { memo } from 'react'
import { Piece, type NearView } from '../../../parts/near-view.tsx'
import { RowView, type RowState } from './row-view.tsx'
import type { Row } from './rows.ts'

interface Props {
  near: NearView
  rows: Row[]
  state: RowState
  isDrawnAtFirst: boolean
  /** The key of the row that is being written, if it is in this group. */
  written?: string
}

/** A group of rows, which are in the document only while they are near the view. */
export const RowGroup = memo(function RowGroup ({ near, rows, state, isDrawnAtFirst, written }: Props) {
  return (
    <Piece near={near} className='message-group' estimate={estimate(rows)} isDrawnAtFirst={isDrawnAtFirst}>
      {() => rows.map((row) => (
        <div key={row.key} data-row={row.key} className='message-row'>
          <RowView row={row} isWritten={row.key === written} {...stateOf(row, state)} />
        </div>
      ))}
    </Piece>
  )
}, (was, is) => was.rows === is.rows && was.state === is.state && was.written === is.written)

const NOTHING: RowState['waiting'] = []

/** Returns the part of the state that one row needs. It stays equal when other parts change. */
function stateOf (row: Row, state: RowState) {
  const { threadId, answerId, lockedId, isOver, canEdit, canRegenerate, waiting, onEdit, onRegenerate, onDecided } = state
  const isOfAnswer = 'message' in row && row.message.id === answerId
  return {
    threadId,
    canGoBack: isOver && canEdit && row.kind === 'said',
    isWorking: isOfAnswer && !isOver,
    isHeld: row.kind === 'call' && isOfAnswer && waiting.some(({ live }) => !live),
    waiting: row.kind === 'call' && waiting.length > 0 ? waiting.filter(({ toolCallId }) => toolCallId === row.part.toolCallId) : NOTHING,
    onEdit: canEdit && (row.kind === 'said' || (row.kind === 'chosen' && row.isAlone)) && row.message.id !== lockedId ? onEdit : undefined,
    onRegenerate: isOfAnswer && canRegenerate ? onRegenerate : undefined,
    onDecided
  }
}

const sizeOf = (text: string) => 24 + 26 * Math.ceil(text.length / 85)

/** Returns the estimated height of rows that were not measured yet, in pixels. */
const estimate = (rows: Row[]) => rows.reduce((sum, row) => sum + estimateRow(row), 0)
function estimateRow (row: Row): number {
  if (row.kind === 'block') return sizeOf(row.block.text)
  return row.kind === 'said' || row.kind === 'steer' || row.kind === 'system' ? 24 + sizeOf(row.text.slice(0, 4_000)) : 44
}
