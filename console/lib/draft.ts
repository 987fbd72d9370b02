import { useState } from 'react'

const keyOf = (key: string) => `draft ${key}`

/** State that survives a reload of the tab, for what the user has typed. `key` names it; an empty text is not kept. */
export function useDraft (key: string): [string, (text: string) => void] {
  const stored = keyOf(key)
  const [text, setText] = useState(() => sessionStorage.getItem(stored) ?? '')
  return [text, (next) => {
    setText(next)
    try {
      if (next === '') sessionStorage.removeItem(stored)
      else sessionStorage.setItem(stored, next)
    } catch {
      // The storage of the tab is full: the text stays on the page.
    }
  }]
}

/** Forgets what was typed, now that it has arrived; what was typed since then stays. */
export function forgetDraft (key: string, text: string): void {
  if (sessionStorage.getItem(keyOf(key)) === text) sessionStorage.removeItem(keyOf(key))
}

/** Forgets all that was typed in this tab. */
export function forgetDrafts (): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(keyOf(''))) sessionStorage.removeItem(key)
}
