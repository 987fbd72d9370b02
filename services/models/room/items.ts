import { pruned } from './prune.ts'
import { droppedNote, refusalsIn, summaryNote } from './summarise.ts'
import { isOpen, type Unit } from './units.ts'

/** What stands for a conversation's units `from` to `to` (that one not among them) before the model, while their `chain` is the same. */
export interface Summary { from: number, to: number, chain: string, text: string, refused: string[] }

/** Units as they are, and what the model is shown of them. */
export interface Item { from: number, to: number, raw: Unit[], shown: Unit, summary?: Summary, isProtected: boolean }

export const tokensOfAll = (items: Item[]): number => items.reduce((tokens, { shown }) => tokens + shown.tokens, 0)
export const messagesIn = (items: Item[]): number => items.reduce((count, { raw }) => count + raw.reduce((messages, unit) => messages + unit.messages.length, 0), 0)

/**
 * Every unit as an item. Protected are the user's latest message, those right before it and what they said since, the
 * newest step, and calls without a result.
 */
export function itemsOf (units: Unit[], latest: number): Item[] {
  let first = latest
  while (first > 0 && units[first - 1].role === 'user') first--
  return units.map((raw, at) => ({
    from: at, to: at + 1, raw: [raw], shown: raw, isProtected: at === units.length - 1 || (at >= first && raw.role === 'user') || isOpen(raw)
  }))
}

/**
 * Leaves old outputs out, the oldest first: those before unit `to`, then more until nothing is in `excess`. The newest
 * unit's stay. Returns before which unit none is left.
 */
export function prune (items: Item[], to: number, excess: () => number): number {
  for (const [at, item] of items.slice(0, -1).entries()) {
    if (at >= to && excess() <= 0) return at
    item.shown = pruned(item.shown)
  }
  return Math.max(to, items.length - 1)
}

/** The items with summaries in the place of what those stand for, as far as it is still the same. */
export function withSummaries (items: Item[], summaries: Summary[], chains: string[]): Item[] {
  let result = items
  // The one that stands for most is taken first; what lies in it is then gone.
  for (const summary of summaries.toSorted((a, b) => (b.to - b.from) - (a.to - a.from))) {
    if (chains[summary.to - 1] !== summary.chain) continue
    const first = result.findIndex(({ from }) => from === summary.from)
    const last = result.findIndex(({ to }) => to === summary.to)
    if (first === -1 || last < first) continue
    const inside = result.slice(first, last + 1)
    if (inside.some(({ isProtected }) => isProtected)) continue
    result = result.toSpliced(first, inside.length, { from: summary.from, to: summary.to, raw: inside.flatMap(({ raw }) => raw), shown: summaryNote(summary), summary, isProtected: false })
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
export function dropOldest (items: Item[], excess: number): { items: Item[], messages: number } {
  const gone = new Set<Item>()
  let left = excess + WORD_TOKENS
  for (const isSummary of [false, true]) {
    for (const item of items) {
      if (left <= 0 || item.isProtected || (item.summary !== undefined) !== isSummary) continue
      gone.add(item)
      left -= item.shown.tokens
    }
  }
  if (gone.size === 0) return { items, messages: 0 }
  const messages = messagesIn([...gone])
  const refused = [...gone].flatMap(({ raw, summary }) => summary?.refused ?? refusalsIn(raw))
  const first = items.find((item) => gone.has(item))
  const word: Item = { from: -1, to: -1, raw: [], shown: droppedNote(messages, refused), isProtected: true }
  return { items: items.flatMap((item) => item === first ? [word] : gone.has(item) ? [] : [item]), messages }
}
