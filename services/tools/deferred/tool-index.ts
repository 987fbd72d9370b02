import type { Tool } from '../../contracts/tool.ts'
import { countWhile } from '../../lib/count-while.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import type { MergedTool } from '../sources.ts'
import { alikeTo, indexedStems, queryStems } from './tool-words.ts'

/** The weight of each text of a tool in the score. */
const WEIGHTS = { name: 2, server: 3, summary: 2, description: 0.3, parameters: 0.3 }
/** The most characters that are indexed of a summary, and of any other text. Descriptions begin with what the tool does. */
const SUMMARY = 240
const LONGEST = 1_000

/** The weights of words that are not the query's own: a longer word that begins with a query word, and a word with the same meaning. */
const BEGINS = 0.4
const ALIKE = 0.6
/** The share of a server's score that is added to the score of each of its tools, and the factor for tools whose server the query names. */
const OF_SERVER = 0.5
const SERVER_NAMED = 2
/** The fewest letters of a query word that also matches longer words. */
const SHORTEST_BEGINNING = 4

type FoundTool = Tool & Partial<Pick<MergedTool, 'source' | 'title'>>
type Terms = Indexed<keyof typeof WEIGHTS>

/** Returns the names, descriptions and enum values of the parameters in a schema, as one text. */
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

function termsOf ({ model: { name, description, schema: inputSchema }, title = '', source = '' }: FoundTool): Terms {
  const termsIn = (text: string) => fieldTerms(indexedStems(text))
  return {
    name: termsIn(`${name} ${title}`),
    server: termsIn(source),
    summary: termsIn(description.trim().slice(0, SUMMARY)),
    description: termsIn(description.slice(0, LONGEST)),
    parameters: termsIn(parametersOf(inputSchema))
  }
}

/** Returns a function that ranks tools by the words of a query, best first. Tools are indexed again only when they have changed. */
export function createToolSearch () {
  /** The terms of each tool, extracted once for all searches. */
  const read = new WeakMap<Tool, Terms>()
  let indexed: { entries: readonly Terms[], rank: ReturnType<typeof createRanking> } | undefined

  async function readTerms (tool: FoundTool): Promise<Terms> {
    const known = read.get(tool)
    if (known !== undefined) return known
    const terms = termsOf(tool)
    read.set(tool, terms)
    await yieldToEventLoop()
    return terms
  }

  return async (tools: readonly FoundTool[], query: string): Promise<Tool[]> => {
    const entries: Terms[] = []
    for (const tool of tools) entries.push(await readTerms(tool))
    if (indexed?.entries.length !== entries.length || indexed.entries.some((entry, at) => entry !== entries[at])) {
      indexed = { entries, rank: createRanking(tools, entries) }
    }
    const rank = await indexed.rank
    const named = tools.filter(({ model: { name } }) => name.toLowerCase() === query.trim().toLowerCase())
    return [...new Set([...named, ...rank(query).map((at) => tools[at])])]
  }
}

/**
 * Returns a function that ranks tools by a query, and returns their positions. A tool's score combines its own terms with those of all
 * tools of its server.
 */
async function createRanking (tools: readonly FoundTool[], entries: readonly Terms[]): Promise<(query: string) => number[]> {
  const names = [...new Set(tools.map(({ source = '' }) => source))]
  const serverOf = tools.map(({ source = '' }) => names.indexOf(source))
  const membersOf = names.map((_, server) => entries.filter((_, at) => serverOf[at] === server))
  const fields = Object.keys(WEIGHTS) as Array<keyof typeof WEIGHTS>
  const index = await createFieldIndex(entries, WEIGHTS)
  const servers = await createFieldIndex(
    membersOf.map((members) =>
      Object.fromEntries(fields.map((field) => [field, joinedTerms(members.map((terms) => terms[field]))])) as unknown as Terms
    ),
    WEIGHTS
  )

  /** Adds the score of a query word to `sums`: the score of its best match. Adding up all matches would favour words with many synonyms. */
  function add (sums: Map<number, number>, word: string, from: FieldIndex) {
    const best = new Map<number, number>()
    const raise = (term: string, weight: number) => {
      for (const [at, score] of from.scores(term)) best.set(at, Math.max(best.get(at) ?? 0, score * weight))
    }
    raise(word, 1)
    if (word.length >= SHORTEST_BEGINNING) for (const longer of index.beginningWith(word)) raise(longer, BEGINS)
    for (const other of alikeTo(word)) raise(other, ALIKE)
    for (const [at, score] of best) sums.set(at, (sums.get(at) ?? 0) + score)
  }

  return (query) => {
    const words = queryStems(query, index.has)
    const sums = new Map<number, number>()
    const serverSums = new Map<number, number>()
    for (const word of words) {
      add(sums, word, index)
      add(serverSums, word, servers)
    }
    const isNamed = names.map((name) => {
      const stems = [...queryStems(name, index.has)]
      return stems.length > 0 && stems.every((each) => words.has(each))
    })
    const scoreOf = (at: number, sum: number) =>
      (sum + OF_SERVER * (serverSums.get(serverOf[at]) ?? 0)) * (isNamed[serverOf[at]] ? SERVER_NAMED : 1)
    return [...sums].map(([at, sum]) => [at, scoreOf(at, sum)]).sort(([, a], [, b]) => b - a).map(([at]) => at)
  }
}

/** The terms of a field: the number of occurrences of each term, and of all terms together. */
interface FieldTerms {
  counts: ReadonlyMap<string, number>
  length: number
}

/** A document of the index: the terms of each field. */
type Indexed<F extends string> = Readonly<Record<F, FieldTerms>>

/** The parameters of BM25: K limits the gain from repeated occurrences, B sets how much a long field counts less. */
const K = 1.2
const B = 0.75

const fieldTerms = (terms: readonly string[]): FieldTerms => {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return { counts, length: terms.length }
}

/** Returns the terms of several fields as those of one field. */
const joinedTerms = (fields: readonly FieldTerms[]): FieldTerms => {
  const counts = new Map<string, number>()
  for (const field of fields) for (const [term, count] of field.counts) counts.set(term, (counts.get(term) ?? 0) + count)
  return { counts, length: fields.reduce((sum, { length }) => sum + length, 0) }
}

type FieldIndex = Awaited<ReturnType<typeof createFieldIndex>>

/**
 * Indexes documents for BM25F ranking: the occurrences of a term in all fields of a document are added up as one weighted frequency, so
 * that a term in several fields counts little more than in one. Yields to the event loop after each document.
 */
async function createFieldIndex<F extends string> (documents: ReadonlyArray<Indexed<F>>, weights: Readonly<Record<F, number>>) {
  const fields = Object.keys(weights) as F[]
  const average = (field: F) => documents.reduce((sum, { [field]: { length } }) => sum + length, 0) / documents.length || 1
  const averages = fields.map((field) => [field, average(field)] as const)
  /** The weighted frequency of each term, by the position of each document that contains the term. */
  const frequencies = new Map<string, Map<number, number>>()
  for (const [at, document] of documents.entries()) {
    for (const [field, mean] of averages) {
      const { counts, length } = document[field]
      const share = weights[field] / (1 - B + B * length / mean)
      for (const [term, count] of counts) {
        const found = frequencies.get(term) ?? new Map<number, number>()
        frequencies.set(term, found.set(at, (found.get(at) ?? 0) + share * count))
      }
    }
    await yieldToEventLoop()
  }
  const terms = [...frequencies.keys()].sort()
  const scored = new Map<string, ReadonlyMap<number, number>>()

  function score (term: string): ReadonlyMap<number, number> {
    const found = frequencies.get(term) ?? new Map<number, number>()
    const rarity = Math.log(1 + (documents.length - found.size + 0.5) / (found.size + 0.5))
    return new Map([...found].map(([at, frequency]) => [at, rarity * frequency * (K + 1) / (K + frequency)]))
  }

  return {
    has: (term: string): boolean => frequencies.has(term),

    /** Returns the scores of a term, by the positions of the documents that contain it. */
    scores (term: string): ReadonlyMap<number, number> {
      if (!frequencies.has(term)) return new Map()
      const known = scored.get(term) ?? score(term)
      scored.set(term, known)
      return known
    },

    /** Returns the terms that begin with a term, without the term itself. */
    beginningWith (term: string): string[] {
      const from = countWhile(terms, (each) => each <= term)
      let to = from
      while (to < terms.length && terms[to].startsWith(term)) to++
      return terms.slice(from, to)
    }
  }
}
