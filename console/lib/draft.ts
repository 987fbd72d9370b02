import { useMemo, useState } from 'react'

const keyOf = (key: string) => `draft ${key}`

/** Returns the stored draft; '' if there is none. */
export const readDraft = (key: string): string => sessionStorage.getItem(keyOf(key)) ?? ''

/** State for typed text that survives a reload of the tab. `key` names the draft; an empty text is not stored. */
export function useDraft (key: string): [string, (text: string) => void] {
  const stored = keyOf(key)
  const [text, setText] = useState(() => readDraft(key))
  return [text, (next) => {
    setText(next)
    try {
      if (next === '') sessionStorage.removeItem(stored)
      else sessionStorage.setItem(stored, next)
    } catch {
      // The storage of the tab is full, so the text stays on the page only.
    }
  }]
}

/** The fields of a form. They survive a reload and the closing of their dialog, until they are saved. `set` changes some of them. */
export function useForm<Values extends object> (key: string, begin: Values) {
  const [draft, setDraft] = useDraft(key)
  const values = useMemo((): Values => draft === '' ? begin : { ...begin, ...JSON.parse(draft) }, [draft, begin])
  return {
    values,
    set: (some: Partial<Values>) => setDraft(JSON.stringify({ ...values, ...some })),
    clear: () => setDraft('')
  }
}

/** Deletes a draft after the service has received it. With `text`, the draft is kept if it has changed since that text was sent. */
export function forgetDraft (key: string, text?: string): void {
  if (text === undefined || sessionStorage.getItem(keyOf(key)) === text) sessionStorage.removeItem(keyOf(key))
}

/** Deletes all drafts of this tab. */
export function forgetDrafts (): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(keyOf(''))) sessionStorage.removeItem(key)
}
