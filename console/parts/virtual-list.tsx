import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Piece, useNearView, type NearView } from './near-view.tsx'

/** Lists up to this length are rendered as a whole. */
const DRAWN_WHOLE = 60
/** The number of rows of a longer list that are added and removed together. */
const PIECE = 20

interface Props<T> {
  items: readonly T[]
  keyOf: (item: T, index: number) => string
  children: (item: T, index: number) => ReactNode
  /** The content of the list, for screen readers. */
  label: string
  /** The height of most rows, in pixels. */
  estimate?: number
  /** The key of an item that is in the document from the beginning. */
  named?: string
  /** Called when the end of the list comes near the view, to load more. */
  onEnd?: () => void
}

/**
 * A list that scrolls with the page. Of a long list, only rows near the view are in the document, and rows that the user is working in. All
 * rows are in the normal flow of the page, so that they cannot overlap.
 */
export function VirtualList<T> ({ items, keyOf, children, label, estimate = 48, named, onEnd }: Props<T>) {
  const near = useNearView()
  const row = (item: T, index: number) => (
    <div key={keyOf(item, index)} role='listitem' aria-setsize={items.length} aria-posinset={index + 1}>{children(item, index)}</div>
  )
  const count = items.length <= DRAWN_WHOLE ? 0 : Math.ceil(items.length / PIECE)
  return (
    <div className='list' role='list' aria-label={label}>
      {count === 0 && items.map(row)}
      {Array.from({ length: count }, (_, at) => {
        const rows = items.slice(at * PIECE, (at + 1) * PIECE)
        const isDrawnAtFirst = at === 0 || rows.some((item, n) => keyOf(item, at * PIECE + n) === named)
        return (
          <Piece key={at} near={near} className='list-piece' estimate={rows.length * estimate} isDrawnAtFirst={isDrawnAtFirst}>
            {() => rows.map((item, n) => row(item, at * PIECE + n))}
          </Piece>
        )
      })}
      {onEnd && <End near={near} length={items.length} onNear={onEnd} />}
    </div>
  )
}

/** The end of a list. It calls `onNear` when it comes near the view, and again if it is still near after the list has grown. */
function End ({ near, length, onNear }: { near: NearView, length: number, onNear: () => void }) {
  const element = useRef<HTMLDivElement>(null)
  const [isNear, setIsNear] = useState(false)
  const current = useRef(onNear)
  useEffect(() => {
    current.current = onNear
  })
  useEffect(() => near(element.current!, setIsNear), [near])
  useEffect(() => {
    if (isNear) current.current()
  }, [isNear, length])
  return <div ref={element} />
}
