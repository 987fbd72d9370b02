import { useInfiniteQuery } from '@tanstack/react-query'
import { Moon, Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { say, sayValue } from '../../lib/say.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { taskList, type Task, type TaskFilter } from './task-queries.ts'
import { TaskRow } from './task-row.tsx'
import './tasks.css'

const STATES = ['pending_approval', 'running', 'scheduled', 'paused', 'planned', 'completed', 'failed', 'cancelled'] as const

/** All tasks, newest first, with filters by state and by words in their names and goals. */
export default function Tasks () {
  const [query, setQuery] = useSearchParams()
  const [words, setWords] = useState('')
  const status = STATES.find((state) => state === query.get('status'))
  const { data } = useInfiniteQuery(taskList({ status }))
  // Without any task, there is nothing to search.
  const isEmpty = status === undefined && data?.pages.every(({ tasks }) => tasks.length === 0) === true
  return (
    <Page title={say('tasks.title')} actions={<NewTasks />}>
      {!isEmpty && (
        <div className='task-filter' role='search'>
          <label className='field'>
            <span>{say('tasks.search')}</span>
            <input type='search' value={words} onChange={({ target }) => setWords(target.value)} />
          </label>
          <label className='field'>
            <span>{say('tasks.state')}</span>
            <select
              value={status ?? ''}
              onChange={({ target }) => setQuery(target.value === '' ? {} : { status: target.value }, { replace: true })}
            >
              <option value=''>{say('tasks.allStates')}</option>
              {STATES.map((state) => <option key={state} value={state}>{sayValue('status', state)}</option>)}
            </select>
          </label>
        </div>
      )}
      <TaskList filter={{ status }} words={words.trim().toLowerCase()} />
    </Page>
  )
}

function NewTasks () {
  return (
    <div className='actions'>
      <Link href='/tasks/overnight' className='button'><Moon /> {say('overnight.title')}</Link>
      <Link href='/tasks/new' className='button button-primary'><Plus /> {say('tasks.new')}</Link>
    </div>
  )
}

function TaskList ({ filter, words }: { filter: TaskFilter, words: string }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(taskList(filter))
  // A page that failed to load is requested again only by the user.
  const loadMore = () => hasNextPage && !isFetchingNextPage && error === null && void fetchNextPage()
  // The service cannot search goals, so a search loads all pages.
  useEffect(() => {
    if (words !== '') loadMore()
  })
  if (data === undefined) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />
  const tasks = data.pages.flatMap((page) => page.tasks)
  const damaged = data.pages[0].damaged ?? []
  const found = words === '' ? tasks : tasks.filter(({ name, goal }) => `${name}\n${goal}`.toLowerCase().includes(words))
  return (
    <>
      {damaged.length > 0 && <p className='note note-warn'>{say('tasks.damaged', { count: damaged.length })} {damaged.join(', ')}</p>}
      {tasks.length === 0 && (filter.status === undefined
        ? <Empty text={say('tasks.none')}><Link href='/tasks/new' className='button'>{say('tasks.newFirst')}</Link></Empty>
        : <Empty text={say('tasks.noneInState')} />)}
      {tasks.length > 0 && found.length === 0 && error === null && <Empty text={say('tasks.noneFound')} />}
      {found.length > 0 && (
        <VirtualList<Task> items={found} keyOf={({ id }) => id} label={say('tasks.title')} estimate={64} onEnd={loadMore}>
          {(task) => <TaskRow task={task} />}
        </VirtualList>
      )}
      {error !== null && <Failed error={error} onRetry={() => void fetchNextPage()} />}
    </>
  )
}
