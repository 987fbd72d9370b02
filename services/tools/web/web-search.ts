import { Type, type Static } from '@sinclair/typebox'
import type { Search } from './search/search.ts'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import { shorten } from '../../lib/in-words.ts'

const MAX_RESULTS = 20
const DEFAULT_RESULTS = 8

const Input = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 400,
    pattern: '\\S'
  }),
  maxResults: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_RESULTS })
  )
}, { additionalProperties: false })

/** Output: `{results: [{title, url, snippet}]}`, best first. */
export function createWebSearch ({ search }: { search: () => Promise<Search> }): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'webSearch',
      description: 'Search the web for titles, addresses and extracts; read what looks right with fetchUrl.',
      schema: Input,
      use: 'always'
    },
    says: {
      en: { label: 'Search the web', does: 'search the web for', result: resultsInWords },
      about: ['query'],
      otherNames: ['search', 'google', 'googlesearch', 'searchweb', 'internetsearch', 'bravesearch', 'duckduckgo', 'websearchquery']
    },
    policy: { effect: 'read' },
    effects: { source: 'search' },
    async execute ({ query, maxResults = DEFAULT_RESULTS }, { signal }) {
      return { results: await (await search()).search(query.trim(), maxResults, signal) }
    }
  }
}

function resultsInWords ({ results }: ToolOutput, { query }: { query?: unknown }): string {
  if (!Array.isArray(results) || results.length === 0) return `The web search for “${query}” found nothing.`
  const lines = results.slice(0, 10).map((result, index) =>
    `${index + 1}. ${result?.title} (${result?.url}): ${shorten(String(result?.snippet), 300)}`
  )
  return `The web search for “${query}” found:\n${lines.join('\n')}`
}
