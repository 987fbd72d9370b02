import type { Clause } from './clause.ts'
import { readPath, readPaths } from './paths.ts'
import { parseObject } from './quotes.ts'

const URL = /^https?:\/\/\S+$/i
const HOST = /^(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]\S*)?$/i
const toEnd = (clause: Clause) => (clause.at = clause.tokens.length)

/** The placeholders of patterns. Each moves the clause behind its value and returns the value; undefined when nothing fits. */
const PLACEHOLDERS = {
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
export type Values = { [Name in keyof typeof PLACEHOLDERS]: NonNullable<ReturnType<typeof PLACEHOLDERS[Name]>> } & {
  /** The text up to the last place where the rest of the pattern fits. */
  text: string
}

/** Reads a whole clause by a pattern: words in the syntax of `after`, and placeholders in braces. Returns their values. */
export function match (pattern: string, clause: Clause): Values | undefined {
  clause.at = 0
  // The rule that reads the values knows which placeholders its pattern has.
  return matchItems(pattern.split(/ (?=\{)|(?<=\}) /), clause, {}) as Values | undefined
}

function matchItems ([item, ...items]: string[], clause: Clause, values: Partial<Values>): Partial<Values> | undefined {
  if (item === undefined) return clause.isOver ? values : undefined
  if (!item.startsWith('{')) return clause.take(item) ? matchItems(items, clause, values) : undefined
  if (item !== '{text}') {
    const name = item.slice(1, -1) as keyof typeof PLACEHOLDERS
    const value = PLACEHOLDERS[name](clause)
    return value === undefined ? undefined : matchItems(items, clause, { ...values, [name]: value })
  }
  const { at, tokens } = clause
  for (let end = tokens.length - 1; end > at; end--) {
    clause.at = end
    const found = matchItems(items, clause, { ...values, text: clause.textOf(at, end) })
    if (found) return found
  }
  return undefined
}
