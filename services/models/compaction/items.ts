import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { pruned } from './prune-outputs.ts'
import { droppedNote, refusalsIn, summaryNote } from './summarise.ts'
import { isOpen, type Unit } from './units.ts'

/** What stands for a conversation's units `from` to `to` (that one not among them) before the model, while their `chain` is the same. */
export interface Summary {
  from: number
  to: number
  chain: string
  text: string
  refused: string[]
  /** Where in the thread the first message stands that it is not of, and how many tokens those before are; only where that is known. */
  at?: number
  tokens?: number
}

/** Units as they are, and what the model is shown of them. */
export interface Item {
  from: number
  to: number
  raw: Unit[]
  shown: Unit
  summary?: Summary
  /** The summary says no more than that nothing is known of them. */
  isUnknown?: true
  isProtected: boolean
  /** How many messages it is of. */
  messages: number
}

/** Whether a summary stands for the item. */
export const isSummed = ({ summary, isUnknown }: Item): boolean => summary !== undefined && !isUnknown

export const tokensOfAll = (items: Item[]): number => items.reduce((tokens, { shown }) => tokens + shown.tokens, 0)
export const messagesIn = (items: Iterable<Item>): number => {
  let count = 0
  for (const { messages } of items) count += messages
  return count
}

/**
 * Every unit as an item; the first unit is the conversation's `offset`-th. Protected are the user's latest message, which
 * is the `latest`-th unit here, those right before it and what they said since, the newest step, and calls without a result.
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

/**
 * Leaves old outputs out, the oldest first: of the items from `from` to `to` (that one not among them) all, then more
 * until `excess` tokens are saved. The newest item's stay. Returns before which item none is left, and what was saved.
 */
export async function prune (
  items: Item[],
  { from, to, excess }: { from: number, to: number, excess: number }
): Promise<{ to: number, saved: number }> {
  let saved = 0
  let at = from
  for (; at < items.length - 1 && (at < to || saved < excess); at++) {
    const { tokens } = items[at].shown
    items[at].shown = pruned(items[at].shown)
    saved += tokens - items[at].shown.tokens
    await yieldToEventLoop()
  }
  return { to: Math.max(to, at), saved }
}

/** The items with summaries in the place of what those stand for, as far as it is still the same: `chainAt` names the units before one. */
export function withSummaries (items: Item[], summaries: Summary[], chainAt: (unit: number) => string | undefined): Item[] {
  let result = items
  // The one that stands for most is taken first; what lies in it is then gone.
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

/** The oldest items that are too much when `room` tokens are to hold the rest, as runs between protected ones. */
export function tooOld (items: Item[], room: number): Item[][] {
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

/** What the word in the place of dropped items may cost. */
const WORD_TOKENS = 100

/** The items without the oldest, to be rid of `excess` tokens; summaries go last. A word stands in the place of the first. */
export async function dropOldest (items: Item[], excess: number): Promise<{ items: Item[], messages: number }> {
  const gone = new Set<Item>()
  let left = excess + WORD_TOKENS
  for (const isSummary of [false, true]) {
    for (const item of items) {
      if (left <= 0) break
      if (item.isProtected || isSummed(item) !== isSummary) continue
      gone.add(item)
      left -= item.shown.tokens
    }
  }
  if (gone.size === 0) return { items, messages: 0 }
  const refused: string[] = []
  for (const { raw, summary } of gone) {
    for (const line of summary?.refused ?? refusalsIn(raw)) refused.push(line)
    await yieldToEventLoop()
  }
  const messages = messagesIn(gone)
  const first = items.find((item) => gone.has(item))
  const word: Item = { from: -1, to: -1, raw: [], shown: droppedNote(messages, refused), isProtected: true, messages: 0 }
  return { items: items.flatMap((item) => item === first ? [word] : gone.has(item) ? [] : [item]), messages }
}
