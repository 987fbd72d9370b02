import type { Clause } from './clause.ts'
import { readPath, readPaths } from './paths.ts'
import { parseObject } from './quotes.ts'

const URL = /^https?:\/\/\S+$/i
const HOST = /^(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]\S*)?$/i
const toEnd = (clause: Clause) => (clause.at = clause.tokens.length)

/** The slots of patterns. Each moves the clause behind its value and returns the value; undefined when the slot does not fit. */
const SLOTS = {
  path: (clause: Clause) => readPath(clause, { here: false }),
  /** Paths, "here" and "this folder". */
  paths: (clause: Clause) => readPaths(clause),
  /** The same, and single words without dot and slash also in a list. */
  names: (clause: Clause) => readPaths(clause, { bare: true }),
  /** Paths, but not "here". */
  targets: (clause: Clause) => readPaths(clause, { here: false }),
  quote: (clause: Clause) => clause.next?.kind === 'quote' ? clause.takeToken()!.text : undefined,
  word: (clause: Clause) => clause.takeToken()?.text,
  object: (clause: Clause) => parseObject(clause.takeToken()?.text ?? ''),
  /** Options of a shell command, if there are any. */
  flags (clause: Clause) {
    const start = clause.at
    while (clause.next?.word.startsWith('-')) clause.at++
    return clause.tokens.slice(start, clause.at).map(({ word }) => word)
  },
  url (clause: Clause) {
    const url = clause.takeToken()?.text ?? ''
    return URL.test(url) ? url : undefined
  },
  /** A URL, or the name of a host. */
  address (clause: Clause) {
    const address = clause.takeToken()?.text ?? ''
    if (URL.test(address)) return address
    return HOST.test(address) ? `${address.startsWith('localhost') ? 'http' : 'https'}://${address}` : undefined
  },
  /** What is to be written into a file: a quotation, or else the rest as it was written. */
  content (clause: Clause) {
    const { next, written } = clause
    const isQuote = clause.takeToken()?.kind === 'quote' && (clause.isOver || clause.take('in|to|into|inside it')) && clause.isOver
    toEnd(clause)
    return isQuote ? next!.text : next && written
  },
  /** The rest of the clause; a quotation loses its quotes. */
  rest: (clause: Clause) => clause.isOver ? undefined : clause.textOf(clause.at, toEnd(clause))
}
export type Slots = { [Name in keyof typeof SLOTS]: NonNullable<ReturnType<typeof SLOTS[Name]>> } & {
  /** The text up to the last place where the rest of the pattern fits. */
  text: string
}

/** Reads a whole clause by a pattern: words in the syntax of `after`, and names of slots in braces. Returns the values of the slots. */
export function match (pattern: string, clause: Clause): Slots | undefined {
  clause.at = 0
  // The rule that reads the values knows which slots its pattern has.
  return matchItems(pattern.split(/ (?=\{)|(?<=\}) /), clause, {}) as Slots | undefined
}

function matchItems ([item, ...items]: string[], clause: Clause, slots: Partial<Slots>): Partial<Slots> | undefined {
  if (item === undefined) return clause.isOver ? slots : undefined
  if (!item.startsWith('{')) return clause.take(item) ? matchItems(items, clause, slots) : undefined
  if (item !== '{text}') {
    const name = item.slice(1, -1) as keyof typeof SLOTS
    const value = SLOTS[name](clause)
    return value === undefined ? undefined : matchItems(items, clause, { ...slots, [name]: value })
  }
  const { at, tokens } = clause
  for (let end = tokens.length - 1; end > at; end--) {
    clause.at = end
    const found = matchItems(items, clause, { ...slots, text: clause.textOf(at, end) })
    if (found) return found
  }
  return undefined
}
