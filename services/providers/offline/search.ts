import type { Clause, Command } from './clause.ts'

const WEB = 'web|internet|net|google'
const LOCAL = 'search|in|inside|within|for the|my|all|this|these* file|files|folder|folders|directory|code|project|workspace|repository'

/** Reads a clause that searches the web. A search in files is not read, because no tool does it. */
export function readSearch (clause: Clause): Command[] | undefined {
  const { tokens, message } = clause
  clause.take('do|make|run a|an')
  const isSure = clause.take(`search the? ${WEB}|online for|about? :?`) || clause.take(`${WEB}|online search for|about? :?`) ||
    clause.take('search|google for|about? :?') || clause.take('look up :?')
  const start = isSure || clause.take('find|look for?') ? clause.at : Infinity
  const startsAt = (pattern: string) => (_: unknown, at: number) => {
    clause.at = at
    return clause.take(pattern) && (pattern === LOCAL || clause.isOver)
  }
  if (tokens.some(startsAt(LOCAL))) return undefined
  const onWeb = tokens.findIndex((_, at) => at > start && [`in|on the? ${WEB}`, 'online'].some((pattern) => startsAt(pattern)(_, at)))
  clause.at = tokens.length
  const query = tokens.slice(start, onWeb < 0 ? undefined : onWeb)
  if (query.length === 0 || (!isSure && onWeb < 0)) return undefined
  const [first] = query
  return [{ toolName: 'webSearch', input: { query: query.length === 1 ? first.text : message.slice(first.start, query.at(-1)!.end) } }]
}
