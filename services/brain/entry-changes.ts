import { type FactChange, type FactFilter, type FactList, type KnownFact, LIMITS } from '../../schemas/brain.ts'
import { EntryNotFound, FactExists, NotEditable, TooManyFacts, TooManyInstructions, TooManyPreferences } from './brain-errors.ts'
import { foldText, normalise } from './fact-text.ts'
import { type Entry, type FactKind, foldEntry, isPattern, type Memory, ofKind, patternOf } from './memory.ts'

/** The most proposals, replaced entries, and digests of removed statements that are stored. The oldest are dropped. */
const MAX_PROPOSED = 1_000
const MAX_REPLACED = 1_000
const MAX_DROPPED = 5_000

type Digest = (text: string) => string

const LIMIT = {
  fact: [LIMITS.facts, TooManyFacts],
  preference: [LIMITS.preferences, TooManyPreferences],
  instruction: [LIMITS.instructions, TooManyInstructions]
} as const

/** True if the number of known entries of a kind has reached its limit. */
export const isFull = (memory: Memory, kind: FactKind): boolean => ofKind(memory, kind).length >= LIMIT[kind][0]

/**
 * Throws TooManyFacts, TooManyPreferences or TooManyInstructions (409) if the number of known entries of the kind has reached its limit.
 */
export function requireRoom (memory: Memory, kind: FactKind): void {
  if (isFull(memory, kind)) throw new LIMIT[kind][1]()
}

/** Finds the entry with the same content, in any state. A preference has the same content if its key and value are the same. */
export const sameEntry = ({ entries }: Memory, entry: Pick<Entry, 'kind' | 'fact' | 'key' | 'value'>): Entry | undefined => {
  const text = foldEntry(entry)
  return entries.find((other) => other.kind === entry.kind && !other.retracts && foldEntry(other) === text)
}

/** Adds an entry as the newest one. It replaces an entry with the same id or the same content. */
export function add (memory: Memory, entry: Entry): Memory {
  const same = entry.retracts ? undefined : sameEntry(memory, entry)
  return { ...memory, entries: [...memory.entries.filter((other) => other !== same && other.id !== entry.id), entry] }
}

/**
 * Sets known entries to the state `replaced`, as of `at`, with a link to the entry `by` that replaces them. They
 * can be restored until they are erased.
 */
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

/**
 * Makes an entry known, as the newest one, and hides the entries that it replaces. If the entry is a proposed
 * retraction, its targets are hidden and the retraction is removed.
 */
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

/** Creates a test for whether an entry is a preference with this key. The comparison ignores case, blanks and end marks. */
export function hasKey (wanted: string): (entry: Entry) => boolean {
  const folded = foldText(wanted)
  return ({ key }) => key !== undefined && foldText(key) === folded
}

/**
 * Removes entries for good, together with entries of the same content, entries that the removed ones had replaced,
 * and proposals to replace them. Statements with the same content that were made up to `at` are ignored from now on.
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

/** Stores digests of folded texts, so that statements with these texts that were made up to `at` are ignored. */
export function drop (memory: Memory, texts: string[], at: number, digest: Digest): Memory {
  const keys = new Set(texts.map(digest))
  const kept = memory.dropped.filter(({ key }) => !keys.has(key))
  return { ...memory, dropped: [...kept, ...[...keys].map((key) => ({ key, at }))].slice(-MAX_DROPPED) }
}

/**
 * Removes the oldest proposals and replaced entries beyond the limits. The removed replaced statements are not
 * learned again from earlier messages.
 */
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

/** Returns a page of the remembered entries and patterns, newest first. If the entry of the cursor is gone, returns the first page. */
export function listFacts (memory: Memory, { q = '', state = 'known', kind, limit, cursor }: FactFilter): FactList {
  const words = foldText(q)
  const wanted = kind ?? (state === 'known' ? 'fact' : undefined)
  const all = [...patternViews(memory), ...memory.entries.toReversed().map(factView)].filter((fact) =>
    fact.state === state && (wanted === undefined || fact.kind === wanted) &&
    (words === '' || foldText(`${fact.key ?? ''} ${fact.fact} ${fact.value ?? ''}`).includes(words))
  )
  const from = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1
  const page = all.slice(from, from + limit)
  return { facts: page, ...(from + limit < all.length && page.length > 0 && { nextCursor: page.at(-1)!.id }) }
}

/** Returns an entry without the fields that only the merging of statements needs. */
export function factView ({ said: _said, replacedAt: _at, topics: _topics, confirmed: _confirmed, ...entry }: Entry): KnownFact {
  return entry
}

const patternViews = ({ habits }: Memory): KnownFact[] =>
  habits.filter(isPattern).map(patternOf).toReversed().map(({ pattern, updatedAt, ...rest }) => ({
    ...rest,
    fact: pattern,
    kind: 'pattern',
    state: 'known',
    createdAt: updatedAt
  }))

/** Returns an entry by its id. Throws EntryNotFound (404). */
function requireEntry ({ entries }: Memory, id: string): Entry {
  const entry = entries.find((each) => each.id === id)
  if (entry === undefined) throw new EntryNotFound(id)
  return entry
}

/**
 * Edits, pins, marks as important, accepts, restores or hides an entry. Text that a person edits counts as typed.
 * Throws EntryNotFound (404), TextLength or NotEditable (400), FactExists (409), and the errors of a full memory (409).
 */
export function changeEntry (memory: Memory, id: string, { fact, pinned, important, state }: FactChange, now: number): Memory {
  let entry = requireEntry(memory, id)
  if (fact !== undefined) entry = edited(memory, entry, fact, now)
  if (pinned !== undefined) {
    const { pinned: _, ...rest } = entry
    entry = pinned ? { ...rest, pinned } : rest
  }
  if (important !== undefined) {
    const { important: _, ...rest } = entry
    entry = important ? { ...rest, important } : rest
  }
  const changed = { ...memory, entries: memory.entries.map((each) => each.id === id ? entry : each) }
  if (state === undefined || state === entry.state) return changed
  if (entry.retracts && state === 'replaced') throw new NotEditable('state', 'retraction', 'Accept it with "known", or delete it.')
  switch (state) {
    case 'known':
      return makeKnown(changed, { ...entry, confirmed: true }, now)
    case 'replaced':
      return hide({ ...changed, entries: changed.entries.map((each) => each.id === id ? { ...each, state: 'known' } : each) }, [id], now)
    case 'proposed':
      return { ...changed, entries: changed.entries.map((each) => each.id === id ? { ...each, state } : each) }
  }
}

function edited (memory: Memory, entry: Entry, text: string, now: number): Entry {
  if (entry.kind === 'preference') throw new NotEditable('fact', 'preference', 'Set its value with POST /memory/brain/pref.')
  const fact = normalise('fact', text, LIMITS.fact)
  const { source: _, supersedes: _text, ...rest } = entry
  const changed: Entry = { ...rest, fact, said: now }
  const same = sameEntry(memory, changed)
  if (same !== undefined && same.id !== entry.id) throw new FactExists(same.fact.slice(0, LIMITS.key))
  return changed
}
