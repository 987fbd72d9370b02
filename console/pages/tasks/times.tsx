import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Slot } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Time } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { FATES } from './fates.ts'
import { taskSchedule, type Task } from './task-queries.ts'
import { TimeLine } from './time-line.tsx'

const REASONS = ['overlap', 'late', 'paused', 'changed', 'cancelled'] as const

/** The next planned times of a task, and what became of the past ones. */
export function Times ({ task: { id, status } }: { task: Task }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(taskSchedule(id))
  if (data === undefined) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />
  const { upcoming } = data.pages[0]
  const slots = data.pages.flatMap((page) => page.slots)
  return (
    <section className='section' aria-label={say('tasks.times')}>
      <h2>{say('tasks.times')}</h2>
      <TimeLine upcoming={upcoming} slots={slots} />
      <h3>{say(status === 'scheduled' || status === 'running' ? 'tasks.upcoming' : 'tasks.upcomingIf')}</h3>
      {upcoming.length === 0 ? <p className='quiet'>{say('tasks.noTimes')}</p> : <ol className='columns'>{upcoming.map((at) => <li key={at}><Time at={at} /></li>)}</ol>}
      <h3>{say('tasks.past')}</h3>
      {slots.length === 0 ? <p className='quiet'>{say('tasks.noPast')}</p> : (
        <VirtualList<Slot>
          items={slots}
          keyOf={({ at, from }) => `${from ?? at}`}
          label={say('tasks.past')}
          estimate={40}
          onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
        >
          {(slot) => <SlotRow slot={slot} />}
        </VirtualList>
      )}
    </section>
  )
}

function SlotRow ({ slot: { at, from, count, fate, reason, runId } }: { slot: Slot }) {
  const [sign, tone] = FATES[fate]
  const known = REASONS.find((name) => name === reason)
  return (
    <div className='row'>
      <span className={`status status-${tone}`}><span aria-hidden='true'>{sign}</span> {say(`tasks.fate.${fate}`)}</span>
      <span className='grow'>
        {from !== undefined && count !== undefined && <>{say('tasks.timesInARow', { count })} <Time at={from} /> – </>}
        <Time at={at} />
      </span>
      {reason !== undefined && <span className='quiet'>{known ? say(`tasks.reason.${known}`) : reason}</span>}
      {runId !== undefined && <Link href={`/runs/${runId}`}>{say('tasks.toRun')}</Link>}
    </div>
  )
}
