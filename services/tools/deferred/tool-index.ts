import MiniSearch, { type Options, type SearchOptions } from 'minisearch'
import type { Tool } from '../../contracts/tool.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import type { MergedTool } from '../sources.ts'
import { meaningsOf, stemsIn } from './tool-words.ts'

/** What of the texts of a tool counts how much. */
const BOOST = { name: 1.5, server: 3, summary: 3, description: 0.5, parameters: 0.6 }
/** Characters of a text that are read: what a tool does is said at its beginning. */
const SUMMARY = 240
const LONGEST = 1_000

type Indexed = Tool & Partial<Pick<MergedTool, 'source'>>

const OPTIONS: Options = {
  idField: 'at',
  fields: Object.keys(BOOST),
  tokenize: stemsIn,
  processTerm: (term) => [term, ...meaningsOf(term)]
}
const isMeaning = (term: string) => term.startsWith('=')
/** A word finds those that begin with it, too; a meaning finds no other. */
const QUERY: SearchOptions = {
  boost: BOOST,
  tokenize: (term) => [term],
  processTerm: (term) => term,
  bm25: { k: 1.2, b: 0.75, d: 0 },
  prefix: (term) => !isMeaning(term) && term.length > 3,
  weights: { prefix: 0.3, fuzzy: 0.1 }
}

/** Returns the names and descriptions of the parameters that a schema describes, at any depth. */
function parametersOf (schema: unknown, depth = 0): string {
  if (typeof schema !== 'object' || schema === null || depth > 6) return ''
  const texts: string[] = []
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && typeof value === 'object' && value !== null) texts.push(...Object.keys(value))
    if ((key === 'description' || key === 'title') && typeof value === 'string') texts.push(value)
    if (key === 'enum' && Array.isArray(value)) texts.push(...value.filter((each) => typeof each === 'string'))
    if (typeof value === 'object') texts.push(parametersOf(value, depth + 1))
  }
  return texts.join(' ').slice(0, LONGEST)
}

/** Returns a function that ranks tools by what a query says, the best first; it indexes them anew only when they are others. */
export function createToolSearch () {
  let indexed: { tools: readonly Tool[], find: ReturnType<typeof createToolIndex> } | undefined
  const isSame = (a: Tool, b: Tool) => a.name === b.name && a.description === b.description && a.inputSchema === b.inputSchema

  return async (tools: readonly Tool[], query: string): Promise<Tool[]> => {
    if (indexed?.tools.length !== tools.length || indexed.tools.some((tool, at) => !isSame(tool, tools[at]))) {
      indexed = { tools, find: createToolIndex(tools) }
    }
    const find = await indexed.find
    const named = tools.filter(({ name }) => name.toLowerCase() === query.trim().toLowerCase())
    return [...new Set([...named, ...find(query).map((at) => tools[at])])]
  }
}

async function createToolIndex (tools: readonly Indexed[]): Promise<(query: string) => number[]> {
  const index = new MiniSearch(OPTIONS)
  for (const [at, { name, source = '', description, inputSchema }] of tools.entries()) {
    index.add({
      at,
      name,
      server: source,
      summary: description.trim().slice(0, SUMMARY),
      description: description.slice(0, LONGEST),
      parameters: parametersOf(inputSchema)
    })
    await yieldToEventLoop()
  }
  return (query) => {
    const scores = new Map<number, number>()
    for (const word of new Set(stemsIn(query))) {
      // A word counts once, by the best of what it may mean: else words of many meanings would count most.
      const best = new Map<number, number>()
      for (const term of [word, ...meaningsOf(word)]) {
        for (const { id, score } of index.search(term, QUERY)) best.set(id, Math.max(best.get(id) ?? 0, score))
      }
      for (const [id, score] of best) scores.set(id, (scores.get(id) ?? 0) + score)
    }
    return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id)
  }
}
