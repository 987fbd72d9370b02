import type { ShownEntry } from '../../models/index.ts'
import type { Entry, Habit } from '../memory.ts'

/** Characters of known texts in a question; the newest are shown. */
const MAX_CHARACTERS = 8_000

/** Gives what is known short ids for a question to a model, and finds the real ones again. */
export function shownIds (entries: Entry[], habits: Habit[]) {
  const real = new Map<string, string>()
  const shown = (all: Array<{ id: string, text: string }>, letter: string): ShownEntry[] => {
    let left = MAX_CHARACTERS
    const first = all.findLastIndex(({ text }) => (left -= text.length + letter.length) < 0) + 1
    return all.slice(first).map(({ id, text }, n) => {
      const short = `${letter}${n + 1}`
      real.set(short, id)
      return { id: short, text }
    })
  }
  const known = shown(entries.map(({ id, fact }) => ({ id, text: fact })), 'k')
  return {
    known,
    habits: shown(habits.map(({ id, pattern }) => ({ id, text: pattern })), 'h'),
    idOf: (id: string) => real.get(id)
  }
}
