import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Firing, TriggerState } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Time } from '../../parts/time.tsx'
import { ServiceText } from '../../parts/service-text.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { TaskName } from './task-name.tsx'
import { taskFirings } from './task-queries.ts'

/** The polling interval until a folder was first scanned, in milliseconds. */
const FIRST_LOOK_MS = 2_000

/** The sign and the colour for each outcome of a firing. */
const FATES: Record<Firing['fate'], [sign: string, tone: string]> = {
  run: ['●', 'good'],
  coalesced: ['◐', 'calm'],
  skipped: ['–', 'calm'],
  loop: ['✕', 'bad'],
  limit: ['✕', 'bad']
}
const REASONS = ['paused', 'failing', 'budget'] as const

/** The triggers of a task with their states, and their firings. */
export function Triggers ({ taskId }: { taskId: string }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    ...taskFirings(taskId),
    // There is no event for the first scan of a folder.
    refetchInterval: ({ state: { data } }) =>
      data?.pages[0].triggers.some(({ state }) => state === 'starting') ? FIRST_LOOK_MS : false
  })
  if (data === undefined) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />
  const firings = data.pages.flatMap((page) => page.firings)
  return (
    <section className='section' aria-label={say('tasks.triggers')}>
      <h2>{say('tasks.triggers')}</h2>
      <ul>{data.pages[0].triggers.map((each, at) => <li key={at}><TriggerRow state={each} /></li>)}</ul>
      <h3>{say('tasks.firings')}</h3>
      {firings.length === 0
        ? <p className='quiet'>{say('tasks.noFirings')}</p>
        : (
          <VirtualList<Firing> items={firings} keyOf={({ id }) => id} label={say('tasks.firings')} estimate={40}>
            {(firing) => <FiringRow firing={firing} />}
          </VirtualList>
          )}
      {hasNextPage && (
        <div className='actions'>
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>{say('tasks.olderFirings')}</Button>
        </div>
      )}
    </section>
  )
}

function TriggerRow ({ state: { trigger, state, text, files } }: { state: TriggerState }) {
  return (
    <>
      {trigger.type === 'files'
        ? (
          <>
            {say('tasks.trigger.files')}{' '}
            {trigger.path === '.' ? say('tool.here') : <code><VisibleText text={trigger.path} limit={500} /></code>}
            {trigger.glob !== undefined && <> <code><VisibleText text={trigger.glob} limit={200} /></code></>}
          </>
          )
        : <>{say(`tasks.trigger.${trigger.on}`)} <Link href={`/tasks/${trigger.taskId}`}><TaskName id={trigger.taskId} /></Link></>}
      <span className='quiet'>
        {' '}· {say(`tasks.triggerState.${state}`)}
        {files !== undefined && <> · {say('tasks.filesSeen', { count: files })}</>}
        {text !== undefined && <> · <ServiceText text={text} /></>}
      </span>
    </>
  )
}

function FiringRow ({ firing: { at, fate, reason, runId, count, changed, ends = [], away } }: { firing: Firing }) {
  const [sign, tone] = FATES[fate]
  const known = REASONS.find((name) => name === reason)
  return (
    <div className='row'>
      <span className={`status status-${tone}`}><span aria-hidden='true'>{sign}</span> {say(`tasks.firingFate.${fate}`)}</span>
      <span className='grow'>
        {count !== undefined && <>{say('tasks.firingsInARow', { count })} </>}
        {changed === undefined ? say('tasks.runsEnded', { count: ends.length }) : say('tasks.filesChanged', { count: changed })}
        {away && <> {say('tasks.whileAway')}</>} · <Time at={at} />
      </span>
      {known !== undefined && <span className='quiet'>{say(`tasks.reason.${known}`)}</span>}
      {runId !== undefined && <Link href={`/runs/${runId}`}>{say('tasks.toRun')}</Link>}
    </div>
  )
}
