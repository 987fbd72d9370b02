import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { FolderTree, SquarePen } from 'lucide-react'
import { useState } from 'react'
import { listThreads, type Thread } from '../../../../client/generated/index.ts'
import { setAppearance, useAppearance } from '../../../lib/appearance.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { useNow } from '../../../lib/time.ts'
import { useSettled } from '../../../lib/use-settled.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { visibleText } from '../../../lib/visible-characters.ts'
import { DeletedThreads, JustDeleted } from './deleted-threads.tsx'
import { SearchResults } from './search-results.tsx'
import { folderOf, groupThreads, isPinned } from './thread-groups.ts'
import { ThreadRow } from './thread-row.tsx'

/** The number of threads on a page of the list, and the maximum number of pages. Other threads are found by searching. */
const PAGE = 50
const MOST_PAGES = 4
/** The pause in typing after which the search starts, in milliseconds. */
const TYPING_MS = 200

interface Props {
  current?: string
  onOpen: () => void
  onNew: () => void
  /** Called when the conversation that is shown was deleted. */
  onDeleted: () => void
  onRestored: (id: string) => void
}

type DeletedThread = Pick<Thread, 'id' | 'title'>

/** Reads the conversations page by page, and separately the pinned ones, which can be older than all pages. */
function useThreads () {
  const query = useInfiniteQuery({
    queryKey: [...keys.threads(), 'list'],
    queryFn: ({ pageParam }) => listThreads({ ...asked(), query: { limit: PAGE, ...pageParam && { cursor: pageParam } } }).then(body),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  const pinned = useQuery({
    queryKey: keys.pinned(),
    queryFn: () => listThreads({ ...asked(), query: { pinned: true, limit: PAGE } }).then(body)
  })
  const listed = query.data?.pages.flatMap((page) => page.threads) ?? []
  const known = new Set(listed.map(({ id }) => id))
  const older = query.data === undefined ? [] : pinned.data?.threads.filter(({ id }) => !known.has(id)) ?? []
  return { query, threads: [...listed, ...older], isFull: (query.data?.pages.length ?? 0) >= MOST_PAGES }
}

/** The conversations, most recently changed first, and a search in the text of all of them. */
export function ThreadList (props: Props) {
  const { current, onOpen, onNew, onRestored } = props
  const [deleted, setDeleted] = useState<DeletedThread>()
  const [typed, setTyped] = useState('')
  const search = useSettled(typed.trim(), TYPING_MS)
  const { query, threads, isFull } = useThreads()
  const { conversations: by } = useAppearance()
  const noteDeleted = (thread: DeletedThread) => {
    setDeleted(thread)
    if (thread.id === current) props.onDeleted()
  }
  return (
    <>
      <Button kind='normal' onClick={onNew}><SquarePen /> {say('chat.new')}</Button>
      <div className='thread-search'>
        <label>
          <span className='visually-hidden'>{say('chat.search')}</span>
          <input
            type='search' value={typed} maxLength={200} placeholder={say('chat.search')}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        {threads.some((thread) => folderOf(thread) !== undefined) && (
          <IconButton
            icon={FolderTree} label={say('chat.byFolder')} aria-pressed={by === 'folder'}
            onClick={() => setAppearance('conversations', by === 'folder' ? 'time' : 'folder')}
          />
        )}
      </div>
      {deleted !== undefined && (
        <JustDeleted
          key={deleted.id} thread={deleted}
          onRestored={(id) => {
            setDeleted(undefined)
            onRestored(id)
          }}
        />
      )}
      {search !== ''
        ? <SearchResults text={search} current={current} onOpen={onOpen} onDeleted={noteDeleted} />
        : <Groups {...props} onDeleted={noteDeleted} query={query} threads={threads} isFull={isFull} />}
    </>
  )
}

type GroupsProps = Omit<Props, 'onDeleted'> & ReturnType<typeof useThreads> & { onDeleted: (thread: DeletedThread) => void }

function Groups ({ current, onOpen, onDeleted, onRestored, query, threads, isFull }: GroupsProps) {
  const { conversations: by } = useAppearance()
  const now = useNow()
  const { data, error, hasNextPage, isFetchingNextPage } = query
  return (
    <>
      {data === undefined && (error === null ? <Loading /> : <Failed error={error} onRetry={() => void query.refetch()} />)}
      {data !== undefined && threads.length === 0 && <p className='quiet'>{say('chat.noThreads')}</p>}
      {groupThreads(threads, by, now).map(({ name, title, threads: some }) => (
        <section key={title} aria-label={visibleText(title)}>
          <p className='thread-period' aria-hidden='true' title={visibleText(title)}><VisibleText text={name} limit={200} /></p>
          <ul className='thread-list'>
            {some.map((thread) => (
              <ThreadRow
                key={thread.id} thread={{ ...thread, pinned: isPinned(thread) }} isCurrent={thread.id === current} onOpen={onOpen}
                onDeleted={() => onDeleted(thread)}
              />
            ))}
          </ul>
        </section>
      ))}
      {hasNextPage && !isFull && (
        <Button isBusy={isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{say('chat.moreThreads')}</Button>
      )}
      {hasNextPage && isFull && <p className='quiet'>{say('chat.searchForMore')}</p>}
      <DeletedThreads onRestored={onRestored} />
    </>
  )
}
