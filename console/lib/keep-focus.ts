import { useEffect, useRef } from 'react'

/**
 * Moves the focus to the element of the returned ref if an action has removed the focused button. `state` is the value on which the buttons
 * depend. Nothing happens unless `hasActed` is true, so that a change from elsewhere moves no focus.
 */
export function useKeptFocus (state: unknown, hasActed: boolean) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (hasActed && document.activeElement === document.body) element.current?.focus({ preventScroll: true })
  }, [state, hasActed])
  return element
}
