import { useInfiniteQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { Link } from 'wouter'
import type { TaskRun } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { plainMarkdown } from '../../lib/plain-markdown.ts'
import { splitDetail } from '../../lib/plain-words.ts'
import { sayDuration } from '../../lib/time.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { NotVerified } from '../../parts/not-verified.tsx'
import { ServiceText } from '../../parts/service-text.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { taskRuns } from './task-queries.ts'

/** The maximum number of characters of a run's output or error in the list. */
const SHOWN = 160

/** The runs of a task, newest first. */
export function Runs ({ taskId }: { taskId: string }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(taskRuns(taskId))
  if (data === undefined) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />
  const runs = data.pages.flatMap((page) => page.runs)
  return (
    <section className='section' aria-label={say('tasks.runs')}>
      <h2>{say('tasks.runs')}</h2>
      {runs.length === 0
        ? <p className='quiet'>{say('tasks.noRuns')}</p>
        : (
          <VirtualList<TaskRun> items={runs} keyOf={({ runId }) => runId} label={say('tasks.runs')} estimate={64}>
            {(run) => <RunRow run={run} />}
          </VirtualList>
          )}
      {hasNextPage && (
        <div className='actions'>
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>{say('tasks.olderRuns')}</Button>
        </div>
      )}
    </section>
  )
}

function RunRow ({ run }: { run: TaskRun }) {
  const { runId, runNumber, status, review, trigger, startedAt, durationMs, toolCount, output, error, evaluation } = run
  const Text = error === undefined ? VisibleText : ServiceText
  const said = (error === undefined ? plainMarkdown(output ?? '') : splitDetail(error).sentence).replace(/\s+/g, ' ').trim()
  return (
    <div className='row'>
      <Link href={`/runs/${runId}`}>{say('run.number', { number: runNumber })}</Link>
      <Status value={status} /> <NotVerified {...evaluation} />
      <span className='quiet'>
        <Time at={startedAt} /> · {say(`run.trigger.${trigger}`)} ·{' '}
        {durationMs !== undefined && <>{sayDuration(durationMs)} · </>}{say('run.callCount', { count: toolCount })}
      </span>
      {(review === 'superseded' || review === 'expired') && <span className='quiet'>{say(`run.review.${review}`)}</span>}
      {evaluation?.evidence === 'contradicted' && (
        <span className='status status-bad'><X /> {say('run.contradicted')}</span>
      )}
      {said !== '' && (
        <span className='row-text'>
          <Text text={said.length > SHOWN ? `${said.slice(0, SHOWN).toWellFormed()}…` : said} limit={Infinity} />
        </span>
      )}
    </div>
  )
}
