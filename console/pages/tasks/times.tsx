import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { Slot } from '../../../client/generated/index.ts'
import { hasText, say } from '../../lib/say.ts'
import { sayExactTime, sayMoment, useNow } from '../../lib/time.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { type Task, taskSchedule } from './task-queries.ts'

/** The sign and the colour for each outcome of a planned time. */
const FATES: Record<Slot['fate'], [sign: string, tone: string]> = {
  run: ['●', 'good'],
  coalesced: ['◐', 'calm'],
  skipped: ['–', 'calm'],
  missed: ['✕', 'bad']
}

/** The task states in which the schedule is active. */
const GOES_ON: Array<Task['status']> = ['scheduled', 'running', 'pending_approval']

/** The next planned times of a task, and the outcomes of past ones. */
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

/** A collapsed list of times, which is rendered when the user opens it. */
function Fold ({ title, note, children }: { title: string, note?: ReactNode, children: () => ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{title}{note && <span className='quiet'> · {note}</span>}</summary>
      {isOpen && <div className='section fold'>{children()}</div>}
    </details>
  )
}

/** A planned time with day and clock. */
function Moment ({ at }: { at: number }) {
  const now = useNow()
  return <time dateTime={new Date(at).toISOString()} title={sayExactTime(at)}>{sayMoment(at, now)}</time>
}

function SlotRow ({ slot: { at, from, count, fate, reason, since, runId } }: { slot: Slot }) {
  const [sign, tone] = FATES[fate]
  const key = `tasks.reason.${reason}`
  return (
    <div className='row'>
      <span className={`status status-${tone}`}><span aria-hidden='true'>{sign}</span> {say(`tasks.fate.${fate}`)}</span>
      <span className='grow'>
        {from !== undefined && count !== undefined && <>{say('tasks.timesInARow', { count })} <Moment at={from} /> – </>}
        <Moment at={at} />
      </span>
      {since !== undefined
        ? <span className='quiet'>{say('tasks.reason.waitingSince')} <Moment at={since} /></span>
        : hasText(key) && <span className='quiet'>{say(key)}</span>}
      {runId !== undefined && <Link href={`/runs/${runId}`}>{say('tasks.toRun')}</Link>}
    </div>
  )
}

/** The number of past times on the time line. */
const PAST = 10

/** If two times would be closer than this fraction of the time line, all times are spread evenly. */
const CLOSEST = 1 / 40

/**
 * Returns the position of each time on the time line, from 0 to 1. Positions are proportional if that keeps the times apart; otherwise they
 * are evenly spaced.
 */
function placesOf (times: number[]): Map<number, number> {
  const sorted = [...new Set(times)].sort((a, b) => a - b)
  const length = sorted[sorted.length - 1] - sorted[0] || 1
  const places = sorted.map((at) => (at - sorted[0]) / length)
  const isTight = places.some((place, at) => at > 0 && place - places[at - 1] < CLOSEST)
  return new Map(sorted.map((at, rank) => [at, isTight ? rank / Math.max(sorted.length - 1, 1) : places[rank]]))
}

/** The last and the next planned times on a line, with the present between them. Lists hold the same information as text. */
function TimeLine ({ upcoming, slots }: { upcoming: number[], slots: Slot[] }) {
  const now = useNow()
  const past = slots.slice(0, PAST)
  const places = placesOf([now, ...upcoming, ...past.map(({ at }) => at)])
  const place = (at: number) => ({ insetInlineStart: `${places.get(at)! * 100}%` })
  return (
    <div className='time-line' role='img' aria-label={say('tasks.timeLine', { past: past.length, next: upcoming.length })}>
      <span className='time-line-now' style={place(now)} title={say('time.now')} />
      {past.map(({ at, fate }) => (
        <span
          key={`past ${at}`}
          className={`status-${FATES[fate][1]}`}
          style={place(at)}
          title={`${sayExactTime(at)}: ${say(`tasks.fate.${fate}`)}`}
        >
          {FATES[fate][0]}
        </span>
      ))}
      {upcoming.map((at) => <span key={at} className='status-calm' style={place(at)} title={sayExactTime(at)}>○</span>)}
    </div>
  )
}
