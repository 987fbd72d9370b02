import { LIMITS, type FactChange, type FactFilter, type FactList, type KnownFact } from '../../schemas/brain.ts'
import { EntryNotFound, FactExists, NotEditable } from './brain-errors.ts'
import { hide, makeKnown, sameEntry } from './entry-changes.ts'
import { foldText, normalise } from './fact-text.ts'
import { isPattern, patternOf, type Entry, type Memory } from './memory.ts'

/** A page of what is remembered, newest first. A cursor whose entry is gone begins anew. */
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

/** An entry without what only the merging of statements needs. */
export function factView ({ said: _said, replacedAt: _at, topics: _topics, ...entry }: Entry): KnownFact {
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

/** Throws EntryNotFound (404). */
function requireEntry ({ entries }: Memory, id: string): Entry {
  const entry = entries.find((each) => each.id === id)
  if (entry === undefined) throw new EntryNotFound(id)
  return entry
}

/**
 * Edits, pins, marks as important, accepts, restores or hides an entry. Text that a person edits counts as typed. Throws
 * EntryNotFound (404), TextLength or NotEditable (400), FactExists (409), and the errors of a memory that is full (409).
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
      return makeKnown(changed, entry, now)
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
