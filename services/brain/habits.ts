import { newId } from '../lib/ids.ts'
import { foldText } from './fact-text.ts'
import type { Habit, Memory } from './memory.ts'

/** A request of the user that may recur, in their own words, and where it stands. */
export interface Habitual {
  pattern: string
  /** Id of the known habit that it is an instance of. */
  same?: string
  at: number
  evidence: { threadId: string } | { taskId: string }
}

/** Habits and patterns that are kept, and the pieces of evidence of each; the oldest go. */
const MAX_HABITS = 200
const MAX_EVIDENCE = 20

/** Counts requests towards habits. A thread or a run counts once for a habit; what the user removed does not count again. */
export function observeHabits (
  memory: Memory,
  observed: Habitual[],
  { now, digest }: { now: number, digest: (text: string) => string }
): Memory {
  let { habits } = memory
  for (const { pattern, same, at, evidence } of observed) {
    const text = foldText(pattern)
    if (at <= (memory.clearedAt ?? -1) || memory.dropped.some(({ key }) => key === digest(text))) continue
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
