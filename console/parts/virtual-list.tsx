import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import './virtual-list.css'

/** Lists of up to this length are drawn whole. */
const DRAWN_WHOLE = 60
/** Rows that are drawn above and below what can be seen. */
const OVERSCAN = 8

interface Props<T> {
  items: readonly T[]
  keyOf: (item: T, index: number) => string
  children: (item: T, index: number) => ReactNode
  /** What the list contains, for screen readers. */
  label: string
  /** Height of most rows, in pixels. Rows are measured when they are drawn. */
  estimate?: number
  /** Called when the end of the list comes near; loads more. */
  onEnd?: () => void
}

/**
 * A list that scrolls with the page. Of a long list only the rows that can be seen are in the document, with the row that has the
 * focus.
 */
export function VirtualList<T> (props: Props<T>) {
  return props.items.length <= DRAWN_WHOLE ? <WholeList {...props} /> : <LongList {...props} />
}

function WholeList<T> ({ items, keyOf, children, label, onEnd }: Props<T>) {
  useEnd(true, items.length, onEnd)
  return (
    <ul className='list' aria-label={label}>
      {items.map((item, index) => <li key={keyOf(item, index)}>{children(item, index)}</li>)}
    </ul>
  )
}

function LongList<T> ({ items, keyOf, children, label, estimate = 48, onEnd }: Props<T>) {
  const list = useRef<HTMLUListElement>(null)
  const [focused, setFocused] = useState<number>()
  const scrollMargin = useTop(list)
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => estimate,
    overscan: OVERSCAN,
    scrollMargin,
    getItemKey: (index) => keyOf(items[index], index),
    rangeExtractor (range) {
      const shown = defaultRangeExtractor(range)
      if (focused === undefined || focused >= items.length || shown.includes(focused)) return shown
      return [...shown, focused].sort((a, b) => a - b)
    }
  })
  const shown = rows.getVirtualItems()
  useEnd((rows.range?.endIndex ?? 0) >= items.length - 1 - OVERSCAN, items.length, onEnd)
  return (
    <ul
      ref={list}
      className='list virtual-list'
      aria-label={label}
      style={{ height: rows.getTotalSize() }}
      onBlur={() => setFocused(undefined)}
    >
      {shown.map(({ key, index, start }) => (
        <li
          key={String(key)}
          ref={rows.measureElement}
          data-index={index}
          aria-setsize={items.length}
          aria-posinset={index + 1}
          style={{ transform: `translateY(${start - scrollMargin}px)` }}
          onFocus={() => setFocused(index)}
        >
          {children(items[index], index)}
        </li>
      ))}
    </ul>
  )
}

/** The distance of an element from the top of the page, in pixels. What is above it may change its height. */
function useTop (element: { current: HTMLElement | null }): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => setTop(Math.round((element.current?.getBoundingClientRect().top ?? 0) + scrollY))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return top
}

/** Calls `onEnd` once for each length of the list whose end is near. */
function useEnd (isNear: boolean, length: number, onEnd?: () => void) {
  const current = useRef(onEnd)
  useEffect(() => {
    current.current = onEnd
  })
  useEffect(() => {
    if (isNear) current.current?.()
  }, [isNear, length])
}
