import { drop, erase, hide } from './entry-changes.ts'
import { foldText } from './fact-text.ts'
import { isProtected, type Entry, type Habit, type Memory } from './memory.ts'
import { beginningOf, isFormOf, isUnspaced, termsOf } from './recall/terms.ts'

/** How long a forgotten entry can be restored; milliseconds. */
const RESTORABLE_MS = 30 * 24 * 60 * 60 * 1000

/** The parts of the memory that are about a subject. */
interface About {
  /** Known, proposed and hidden entries that are about the subject. */
  entries: Entry[]
  habits: Habit[]
  /**
   * Known entries that are partly related: they share a word with the subject, or only their topics match and they
   * are important or protected.
   */
  maybe: Entry[]
}

/** Finds the entries about a subject that the user names; undefined if the words in `about` could name anything. */
export function findAbout ({ entries, habits }: Memory, about: string): About | undefined {
  const wanted = termsOf(about)
  if (wanted.length === 0) return undefined
  const has = (terms: readonly string[]) => (term: string) => terms.some((each) => isFormOf(term, each))
  const found: About = { entries: [], habits: [], maybe: [] }
  for (const entry of entries) {
    if (entry.retracts) continue
    const words = termsOf([entry.fact, entry.key ?? '', entry.value ?? ''].join('\n'))
    const topics = termsOf((entry.topics ?? []).join('\n'))
    const isNamed = wanted.every(has(words))
    const isFiled = wanted.every(has([...words, ...topics]))
    const isSafe = !entry.important && !isProtected(entry)
    if (isNamed || (isFiled && isSafe)) found.entries.push(entry)
    else if (entry.state === 'known' && (isFiled || wanted.some(has(words)))) found.maybe.push(entry)
  }
  found.habits.push(...habits.filter(({ pattern }) => wanted.every(has(termsOf(pattern)))))
  return found
}

/** The most forgotten subjects that are stored; the oldest are dropped. */
const MAX_SUBJECTS = 1_000
/** The fewest letters of the beginnings of words that are compared. */
const SHORTEST_BEGINNING = 3

/**
 * Stores digests of the words of a subject, so that statements about it made up to `at` are ignored, whenever their conversation is read.
 */
export function ignoreAbout (memory: Memory, about: string, at: number, digest: (text: string) => string): Memory {
  const words = termsOf(about).map((term) => digest(beginningOf(term)))
  const isSame = (each: { words: string[] }) => each.words.length === words.length && each.words.every((word) => words.includes(word))
  const others = (memory.forgotten ?? []).filter((each) => !isSame(each))
  return { ...memory, forgotten: [...others, { words, at }].slice(-MAX_SUBJECTS) }
}

/** Marks all statements made up to `at` as ignored. */
export const ignoreEverything = (memory: Memory, at: number): Memory => ({ ...memory, forgotten: [{ words: [], at }] })

/** True if a text, written at `at`, is about a subject that the user had forgotten later. */
export function wasForgotten ({ forgotten = [] }: Memory, text: string, at: number, digest: (text: string) => string): boolean {
  const subjects = forgotten.filter((subject) => at <= subject.at)
  if (subjects.length === 0) return false
  const beginnings = new Set(termsOf(text).flatMap((term) => {
    const first = isUnspaced(term) ? term.length : Math.min(SHORTEST_BEGINNING, term.length)
    return Array.from({ length: term.length - first + 1 }, (_, more) => digest(term.slice(0, first + more)))
  }))
  return subjects.some(({ words }) => words.every((word) => beginnings.has(word)))
}

/** Hides entries, including those that were hidden before; `eraseForgotten` erases them after RESTORABLE_MS. Removes habits at once. */
export function forgetAll (
  memory: Memory,
  { entries, habits }: { entries: readonly Entry[], habits: readonly Habit[] },
  at: number,
  digest: (text: string) => string
): Memory {
  const ids = new Set(entries.map(({ id }) => id))
  const known = { ...memory, entries: memory.entries.map((entry) => ids.has(entry.id) ? { ...entry, state: 'known' as const } : entry) }
  const hidden = hide(known, [...ids], at)
  const gone = new Set(habits.map(({ id }) => id))
  return drop({
    ...hidden,
    entries: hidden.entries.map((entry) => ids.has(entry.id) ? { ...entry, forgottenAt: at } : entry),
    habits: hidden.habits.filter(({ id }) => !gone.has(id))
  }, habits.map(({ pattern }) => foldText(pattern)), at, digest)
}

/** Erases entries that were forgotten at least RESTORABLE_MS ago. */
export function eraseForgotten (memory: Memory, now: number, digest: (text: string) => string): Memory {
  const old = memory.entries.filter(({ forgottenAt }) => forgottenAt !== undefined && forgottenAt + RESTORABLE_MS <= now)
  return old.length === 0 ? memory : erase(memory, old.map(({ id }) => id), now, digest)
}
