import { useInfiniteQuery } from '@tanstack/react-query'
import { SquarePen } from 'lucide-react'
import { useState } from 'react'
import { listThreads, type Thread } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { sayPeriod, useNow } from '../../../lib/time.ts'
import { useSettled } from '../../../lib/use-settled.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { SearchResults } from './search-results.tsx'
import { ThreadRow } from './thread-row.tsx'

/** Threads of one page of the list, and the most that are shown: the rest is found by searching. */
const PAGE = 50
const MOST_PAGES = 4
/** What is typed is searched for after this pause, ms. */
const TYPING_MS = 200

interface Props {
  current?: string
  onOpen: () => void
  onNew: () => void
  /** The conversation that is shown was deleted. */
  onDeleted: () => void
}

/** The conversations, most recently changed first, and a search in all that was said in them. */
export function ThreadList ({ current, onOpen, onNew, onDeleted }: Props) {
  const [typed, setTyped] = useState('')
  const search = useSettled(typed.trim(), TYPING_MS)
  const query = useInfiniteQuery({
    queryKey: [...keys.threads(), 'list'],
    queryFn: ({ pageParam }) => listThreads({ ...asked(), query: { limit: PAGE, ...pageParam && { cursor: pageParam } } }).then(body),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  const now = useNow()
  const { data, error, hasNextPage, isFetchingNextPage } = query
  const threads = data?.pages.flatMap((page) => page.threads) ?? []
  const isFull = (data?.pages.length ?? 0) >= MOST_PAGES
  return (
    <>
      <Button kind='normal' onClick={onNew}><SquarePen /> {say('chat.new')}</Button>
      <label>
        <span className='visually-hidden'>{say('chat.search')}</span>
        <input
          type='search' value={typed} maxLength={200} placeholder={say('chat.search')}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      {search !== ''
        ? <SearchResults text={search} current={current} onOpen={onOpen} onDeleted={onDeleted} />
        : (
          <>
            {data === undefined && (error === null ? <Loading /> : <Failed error={error} onRetry={() => void query.refetch()} />)}
            {data !== undefined && threads.length === 0 && <p className='quiet'>{say('chat.noThreads')}</p>}
            {byPeriod(threads, now).map(([period, some]) => (
              <section key={period} aria-label={period}>
                <p className='thread-period' aria-hidden='true'>{period}</p>
                <ul className='thread-list'>
                  {some.map((thread) => (
                    <ThreadRow
                      key={thread.id} thread={thread} isCurrent={thread.id === current} onOpen={onOpen}
                      onDeleted={() => { if (thread.id === current) onDeleted() }}
                    />
                  ))}
                </ul>
              </section>
            ))}
            {hasNextPage && !isFull && (
              <Button isBusy={isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{say('chat.moreThreads')}</Button>
            )}
            {hasNextPage && isFull && <p className='quiet'>{say('chat.searchForMore')}</p>}
          </>
          )}
    </>
  )
}

/** The conversations by the periods in which they were changed last, in their order. */
function byPeriod (threads: Thread[], now: number): Array<[period: string, threads: Thread[]]> {
  const periods = new Map<string, Thread[]>()
  for (const thread of threads) {
    const period = sayPeriod(thread.updatedAt, now)
    periods.set(period, [...periods.get(period) ?? [], thread])
  }
  return [...periods]
}
