import { useState } from 'react'

/** State that survives a reload of the tab, for what the user has typed. `key` names it; an empty text is not kept. */
export function useDraft (key: string): [string, (text: string) => void] {
  const stored = `draft ${key}`
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
