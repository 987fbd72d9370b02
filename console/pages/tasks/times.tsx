import { useInfiniteQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Slot } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { sayExactTime, sayMoment, useNow } from '../../lib/time.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { FATES } from './fates.ts'
import { taskSchedule, type Task } from './task-queries.ts'
import { TimeLine } from './time-line.tsx'

/** States in which the schedule of a task is active. */
const GOES_ON: Array<Task['status']> = ['scheduled', 'running', 'pending_approval']
const REASONS = ['overlap', 'waiting', 'late', 'paused', 'changed', 'cancelled'] as const

/** The next planned times of a task, and what became of the past ones. */
export function Times ({ task: { id, status } }: { task: Task }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(taskSchedule(id))
  if (data === undefined) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />
  const { upcoming } = data.pages[0]
  const slots = data.pages.flatMap((page) => page.slots)
  const lost = slots.filter(({ fate }) => fate === 'skipped' || fate === 'missed').length
  return (
    <section className='section' aria-label={say('tasks.times')}>
      <h2>{say('tasks.times')}</h2>
      <TimeLine upcoming={upcoming} slots={slots} />
      {upcoming.length === 0
        ? <p className='quiet'>{say('tasks.noTimes')}</p>
        : (
          <Fold title={`${say(GOES_ON.includes(status) ? 'tasks.upcoming' : 'tasks.upcomingIf')} (${upcoming.length})`}>
            {() => <ol className='columns'>{upcoming.map((at) => <li key={at}><Moment at={at} /></li>)}</ol>}
          </Fold>
          )}
      {slots.length > 0 && (
        <Fold title={say('tasks.past')} note={lost > 0 && say('tasks.lostTimes', { count: lost })}>
          {() => (
            <>
              <VirtualList<Slot> items={slots} keyOf={({ at, from }) => `${from ?? at}`} label={say('tasks.past')} estimate={40}>
                {(slot) => <SlotRow slot={slot} />}
              </VirtualList>
              {hasNextPage && (
                <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>{say('tasks.olderTimes')}</Button>
              )}
            </>
          )}
        </Fold>
      )}
    </section>
  )
}

/** Times that are read when they are asked for: the line shows them, the runs have a list of their own. */
function Fold ({ title, note, children }: { title: string, note?: ReactNode, children: () => ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{title}{note && <span className='quiet'> · {note}</span>}</summary>
      {isOpen && <div className='section fold'>{children()}</div>}
    </details>
  )
}

/** A planned time by day and clock. */
function Moment ({ at }: { at: number }) {
  const now = useNow()
  return <time dateTime={new Date(at).toISOString()} title={sayExactTime(at)}>{sayMoment(at, now)}</time>
}

function SlotRow ({ slot: { at, from, count, fate, reason, since, runId } }: { slot: Slot }) {
  const [sign, tone] = FATES[fate]
  const known = REASONS.find((name) => name === reason)
  return (
    <div className='row'>
      <span className={`status status-${tone}`}><span aria-hidden='true'>{sign}</span> {say(`tasks.fate.${fate}`)}</span>
      <span className='grow'>
        {from !== undefined && count !== undefined && <>{say('tasks.timesInARow', { count })} <Moment at={from} /> – </>}
        <Moment at={at} />
      </span>
      {since !== undefined
        ? <span className='quiet'>{say('tasks.reason.waitingSince')} <Moment at={since} /></span>
        : known !== undefined && <span className='quiet'>{say(`tasks.reason.${known}`)}</span>}
      {runId !== undefined && <Link href={`/runs/${runId}`}>{say('tasks.toRun')}</Link>}
    </div>
  )
}
