import { useEffect, useState, type RefObject } from 'react'

/** How long a button must have stayed at its place, and had the focus before a key press, until it decides anything. Milliseconds. */
export const STEADY_MS = 500
const SAMPLE_MS = 100
/** Movements smaller than this, in pixels, come from rounding in the layout. */
const MOVED_PX = 4

interface Watched {
  left: number
  top: number
  /** The time since when the element has been seen at this place. */
  since: number
}

const watched = new Map<HTMLElement, Watched>()
let timer: ReturnType<typeof setInterval> | undefined

/** Returns the place in the document, because scrolling is the user's own movement. */
function place (element: HTMLElement) {
  const { left, top } = element.getBoundingClientRect()
  return { left: left + scrollX, top: top + scrollY }
}

function sample () {
  const now = performance.now()
  const isHidden = document.visibilityState === 'hidden'
  for (const [element, seen] of watched) {
    const { left, top } = place(element)
    if (isHidden || Math.abs(left - seen.left) > MOVED_PX || Math.abs(top - seen.top) > MOVED_PX) {
      watched.set(element, { ...seen, left, top, since: now })
    }
  }
}

const restart = () => {
  for (const [element, seen] of watched) watched.set(element, { ...seen, ...place(element), since: performance.now() })
}

function watch (element: HTMLElement) {
  watched.set(element, { ...place(element), since: performance.now() })
  if (timer === undefined) {
    timer = setInterval(sample, SAMPLE_MS)
    // A page in a hidden tab was not seen.
    document.addEventListener('visibilitychange', restart)
  }
  return () => {
    watched.delete(element)
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
    document.removeEventListener('visibilitychange', restart)
  }
}

/**
 * Returns a function that returns true if an element has stayed at its place, in view of the user, for STEADY_MS. Otherwise a list that
 * moves up could put the next button under a finger that is about to press.
 */
export function useSteady (element: RefObject<HTMLElement | null>): () => boolean {
  useEffect(() => element.current === null ? undefined : watch(element.current), [element])
  const [isSteady] = useState(() => () => {
    sample()
    const seen = element.current === null ? undefined : watched.get(element.current)
    return seen !== undefined && performance.now() - seen.since >= STEADY_MS
  })
  return isSteady
}
