import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { cutWords, ownWordsIn, tokensInAll } from './user-words-kept.ts'
import { droppedNote, isOpen, pruned, refusalsIn, summaryNote, type Unit } from './units.ts'

/**
 * A summary that replaces the units `from` to `to` (exclusive) of a conversation in prompts, as long as their digest (see `chainsOf`) is
 * `chain`. A unit is a user message, or a model message with its tool results.
 */
export interface Summary {
  from: number
  to: number
  chain: string
  text: string
  refused: string[]
  /** The user's own words in these units, shortened to a budget, oldest first. */
  said: string[]
  /**
   * The position in the thread of the first message after the summary, and the tokens of the messages before that position; undefined if
   * unknown.
   */
  at?: number
  tokens?: number
}

/** Units, and the form in which the model gets them. */
export interface Item {
  from: number
  to: number
  raw: Unit[]
  shown: Unit
  summary?: Summary
  /** The summary says only that the content of these units is unknown. */
  isUnknown?: true
  isProtected: boolean
  /** The number of messages in the units. */
  messages: number
}

/** Whether a summary replaces the units of the item. */
export const isSummarised = ({ summary, isUnknown }: Item): boolean => summary !== undefined && !isUnknown

export const tokensOfAll = (items: Item[]): number => items.reduce((tokens, { shown }) => tokens + shown.tokens, 0)
export const messagesIn = (items: Iterable<Item>): number => {
  let count = 0
  for (const { messages } of items) count += messages
  return count
}

/**
 * Makes an item of each unit. The first unit has the number `offset` in the conversation. These items are protected from compaction: the
 * user's latest message (unit `latest`), user messages directly before it and all after it, the newest step, and calls without a result.
 */
export async function itemsOf (units: Unit[], latest: number, offset = 0): Promise<Item[]> {
  let first = latest
  while (first > 0 && units[first - 1].role === 'user') first--
  const items: Item[] = []
  for (const [at, raw] of units.entries()) {
    const isProtected = at === units.length - 1 || (at >= first && raw.role === 'user') || isOpen(raw)
    items.push({ from: offset + at, to: offset + at + 1, raw: [raw], shown: raw, isProtected, messages: raw.messages.length })
    await yieldToEventLoop()
  }
  return items
}

/** Leaves out tool outputs, the oldest first, until `excess` tokens are saved. The newest item keeps its outputs. */
export async function prune (items: Item[], excess: number): Promise<Item[]> {
  const result = [...items]
  let saved = 0
  for (let at = 0; at < items.length - 1 && saved < excess; at++) {
    const shown = pruned(items[at].shown)
    saved += items[at].shown.tokens - shown.tokens
    result[at] = { ...items[at], shown }
    await yieldToEventLoop()
  }
  return result
}

/**
 * Replaces items by the summaries that are still valid for them. `chainAt` returns the chain (see `chainsOf`) of all units before a unit.
 */
export function withSummaries (items: Item[], summaries: Summary[], chainAt: (unit: number) => string | undefined): Item[] {
  let result = items
  // The largest summary goes first, because it replaces the items of summaries inside it.
  for (const summary of summaries.toSorted((a, b) => (b.to - b.from) - (a.to - a.from))) {
    if (chainAt(summary.to) !== summary.chain) continue
    const first = result.findIndex(({ from }) => from === summary.from)
    const last = result.findIndex(({ to }) => to === summary.to)
    if (first === -1 || last < first) continue
    const inside = result.slice(first, last + 1)
    if (inside.some(({ isProtected }) => isProtected)) continue
    const item = {
      from: summary.from,
      to: summary.to,
      raw: inside.flatMap(({ raw }) => raw),
      shown: summaryNote(summary),
      summary,
      isProtected: false,
      messages: messagesIn(inside)
    }
    result = [...result.slice(0, first), item, ...result.slice(last + 1)]
  }
  return result
}

/**
 * Returns the oldest unprotected items that must be removed so that the rest fits into `room` tokens. The items are grouped into sequences
 * that no other item interrupts.
 */
export function oldestRuns (items: Item[], room: number): Item[][] {
  const free = items.filter(({ isProtected }) => !isProtected)
  let count = free.length
  for (let left = room; count > 0 && (left -= free[count - 1].shown.tokens) >= 0;) count--
  const old = new Set(free.slice(0, count))
  const runs: Item[][] = []
  let isOpenRun = false
  for (const item of items) {
    if (old.has(item) && isOpenRun) runs.at(-1)!.push(item)
    else if (old.has(item)) runs.push([item])
    isOpenRun = old.has(item)
  }
  return runs
}

/** Returns the user's own words in the units of an item. */
export const saidIn = ({ raw, summary }: Item): string[] => summary?.said ?? ownWordsIn(raw)

/** The estimated size of the note that replaces dropped items, tokens. */
const NOTE_TOKENS = 100

/**
 * Drops the oldest items to save `excess` tokens; summaries are dropped last. A note in place of the first dropped item has the user's
 * words from all dropped items, shortened to `room` tokens. `messages` is the number of dropped messages.
 */
export async function dropOldest (items: Item[], excess: number, room: number): Promise<{ items: Item[], messages: number }> {
  const dropped = new Set<Item>()
  let left = excess + NOTE_TOKENS
  let words = 0
  for (const isSummary of [false, true]) {
    for (const item of items) {
      if (left <= 0) break
      if (item.isProtected || isSummarised(item) !== isSummary) continue
      dropped.add(item)
      const before = Math.min(words, room)
      words += tokensInAll(saidIn(item))
      left += Math.min(words, room) - before - item.shown.tokens
    }
  }
  if (dropped.size === 0) return { items, messages: 0 }
  const refused: string[] = []
  const said: string[] = []
  for (const item of items.filter((each) => dropped.has(each))) {
    for (const line of item.summary?.refused ?? refusalsIn(item.raw)) refused.push(line)
    for (const text of saidIn(item)) said.push(text)
    await yieldToEventLoop()
  }
  const messages = messagesIn(dropped)
  const first = items.find((item) => dropped.has(item))
  const shown = droppedNote(messages, refused, cutWords(said, room))
  const note: Item = { from: -1, to: -1, raw: [], shown, isProtected: true, messages: 0 }
  return { items: items.flatMap((item) => item === first ? [note] : dropped.has(item) ? [] : [item]), messages }
}
