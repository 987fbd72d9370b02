import { useSyncExternalStore } from 'react'

/** What the user chooses of the looks, for this browser. The first one of each is what the system asks for. */
export const CHOICES = {
  theme: ['system', 'light', 'dark'],
  text: ['normal', 'small', 'large', 'larger'],
  /** By what the list of conversations is grouped. */
  conversations: ['time', 'folder']
} as const
type Look = keyof typeof CHOICES
export type Appearance = { [L in Look]: typeof CHOICES[L][number] }

const keyOf = (look: Look) => `appearance ${look}`
const listeners = new Set<() => void>()

function read<T extends string> (look: Look, choices: readonly [T, ...T[]]): T {
  const stored = localStorage.getItem(keyOf(look))
  return choices.find((choice) => choice === stored) ?? choices[0]
}
let appearance: Appearance = {
  theme: read('theme', CHOICES.theme),
  text: read('text', CHOICES.text),
  conversations: read('conversations', CHOICES.conversations)
}

/** Puts the looks on the page, on which `styles/theme.css` says what they are. */
export function applyAppearance (): void {
  Object.assign(document.documentElement.dataset, appearance)
}

/** Changes one of the looks at once, and for later visits of this browser. */
export function setAppearance<L extends Look> (look: L, choice: Appearance[L]): void {
  appearance = { ...appearance, [look]: choice }
  applyAppearance()
  try {
    localStorage.setItem(keyOf(look), choice)
  } catch {
    // Without room in the storage it holds until the page is left.
  }
  for (const each of [...listeners]) each()
}

function listen (listener: () => void) {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

export const useAppearance = (): Appearance => useSyncExternalStore(listen, () => appearance)
