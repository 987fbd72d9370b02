import { LIMITS, type FactSource } from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'
import { entriesOf, foldedText, withEntries, type Entry, type Memory } from './memory.ts'
import { bare } from './extraction/english/denials.ts'
import { readStatement, topicOf, type Statement } from './extraction/english/statements.ts'

/** A statement of the user, with its source and its time. */
export interface Observed extends Omit<Statement, 'text'> {
  fact: string
  source: FactSource
  said: number
}

/** The user's word that a statement no longer holds, or that one of their messages was not true. */
export type Retraction =
  & { said: number, source: Pick<FactSource, 'threadId' | 'message'> }
  & ({ statement: string } | { message: number, text: string })

/** Digests of dropped statements that are kept; the oldest are removed. */
const MAX_DROPPED = 5_000

/**
 * Merges statements and retractions into a memory, in the order of their times. A statement changes nothing when it is
 * known, was removed since it was said, or is older than the known statement on its topic. A newer statement replaces the
 * older one, and a retraction drops the statement.
 */
export function mergeStatements (
  memory: Memory,
  observations: Array<Observed | Retraction>,
  { now, digest }: { now: number, digest: (text: string) => string }
): { changes?: Partial<Memory>, added: number } {
  const { clearedAt = -1 } = memory
  const before = entriesOf(memory)
  let entries = before
  const known = new Set(entries.map(({ fact }) => foldedText(fact)))
  const droppedBefore = new Map((memory.dropped ?? []).map(({ key, at }) => [key, at]))
  const dropped = new Map(droppedBefore)
  const preferences = { ...memory.preferences }
  const origins = { ...memory.origins }
  const topicOfFact = memoize(topicOf)
  const comparable = memoize(bare)

  // Only drops of earlier merges count; within this merge the order of the statements decides.
  const wasDropped = (fact: string, said: number) => said <= (droppedBefore.get(digest(foldedText(fact))) ?? -1)
  const drop = (old: Entry, at: number) => {
    const key = digest(foldedText(old.fact))
    dropped.delete(key)
    dropped.set(key, at)
    known.delete(foldedText(old.fact))
    entries = entries.filter((entry) => entry !== old)
  }

  for (const each of observations.toSorted(byTime)) {
    const { said } = each
    if (said <= clearedAt) continue
    if (!('fact' in each)) {
      const { isFact, isPreference } = retractedBy(each, comparable)
      for (const old of entries) if (isFact(old) && isOlder(old, each)) drop(old, said)
      for (const [key, value] of Object.entries(preferences)) {
        const origin = origins[key] ?? { said: 0 }
        if (!isPreference(key, value, origin) || !isOlder(origin, each)) continue
        delete preferences[key]
        delete origins[key]
      }
      continue
    }
    const { fact, preference, source } = each
    if (wasDropped(fact, said) || [...fact].length > LIMITS.fact) continue
    if (preference) {
      const key = Object.keys(preferences).find((other) => other.toLowerCase() === preference.key.toLowerCase()) ?? preference.key
      const isKnown = Object.hasOwn(preferences, key)
      if (isKnown && (preferences[key] === preference.value || !isOlder(origins[key] ?? { said: 0 }, each))) continue
      if (!isKnown && Object.keys(preferences).length >= LIMITS.preferences) continue
      preferences[key] = preference.value
      origins[key] = { said, source }
      continue
    }
    if (known.has(foldedText(fact))) continue
    const old = supersededEntry(entries, each, topicOfFact)
    if (old !== undefined && !isOlder(old, each)) continue
    if (old === undefined && entries.length >= LIMITS.facts) continue
    if (old !== undefined) drop(old, said)
    entries = [...entries, { id: newId(), fact, createdAt: now, said, source, ...(old && { supersedes: old.fact }) }]
    known.add(foldedText(fact))
    dropped.delete(digest(foldedText(fact)))
  }
  const had = new Set(before)
  const added = entries.filter((entry) => !had.has(entry)).length +
    Object.keys(preferences).filter((key) => preferences[key] !== memory.preferences[key]).length
  const isSame = added === 0 && entries.length === before.length &&
    Object.keys(preferences).length === Object.keys(memory.preferences).length
  return isSame
    ? { added }
    : {
        added,
        changes: {
          ...withEntries(entries),
          preferences,
          origins,
          dropped: [...dropped].slice(-MAX_DROPPED).map(([key, at]) => ({ key, at }))
        }
      }
}

/** Caches the results of a function of a fact. */
function memoize<T> (read: (fact: string) => T): (fact: string) => T {
  const results = new Map<string, T>()
  return (fact) => {
    if (!results.has(fact)) results.set(fact, read(fact))
    return results.get(fact)!
  }
}

interface Utterance {
  said: number
  source?: Pick<FactSource, 'threadId' | 'message'>
}

/** Orders by time, then by the position of the message. */
const byTime = (a: Utterance, b: Utterance) => a.said - b.said || (a.source?.message ?? 0) - (b.source?.message ?? 0)

/** Whether `old` was said before `each`. At the same time, another thread counts as before. */
const isOlder = (old: Utterance, each: Utterance) =>
  (old.source?.threadId === each.source?.threadId ? byTime(old, each) : old.said - each.said) <= 0

/** Predicates for the facts and preferences that a retraction drops. */
function retractedBy (retraction: Retraction, comparable: typeof bare) {
  if ('message' in retraction) {
    const isFrom = (source?: FactSource) =>
      source?.threadId === retraction.source.threadId && source.message === retraction.message && retraction.text.includes(source.span)
    return {
      isFact: ({ source }: Entry) => isFrom(source),
      isPreference: (_key: string, _value: string, { source }: { source?: FactSource }) => isFrom(source)
    }
  }
  const statement = bare(retraction.statement)
  const { preference } = readStatement({ text: retraction.statement, mark: '' }) ?? {}
  const isSame = (a: string, b?: string) => a.toLowerCase() === b?.toLowerCase()
  return {
    isFact: ({ fact }: Entry) => comparable(fact) === statement,
    isPreference: (key: string, value: string) => isSame(key, preference?.key) && isSame(value, preference?.value)
  }
}

/** The entry that a statement replaces: the entry with its topic; for a correction also the last of its kind in the same thread. */
function supersededEntry (
  entries: Entry[],
  { topic, kind, isCorrection, source }: Observed,
  topicOfFact: typeof topicOf
): Entry | undefined {
  if (topic !== undefined) return entries.findLast(({ fact }) => topicOfFact(fact).topic === topic)
  if (kind !== undefined && isCorrection) {
    return entries.findLast((entry) => entry.source?.threadId === source.threadId && topicOfFact(entry.fact).kind === kind)
  }
  return undefined
}
