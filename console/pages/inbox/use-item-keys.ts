import { useEffect, useRef, type RefObject } from 'react'

const STEPS: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }

const itemsIn = (list: HTMLElement | null) => [...list?.querySelectorAll<HTMLElement>('[data-waiting]') ?? []]
const isTyping = (element: Element | null) => element?.closest('input, textarea, select') !== null && element !== null

/**
 * Moves the focus between the items of a list: j and k from anywhere on the page where nobody types, the arrows from an item. When the
 * item that has the focus goes, the next one gets it; the heading of the section when it was the last.
 */
export function useItemKeys (list: RefObject<HTMLElement | null>) {
  const focused = useRef<number>()

  useEffect(() => {
    function onFocus ({ target }: FocusEvent) {
      const at = itemsIn(list.current).findIndex((item) => item.contains(target as Node))
      focused.current = at === -1 ? undefined : at
    }
    function onKeyDown (event: KeyboardEvent) {
      const step = STEPS[event.key]
      const { activeElement } = document
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || isTyping(activeElement)) return
      const items = itemsIn(list.current)
      const at = items.findIndex((item) => item.contains(activeElement))
      const isArrow = event.key.startsWith('Arrow')
      if (items.length === 0 || (isArrow && items[at] !== activeElement) || document.querySelector('[role=dialog]') !== null) return
      event.preventDefault()
      items[at === -1 ? (step === 1 ? 0 : items.length - 1) : Math.min(Math.max(at + step, 0), items.length - 1)].focus()
    }
    document.addEventListener('focusin', onFocus)
    document.addEventListener('keydown', onKeyDown)
    return () => {
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('keydown', onKeyDown)
    }
  }, [list])

  // The browser gives the focus of what goes to the body.
  useEffect(() => {
    if (focused.current === undefined || document.activeElement !== document.body) return
    const items = itemsIn(list.current)
    const next = items[Math.min(focused.current, items.length - 1)] ?? document.getElementById('waiting')
    next?.focus({ preventScroll: true })
  })
}
