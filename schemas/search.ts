import { Type, type Static } from '@sinclair/typebox'
import { NOT_BLANK } from './ids.ts'
import { ref, Timestamp } from './common.ts'

const SNIPPET = { text: 'Where is the old pier?', matches: [{ start: 17, end: 21 }] }
const RESULT = {
  threadId: 'trip-to-lisbon',
  title: 'Lisbon',
  messageId: 'm1',
  position: 0,
  role: 'user',
  time: 1_764_081_000_000,
  snippet: SNIPPET
}

const Match = Type.Object({
  start: Type.Integer({ description: 'Where it begins in `text`, in UTF-16 code units' }),
  end: Type.Integer({ description: 'Where it ends' })
}, { additionalProperties: false })

const SearchSnippetSchema = Type.Object({
  text: Type.String({ description: 'The text around a match, on one line' }),
  matches: Type.Array(Match)
}, {
  $id: 'SearchSnippet',
  additionalProperties: false,
  description: 'A piece of a text, and where what was searched for stands in it',
  examples: [SNIPPET]
})

export const SearchResultSchema = Type.Object({
  threadId: Type.String(),
  title: Type.String({ description: 'The title of the thread' }),
  messageId: Type.Optional(Type.String({ description: 'The id of the message in `GET /threads/{id}?protocol=ui`; absent for a title' })),
  position: Type.Optional(Type.Integer({
    description: 'The place of the message in the thread: as the `cursor` of GET /threads/{id}, it reads what is before'
  })),
  role: Type.Optional(Type.String({ description: 'user, assistant, system or tool' })),
  time: { ...Timestamp, description: 'When it was said, else when the thread changed; milliseconds since the Unix epoch' },
  snippet: ref(SearchSnippetSchema)
}, {
  $id: 'SearchResult',
  additionalProperties: false,
  description: 'A message, or the title of a thread',
  examples: [RESULT]
})
export type SearchResult = Static<typeof SearchResultSchema>

export const SearchResultsSchema = Type.Object({
  results: Type.Array(ref(SearchResultSchema)),
  nextCursor: Type.Optional(Type.String({ description: 'Present when there is more to search; a page may be short, or empty' }))
}, {
  $id: 'SearchResults',
  additionalProperties: false,
  description: 'A page of results, those of the most recently changed thread first',
  examples: [{ results: [RESULT] }]
})
export type SearchResults = Static<typeof SearchResultsSchema>

export const SearchQuerySchema = Type.Object({
  q: Type.String({
    ...NOT_BLANK,
    maxLength: 200,
    description: 'Words that a message holds, all of them; case and accents are ignored. The last one may be the beginning of a word. ' +
      'Words in quotation marks stand one after the other'
  }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  cursor: Type.Optional(
    Type.String({ pattern: '^[0-9]{15}-[0-9a-f]{32}(\\.[0-9]{1,10})?$', description: 'nextCursor of the previous page' })
  )
}, { additionalProperties: false })
export type SearchQuery = Static<typeof SearchQuerySchema>
