import { useSyncExternalStore } from 'react'

/** Appearance settings of this browser, with their choices. The first choice is the default. */
export const CHOICES = {
  theme: ['system', 'light', 'dark'],
  text: ['normal', 'small', 'large', 'larger'],
  /** How the list of conversations is grouped. */
  conversations: ['time', 'folder']
} as const
type Look = keyof typeof CHOICES
type Appearance = { [L in Look]: typeof CHOICES[L][number] }

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

/** Sets the appearance as data attributes of the page; `styles/theme.css` styles them. */
export function applyAppearance (): void {
  Object.assign(document.documentElement.dataset, appearance)
}

/** Changes one setting at once, and stores it for this browser. */
export function setAppearance<L extends Look> (look: L, choice: Appearance[L]): void {
  appearance = { ...appearance, [look]: choice }
  applyAppearance()
  try {
    localStorage.setItem(keyOf(look), choice)
  } catch {
    // The storage is full or disabled, so the setting holds until the page is closed.
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
