import { LIMITS, type FactSource } from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'
import { entriesOf, foldedText, withEntries, type Entry, type Memory } from './memory.ts'
import { bare } from './extraction/english/denials.ts'
import { readStatement, topicOf, type Statement } from './extraction/english/statements.ts'

/** A statement of the user, and where and when it was made. */
export interface Observed extends Omit<Statement, 'text'> {
  fact: string
  source: FactSource
  said: number
}

/** The user's word that a statement holds no more, or that one message of theirs was not true. */
export type Retraction =
  & { said: number, source: Pick<FactSource, 'threadId' | 'message'> }
  & ({ statement: string } | { message: number, text: string })

/** Statements that count no more; the oldest are forgotten beyond these. */
const DROPPED_KEPT = 5_000

/**
 * What a memory becomes by what was heard, in the order it was said. What is known, was removed since it was said, or
 * is older than what is known of the same topic changes nothing; a newer statement takes the place of the older one, and
 * what the user unsays is dropped.
 */
export function mergeStatements (
  memory: Memory,
  heard: Array<Observed | Retraction>,
  { now, digest }: { now: number, digest: (text: string) => string }
): { changes?: Partial<Memory>, added: number } {
  const { clearedAt = -1 } = memory
  const before = entriesOf(memory)
  let entries = before
  const known = new Set(entries.map(({ fact }) => foldedText(fact)))
  const gone = new Map((memory.dropped ?? []).map(({ key, at }) => [key, at]))
  const dropped = new Map(gone)
  const preferences = { ...memory.preferences }
  const origins = { ...memory.origins }
  const about = once(topicOf)
  const plain = once(bare)

  // By what was dropped before: among these their order tells.
  const isGone = (fact: string, said: number) => said <= (gone.get(digest(foldedText(fact))) ?? -1)
  const drop = (old: Entry, at: number) => {
    const key = digest(foldedText(old.fact))
    dropped.delete(key)
    dropped.set(key, at)
    known.delete(foldedText(old.fact))
    entries = entries.filter((entry) => entry !== old)
  }

  for (const each of heard.toSorted(bySaying)) {
    const { said } = each
    if (said <= clearedAt) continue
    if (!('fact' in each)) {
      const { isFact, isPreference } = unsaidBy(each, plain)
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
    if (isGone(fact, said) || [...fact].length > LIMITS.fact) continue
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
    const old = superseded(entries, each, about)
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
          dropped: [...dropped].slice(-DROPPED_KEPT).map(([key, at]) => ({ key, at }))
        }
      }
}

/** A function of a fact that reads each once. */
function once<T> (read: (fact: string) => T): (fact: string) => T {
  const results = new Map<string, T>()
  return (fact) => {
    if (!results.has(fact)) results.set(fact, read(fact))
    return results.get(fact)!
  }
}

interface Saying {
  said: number
  source?: Pick<FactSource, 'threadId' | 'message'>
}

/** By when it was said; what came at one time, by its place. */
const bySaying = (a: Saying, b: Saying) => a.said - b.said || (a.source?.message ?? 0) - (b.source?.message ?? 0)

/** Whether `old` was said before `each`, or at the same time but in another thread. */
const isOlder = (old: Saying, each: Saying) =>
  (old.source?.threadId === each.source?.threadId ? bySaying(old, each) : old.said - each.said) <= 0

/** What holds no more by the user's word. */
function unsaidBy (unsaid: Retraction, plain: typeof bare) {
  if ('message' in unsaid) {
    const isFrom = (source?: FactSource) =>
      source?.threadId === unsaid.source.threadId && source.message === unsaid.message && unsaid.text.includes(source.span)
    return {
      isFact: ({ source }: Entry) => isFrom(source),
      isPreference: (_key: string, _value: string, { source }: { source?: FactSource }) => isFrom(source)
    }
  }
  const statement = bare(unsaid.statement)
  const { preference } = readStatement({ text: unsaid.statement, mark: '' }) ?? {}
  const isSame = (a: string, b?: string) => a.toLowerCase() === b?.toLowerCase()
  return {
    isFact: ({ fact }: Entry) => plain(fact) === statement,
    isPreference: (key: string, value: string) => isSame(key, preference?.key) && isSame(value, preference?.value)
  }
}

/** What a statement takes the place of: the one of its topic; a correction also the last of its kind in the same thread. */
function superseded (entries: Entry[], { topic, kind, isCorrection, source }: Observed, about: typeof topicOf): Entry | undefined {
  if (topic !== undefined) return entries.findLast(({ fact }) => about(fact).topic === topic)
  if (kind !== undefined && isCorrection) {
    return entries.findLast((entry) => entry.source?.threadId === source.threadId && about(entry.fact).kind === kind)
  }
  return undefined
}
