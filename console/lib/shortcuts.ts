import { useEffect } from 'react'

const isTyping = (element: Element | null) => element?.closest('input, textarea, select, [contenteditable]') != null

/** True if the user's keyboard has a command key instead of Ctrl. */
export const hasCommandKey = /mac|iphone|ipad/i.test(navigator.platform)

/** The keyboard shortcuts of every page, for display: `mod` is the command key or Ctrl. */
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

/** Listens to keyboard shortcuts on every page. Keys without Ctrl are ignored while the user types. */
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
