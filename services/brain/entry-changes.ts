import { LIMITS } from '../../schemas/brain.ts'
import { TooManyFacts, TooManyInstructions, TooManyPreferences } from './brain-errors.ts'
import { foldText } from './fact-text.ts'
import { foldEntry, ofKind, type Entry, type FactKind, type Memory } from './memory.ts'

/** Proposals, replaced entries and digests of removed statements that are kept; the oldest go. */
const MAX_PROPOSED = 1_000
const MAX_REPLACED = 1_000
const MAX_DROPPED = 5_000

type Digest = (text: string) => string

const LIMIT = {
  fact: [LIMITS.facts, TooManyFacts],
  preference: [LIMITS.preferences, TooManyPreferences],
  instruction: [LIMITS.instructions, TooManyInstructions]
} as const

/** Whether no more entries of a kind can be known. */
export const isFull = (memory: Memory, kind: FactKind): boolean => ofKind(memory, kind).length >= LIMIT[kind][0]

/** Throws TooManyFacts, TooManyPreferences or TooManyInstructions (409) when no more entries of the kind can be known. */
export function requireRoom (memory: Memory, kind: FactKind): void {
  if (isFull(memory, kind)) throw new LIMIT[kind][1]()
}

/** The entry of the same content, in any state; a preference has the same key and value. */
export const sameEntry = ({ entries }: Memory, entry: Pick<Entry, 'kind' | 'fact' | 'key' | 'value'>): Entry | undefined => {
  const text = foldEntry(entry)
  return entries.find((other) => other.kind === entry.kind && !other.retracts && foldEntry(other) === text)
}

/** Adds an entry as the newest, in place of one with the same id or the same content. */
export function add (memory: Memory, entry: Entry): Memory {
  const same = entry.retracts ? undefined : sameEntry(memory, entry)
  return { ...memory, entries: [...memory.entries.filter((other) => other !== same && other.id !== entry.id), entry] }
}

/** Hides known entries since `at`. They stay, linked with the entry that took their place, until they are restored or erased. */
export function hide (memory: Memory, ids: string[], at: number, by?: Entry): Memory {
  return {
    ...memory,
    entries: memory.entries.map((entry) =>
      entry.state === 'known' && ids.includes(entry.id) && entry.id !== by?.id
        ? { ...entry, state: 'replaced' as const, replacedAt: at, ...(by && { replacedBy: by.id }) }
        : entry
    )
  }
}

/** Makes an entry known, as the newest one, and hides what it replaces. A proposed retraction hides and is gone. */
export function makeKnown (memory: Memory, entry: Entry, at: number): Memory {
  const { replacedAt: _at, replacedBy: _by, forgottenAt: _forgotten, retracts, ...rest } = entry
  const known: Entry = { ...rest, state: 'known' }
  const targets = [
    ...entry.state === 'proposed' ? entry.replaces ?? [] : [],
    // A preference has one value.
    ...entry.kind === 'preference' && !retracts
      ? ofKind(memory, 'preference').filter(hasKey(entry.key!)).map(({ id }) => id)
      : []
  ]
  if (retracts) return hide({ ...memory, entries: memory.entries.filter(({ id }) => id !== entry.id) }, targets, at)
  const hidden = hide(memory, targets, at, known)
  if (entry.state !== 'known') requireRoom(hidden, entry.kind)
  return add(hidden, known)
}

/** Returns whether an entry is a preference with the key, whose case, blanks and end marks do not count. */
export function hasKey (wanted: string): (entry: Entry) => boolean {
  const folded = foldText(wanted)
  return ({ key }) => key !== undefined && foldText(key) === folded
}

/**
 * Removes entries for good, with every trace of them: entries of the same content, what they had replaced, and proposals to
 * replace them. Statements of the same content that were made up to `at` are ignored from now on.
 */
export function erase (memory: Memory, ids: string[], at: number, digest: Digest): Memory {
  const doomed = new Set(memory.entries.filter(({ id }) => ids.includes(id)))
  for (const entry of doomed) {
    const text = foldEntry(entry)
    for (const other of memory.entries) {
      const isLinked = other.replacedBy === entry.id || (other.state === 'proposed' && other.replaces?.includes(entry.id))
      if (isLinked || (other.kind === entry.kind && foldEntry(other) === text)) doomed.add(other)
    }
  }
  return drop({ ...memory, entries: memory.entries.filter((entry) => !doomed.has(entry)) }, [...doomed].map(foldEntry), at, digest)
}

/** Remembers by digest that statements up to `at` with these folded texts are ignored. */
export function drop (memory: Memory, texts: string[], at: number, digest: Digest): Memory {
  const keys = new Set(texts.map(digest))
  const kept = memory.dropped.filter(({ key }) => !keys.has(key))
  return { ...memory, dropped: [...kept, ...[...keys].map((key) => ({ key, at }))].slice(-MAX_DROPPED) }
}

/** Lets the oldest proposals and replaced entries go. What was replaced is not learned again from what was said before. */
export function trim (memory: Memory, digest: Digest): Memory {
  const oldest = (state: Entry['state'], limit: number) => {
    const all = memory.entries.filter((entry) => entry.state === state)
    return all.slice(0, Math.max(0, all.length - limit))
  }
  const replaced = oldest('replaced', MAX_REPLACED)
  const gone = new Set([...oldest('proposed', MAX_PROPOSED), ...replaced])
  if (gone.size === 0) return memory
  const rest = { ...memory, entries: memory.entries.filter((entry) => !gone.has(entry)) }
  return replaced.reduce((trimmed, entry) => drop(trimmed, [foldEntry(entry)], entry.replacedAt ?? 0, digest), rest)
}
