import { useEffect, useState, type RefObject } from 'react'

/** How long a button must have been where it is, and focused for a key, before it decides anything; ms. */
export const STEADY_MS = 500
const SAMPLE_MS = 100
/** A smaller movement is a rounding of the layout. */
const MOVED_PX = 4

interface Watched {
  left: number
  top: number
  /** The time since which it has been seen at this place. */
  since: number
}

const watched = new Map<HTMLElement, Watched>()
let timer: ReturnType<typeof setInterval> | undefined

/** The place in the document: scrolling is the user's own movement. */
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
    // What lay in a tab behind another was not seen either.
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
 * Returns the function that says whether an element has been at its place, in view of the user, for STEADY_MS. A list that moves up
 * puts the next button below a finger that is about to press again.
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
