import { useEffect } from 'react'

const isTyping = (element: Element | null) => element?.closest('input, textarea, select, [contenteditable]') != null

/** Whether the user's keyboard has a command key in place of Ctrl. */
export const hasCommandKey = /mac|iphone|ipad/i.test(navigator.platform)

/** Keys that work on every page, as they are shown: `mod` is the command key or Ctrl. */
export const KEYS = {
  find: ['mod', 'K'],
  begin: ['mod', 'Shift', 'O'],
  keys: ['?']
} as const

interface Verbs {
  find: () => void
  begin: () => void
  keys: () => void
}

/** Listens to the keys of every page. Keys without Ctrl do nothing where the user types. */
export function useShortcuts ({ find, begin, keys }: Verbs): void {
  useEffect(() => {
    function onKeyDown (event: KeyboardEvent) {
      if (event.repeat || event.isComposing || event.altKey) return
      const hasMod = event.ctrlKey || event.metaKey
      const key = event.key.toLowerCase()
      const verb = hasMod && !event.shiftKey && key === 'k'
        ? find
        : hasMod && event.shiftKey && key === 'o'
          ? begin
          : !hasMod && event.key === '?' && !isTyping(document.activeElement) ? keys : undefined
      if (verb === undefined || (document.querySelector('[role=dialog]') !== null && verb !== find)) return
      event.preventDefault()
      verb()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [find, begin, keys])
}
