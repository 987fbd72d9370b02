import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { searchThreads, type SearchResult, type SearchSnippet } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { withoutMarks } from '../../../lib/plain-markdown.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { foundPath } from '../thread/found-message.ts'
import { ThreadRow } from './thread-row.tsx'

/** The number of results to read at a time. Pages of the service can be shorter, because each has a time limit. */
const PAGE = 20

interface Props {
  text: string
  current?: string
  onOpen: () => void
  onDeleted: (thread: { id: string, title: string }) => void
}

/** The messages of all conversations that contain a text, grouped by conversation. Each opens its conversation at that message. */
export function SearchResults ({ text, current, onOpen, onDeleted }: Props) {
  const hasWords = /[\p{L}\p{N}]/u.test(text)
  const query = useInfiniteQuery({
    queryKey: [...keys.threads(), 'search', text],
    queryFn: ({ pageParam, signal }) =>
      searchThreads({ ...asked(), signal, query: { q: text, limit: PAGE, ...pageParam && { cursor: pageParam } } }).then(body),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: hasWords,
    placeholderData: (previous) => previous
  })
  const { data, error, hasNextPage, isFetching, isPlaceholderData, fetchNextPage } = query
  const results = hasWords ? data?.pages.flatMap((page) => page.results) ?? [] : []
  const newest = data?.pages.at(-1)?.results.length ?? 0
  const isShort = hasNextPage && !isPlaceholderData && newest < PAGE && results.length < PAGE
  useEffect(() => {
    if (isShort && !isFetching && error === null) void fetchNextPage()
  }, [isShort, isFetching, error, fetchNextPage])

  const isSearching = hasWords && (isFetching || isShort)
  if (results.length === 0 && error !== null) return <Failed error={error} onRetry={() => void query.refetch()} />
  if (results.length === 0) return isSearching ? <Loading /> : <p className='quiet'>{say('chat.notFound', { text })}</p>
  return (
    <>
      <ul className='thread-list' aria-label={say('chat.found')}>
        {byThread(results).map(([{ threadId, title, time }, ...found]) => (
          <ThreadRow
            key={threadId} thread={{ id: threadId, title, updatedAt: time }} isCurrent={threadId === current} onOpen={onOpen}
            onDeleted={() => onDeleted({ id: threadId, title })}
          >
            {found.map((result) => (
              <Link key={result.messageId} className='found-message quiet' href={foundPath(result)} onClick={onOpen}>
                <MarkedText {...result.snippet} />
              </Link>
            ))}
          </ThreadRow>
        ))}
      </ul>
      {hasNextPage && !isShort && <Button isBusy={isFetching} onClick={() => void fetchNextPage()}>{say('chat.moreFound')}</Button>}
    </>
  )
}

/** Groups the results by conversation: first the result for the conversation itself, then its messages. */
function byThread (results: SearchResult[]): Array<[thread: SearchResult, ...messages: SearchResult[]]> {
  const groups = new Map<string, [SearchResult, ...SearchResult[]]>()
  for (const result of results) {
    const group = groups.get(result.threadId) ?? [result]
    groups.set(result.threadId, group)
    if (result.messageId !== undefined) group.push(result)
  }
  return [...groups.values()]
}

/** A text with its matches highlighted. */
function MarkedText ({ text, matches }: SearchSnippet) {
  let end = 0
  const pieces = matches.map((match) => {
    const before = withoutMarks(text.slice(end, match.start))
    end = match.end
    return (
      <span key={match.start}>
        <VisibleText text={before} limit={Infinity} />
        <mark><VisibleText text={text.slice(match.start, match.end)} limit={Infinity} /></mark>
      </span>
    )
  })
  return <>{pieces}<VisibleText text={withoutMarks(text.slice(end))} limit={Infinity} /></>
}
