import type { Virtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react'

/** Within this distance of the end, px, the user is at the end. */
const NEAR_END = 60
/** A scroll this soon after a key, a wheel or a touch is the user's own, ms. */
const OWN_SCROLL_MS = 500
const INTENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

type List = Virtualizer<HTMLDivElement, Element>

/** The distance of what is shown to the end, px, by what the list knows: asking the page would have it laid out at each call. */
const fromEnd = (list: List) => list.getTotalSize() - (list.scrollOffset ?? 0) - (list.scrollRect?.height ?? 0)

/**
 * Keeps the end of a list in view while it grows, until the user scrolls away from it; back at the end, it is kept in view again.
 * Nothing but the user's own scrolling changes this.
 */
export function usePinnedEnd (list: List, area: RefObject<HTMLDivElement>) {
  const [isPinned, setIsPinned] = useState(true)
  const moved = useRef(0)

  useEffect(() => {
    const element = area.current!
    const onIntent = () => {
      moved.current = performance.now()
    }
    const onScroll = () => {
      if (fromEnd(list) <= NEAR_END) setIsPinned(true)
      else if (performance.now() - moved.current < OWN_SCROLL_MS) setIsPinned(false)
    }
    for (const intent of INTENTS) element.addEventListener(intent, onIntent, { passive: true })
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      for (const intent of INTENTS) element.removeEventListener(intent, onIntent)
      element.removeEventListener('scroll', onScroll)
    }
  }, [list, area])

  useLayoutEffect(() => {
    if (isPinned && fromEnd(list) > 1) list.scrollToEnd()
  })
  return { isPinned, pin: () => setIsPinned(true) }
}
