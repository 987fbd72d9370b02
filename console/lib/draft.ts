import { useMemo, useState } from 'react'

const keyOf = (key: string) => `draft ${key}`

/** Returns what the user has typed; empty for nothing. */
export const readDraft = (key: string): string => sessionStorage.getItem(keyOf(key)) ?? ''

/** State that survives a reload of the tab, for what the user has typed. `key` names it; an empty text is not kept. */
export function useDraft (key: string): [string, (text: string) => void] {
  const stored = keyOf(key)
  const [text, setText] = useState(() => readDraft(key))
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

/** The fields of a form, which survive a reload, and a dialog that was closed, until they are saved. `set` changes some of them. */
export function useForm<Values extends object> (key: string, begin: Values) {
  const [draft, setDraft] = useDraft(key)
  const values = useMemo((): Values => draft === '' ? begin : { ...begin, ...JSON.parse(draft) }, [draft, begin])
  return {
    values,
    set: (some: Partial<Values>) => setDraft(JSON.stringify({ ...values, ...some })),
    clear: () => setDraft('')
  }
}

/** Forgets what was typed, now that it has arrived. Where it has the `text`, what was typed since then stays. */
export function forgetDraft (key: string, text?: string): void {
  if (text === undefined || sessionStorage.getItem(keyOf(key)) === text) sessionStorage.removeItem(keyOf(key))
}

/** Forgets all that was typed in this tab. */
export function forgetDrafts (): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(keyOf(''))) sessionStorage.removeItem(key)
}
