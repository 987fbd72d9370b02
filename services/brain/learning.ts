import { LIMITS, type FactSource } from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'
import { add, hasKey, hide, isFull, sameEntry, trim } from './entry-changes.ts'
import { forgetAll, wasForgotten } from './forget-about.ts'
import { type Entry, type FactKind, foldEntry, freshIn, type Habit, isProtected, type Memory, ofKind } from './memory.ts'
import { foldText } from './fact-text.ts'
import { shareSubject } from './recall/terms.ts'

/** A statement of the user in their own words, and its effect on the memory. */
export interface Statement {
  kind: FactKind
  /** Whole sentences of the message, unchanged. */
  fact: string
  key?: string
  value?: string
  /** Ids of known entries that are no longer true. */
  replaces: string[]
  /** True if the statement only says that the entries in `replaces` are no longer true. */
  isRetraction: boolean
  /** A person has to confirm the statement, so it becomes a proposal. */
  isUnsure: boolean
  /** The statement matters in every conversation. */
  isImportant?: boolean
  asked?: string
  on?: string
  topics?: string[]
  /** A helper model, not the user, named the entries in `replaces`. */
  isAdvice?: true
  /** Retractions only: the user wanted the entries forgotten, so they are erased after some time. */
  isForgotten?: boolean
}

/** A statement, with the time (milliseconds since the Unix epoch) and place at which it was made. */
export interface Learning extends Statement {
  said: number
  source: FactSource
}

/** The memory after learning, and the entries that became known, proposed or replaced. */
export interface Learned {
  memory: Memory
  known: Entry[]
  proposed: Entry[]
  replaced: Entry[]
}

/**
 * Adds statements to the memory, in the order of their times. A statement changes nothing if it is known, was removed
 * after it was made, or is older than the entry that it would replace. Replaced entries are hidden. Some statements become
 * proposals: instructions; unsure statements; statements that would replace a typed, confirmed or pinned entry; and
 * statements of which only a helper model says that they replace an entry, if the statement and the entry share no term.
 */
export function learn (
  memory: Memory,
  learnings: Learning[],
  { now, digest }: { now: number, digest: (text: string) => string }
): Learned {
  const before = memory
  for (const learning of learnings.toSorted(byTime)) memory = learnOne(memory, learning, now, digest)
  memory = trim(memory, digest)
  const fresh = freshIn(before, memory)
  return { memory, known: fresh('known'), proposed: fresh('proposed'), replaced: fresh('replaced') }
}

function learnOne (memory: Memory, learning: Learning, now: number, digest: (text: string) => string): Memory {
  const { kind, fact, key, value, said, source, isRetraction } = learning
  if (said <= (memory.clearedAt ?? -1) || [...fact].length > LIMITS.fact) return memory
  const text = foldEntry(learning)
  if (said <= (memory.dropped.find((each) => each.key === digest(text))?.at ?? -1)) return memory
  if (!isRetraction && wasForgotten(memory, [fact, value ?? '', key ?? '', learning.asked ?? ''].join('\n'), said, digest)) return memory

  const same = isRetraction ? undefined : sameEntry(memory, learning)
  const isOfKey = key !== undefined && !isRetraction ? hasKey(key) : () => false
  const targets = memory.entries.filter((entry) =>
    entry !== same && entry.state === 'known' && (learning.replaces.includes(entry.id) || isOfKey(entry))
  )
  if (!targets.every((target) => isOlder(target, learning))) return memory
  if (isRetraction && targets.length === 0) return memory
  // The statement was made before the one that replaced it.
  if (same?.state === 'replaced' && said <= (same.replacedAt ?? 0)) return memory

  const replaces = targets.map(({ id }) => id)
  const isDoubtful = targets.some((target) =>
    isProtected(target) || (learning.isAdvice && !isOfKey(target) && !shareSubject(target, learning)))
  if (same?.state === 'known') return isDoubtful || learning.isUnsure ? memory : hide(memory, replaces, said, same)
  const isProposal = learning.isUnsure || isDoubtful || (kind === 'instruction' && !isRetraction)
  if (isProposal && same?.state === 'proposed') return memory
  if (isRetraction && !isProposal) {
    return learning.isForgotten ? forgetAll(memory, { entries: targets, habits: [] }, now, digest) : hide(memory, replaces, said)
  }
  if (isRetraction && isProposed(memory, text)) return memory
  if (!isProposal && isFull(memory, kind) && !targets.some((target) => target.kind === kind)) return memory

  const entry: Entry = {
    id: newId(),
    kind,
    state: isProposal ? 'proposed' : 'known',
    fact,
    ...(key !== undefined && { key: knownKey(memory, key), value }),
    createdAt: now,
    said,
    source,
    ...(isRetraction && { retracts: true as const }),
    ...(learning.isImportant && { important: true as const }),
    ...(learning.asked !== undefined && { asked: learning.asked }),
    ...(learning.on !== undefined && { on: learning.on }),
    ...(learning.topics !== undefined && { topics: learning.topics }),
    ...(replaces.length > 0 && { replaces, supersedes: targets.at(-1)!.fact })
  }
  return add(isProposal ? memory : hide(memory, replaces, said, entry), entry)
}

/** Returns the key in the spelling of the known preference, if there is one. */
const knownKey = (memory: Memory, key: string) => ofKind(memory, 'preference').find(hasKey(key))?.key ?? key

const isProposed = ({ entries }: Memory, text: string) =>
  entries.some((entry) => entry.state === 'proposed' && entry.retracts && foldEntry(entry) === text)

interface Utterance {
  said: number
  source?: Pick<FactSource, 'threadId' | 'message'>
}

/** Sorts by time, then by the position of the message in its thread. */
const byTime = (a: Utterance, b: Utterance) => a.said - b.said || (a.source?.message ?? 0) - (b.source?.message ?? 0)

/** True if `old` was said before `each` or at the same time. Within one thread, the position of the message decides between equal times. */
const isOlder = (old: Utterance, each: Utterance) =>
  (old.source?.threadId === each.source?.threadId ? byTime(old, each) : old.said - each.said) <= 0

/** A request of the user that might recur, in the user's own words, and the thread or task that contains it. */
export interface Habitual {
  pattern: string
  /** The id of the known habit that this request repeats. */
  same?: string
  at: number
  evidence: { threadId: string } | { taskId: string }
}

/** The most habits that are stored, and the most pieces of evidence for each. The oldest are dropped. */
const MAX_HABITS = 200
const MAX_EVIDENCE = 20

/**
 * Counts requests as evidence for habits. Each thread or run counts once for a habit. Habits that the user removed are not created again.
 */
export function observeHabits (
  memory: Memory,
  observed: Habitual[],
  { now, digest }: { now: number, digest: (text: string) => string }
): Memory {
  let { habits } = memory
  for (const { pattern, same, at, evidence } of observed) {
    const text = foldText(pattern)
    if (at <= (memory.clearedAt ?? -1) || memory.dropped.some(({ key }) => key === digest(text))) continue
    if (wasForgotten(memory, pattern, at, digest)) continue
    const known = habits.find(({ id, pattern }) => id === same || foldText(pattern) === text)
    const isCounted = known?.evidence.some((each) =>
      'threadId' in evidence ? each.threadId === evidence.threadId : each.taskId === evidence.taskId && each.at === at
    )
    if (isCounted) continue
    const changed: Habit = known === undefined
      ? { id: newId(), pattern, evidence: [{ ...evidence, at }], updatedAt: now }
      : { ...known, evidence: [...known.evidence, { ...evidence, at }].slice(-MAX_EVIDENCE), updatedAt: now }
    habits = [...habits.filter((habit) => habit !== known), changed].slice(-MAX_HABITS)
  }
  return habits === memory.habits ? memory : { ...memory, habits }
}
