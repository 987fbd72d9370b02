import { LIMITS, type FactSource } from '../../schemas/brain.ts'
import { newId } from '../ids.ts'
import { entriesOf, folded, withEntries, type Entry, type Memory } from './memory.ts'
import { topicOf, type Statement } from './statements.ts'

/** A statement of the user, and where and when it was made. */
export interface Heard extends Omit<Statement, 'text'> {
  fact: string
  source: FactSource
  said: number
}

/** Statements that count no more; the oldest are forgotten beyond these. */
const DROPPED_KEPT = 5_000

/**
 * What a memory becomes by what was heard, in the order it was said. What is known, was removed since it was said, or
 * is older than what is known of the same topic changes nothing; a newer statement takes the place of the older one.
 */
export function take (memory: Memory, heard: Heard[], { now, digest }: { now: number, digest: (text: string) => string }): { changes?: Partial<Memory>, added: number } {
  const { clearedAt = -1 } = memory
  let entries = entriesOf(memory)
  const known = new Set(entries.map(({ fact }) => folded(fact)))
  const dropped = new Map((memory.dropped ?? []).map(({ key, at }) => [key, at]))
  const preferences = { ...memory.preferences }
  const origins = { ...memory.origins }
  let added = 0

  const isGone = ({ said, fact }: Heard) => said <= clearedAt || said <= (dropped.get(digest(folded(fact))) ?? -1)
  const drop = ({ fact }: Entry, at: number) => {
    const key = digest(folded(fact))
    dropped.delete(key)
    dropped.set(key, at)
  }

  const inOrder = heard.toSorted((a, b) => a.said - b.said)
  // Of a preference only the last word counts.
  const lastWord = new Map(inOrder.flatMap((each) => each.preference ? [[each.preference.key.toLowerCase(), each]] : []))

  for (const each of inOrder) {
    const { fact, source, said, preference } = each
    if (isGone(each) || [...fact].length > LIMITS.fact) continue
    if (preference) {
      if (lastWord.get(preference.key.toLowerCase()) !== each) continue
      const key = Object.keys(preferences).find((other) => other.toLowerCase() === preference.key.toLowerCase()) ?? preference.key
      const isKnown = Object.hasOwn(preferences, key)
      if (isKnown && (preferences[key] === preference.value || (origins[key]?.said ?? 0) > said)) continue
      if (!isKnown && Object.keys(preferences).length >= LIMITS.preferences) continue
      preferences[key] = preference.value
      origins[key] = { said, source }
      added++
      continue
    }
    if (known.has(folded(fact))) continue
    const old = superseded(entries, each)
    if (old !== undefined && old.said > said) continue
    if (old === undefined && entries.length >= LIMITS.facts) continue
    if (old !== undefined) {
      drop(old, Math.max(said, old.said))
      known.delete(folded(old.fact))
    }
    entries = [...entries.filter((entry) => entry !== old), { id: newId(), fact, createdAt: now, said, source, ...(old && { supersedes: old.fact }) }]
    known.add(folded(fact))
    added++
  }
  if (added === 0) return { added }
  return { added, changes: { ...withEntries(entries), preferences, origins, dropped: [...dropped].slice(-DROPPED_KEPT).map(([key, at]) => ({ key, at })) } }
}

/** What a statement takes the place of: the one of its topic; a correction also the last of its kind in the same thread. */
function superseded (entries: Entry[], { topic, kind, isCorrection, source }: Heard): Entry | undefined {
  if (topic !== undefined) return entries.findLast(({ fact }) => topicOf(fact).topic === topic)
  if (kind !== undefined && isCorrection) return entries.findLast((entry) => entry.source?.threadId === source.threadId && topicOf(entry.fact).kind === kind)
  return undefined
}
