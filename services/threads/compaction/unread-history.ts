import type { Item, Summary } from './items.ts'
import { droppedNote, summaryNote } from './units.ts'

/** The part of a thread before the messages that were read. */
export interface UnreadHistory {
  /** The position in the thread of the first message that was read. */
  at: number
  /** The number of unread messages, without the application's instructions. */
  messages: number
  /**
   * The number of the unread units (user messages, and model messages with their tool results) and their digest (see `chainsOf`), as in the
   * summary that replaces them.
   */
  units: number
  chain: string
  /** The estimated tokens of the unread messages. */
  tokens: number
}

/** Describes unread messages that no single summary covers exactly. `at` is the position of the first message that was read. */
export const unreadBefore = (at: number, messages: number, tokens: number): UnreadHistory => ({
  at,
  messages,
  units: at,
  chain: `from ${at}`,
  tokens
})

/** Returns the part of the thread that a summary covers; undefined unless that part is known to be the beginning of the thread. */
export function coveredHistory ({ from, to, chain, at, tokens = 0 }: Summary): Omit<UnreadHistory, 'messages'> | undefined {
  return from === 0 && at !== undefined ? { at, units: to, chain, tokens } : undefined
}

/**
 * Makes the item that represents the unread messages in prompts: their summary, or the newest summary of a part of them with a note about
 * the rest. `gap` is the number of messages in the rest. The item counts as a summary, so the next summary includes it.
 */
export function itemOf ({ at, messages, units, chain, tokens }: UnreadHistory, summaries: Summary[]): { item: Item, gap: number } {
  const known = summaries.filter((summary) => (coveredHistory(summary)?.at ?? Infinity) <= at).sort((a, b) => b.at! - a.at!)[0]
  const gap = known === undefined ? messages : at - known.at!
  const unknown = `${gap} messages ${known === undefined ? 'at the beginning' : 'after that'} are not known.`
  const text = known === undefined ? unknown : gap === 0 ? known.text : `${known.text}\n\n${unknown}`
  const summary = { from: 0, to: units, chain, text, refused: known?.refused ?? [], said: known?.said ?? [], at, tokens }
  const shown = known === undefined ? droppedNote(messages, [], []) : summaryNote(summary)
  return known === undefined
    ? { item: { from: 0, to: units, raw: [], shown, summary, isUnknown: true, isProtected: false, messages }, gap: 0 }
    : { item: { from: 0, to: units, raw: [], shown, summary, isProtected: false, messages: messages - gap }, gap }
}
