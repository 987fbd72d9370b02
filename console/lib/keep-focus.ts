import { useEffect, useRef } from 'react'

/**
 * Keeps the focus from being lost with a button that an action has removed: it goes to the element of the returned ref. `state` is what
 * decides on the buttons; nothing happens unless `hasActed`, so that a change from elsewhere moves no focus.
 */
export function useKeptFocus (state: unknown, hasActed: boolean) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (hasActed && document.activeElement === document.body) element.current?.focus({ preventScroll: true })
  }, [state, hasActed])
  return element
}
