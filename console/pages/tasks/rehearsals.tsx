import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { say } from '../../lib/say.ts'
import { ServiceText } from '../../parts/service-text.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { taskRehearsals } from './task-queries.ts'

/** The rehearsals of a task, newest first; renders nothing if there are none. */
export function Rehearsals ({ taskId }: { taskId: string }) {
  const { data } = useQuery(taskRehearsals(taskId))
  if (data === undefined || data.rehearsals.length === 0) return null
  return (
    <section className='section' aria-label={say('tasks.rehearsals')}>
      <h2>{say('tasks.rehearsals')}</h2>
      <ul className='list'>
        {data.rehearsals.map(({ runId, status, startedAt, lines, accepted, void: isVoid }) => (
          <li key={runId} className='row'>
            <Link href={`/runs/${runId}`}>{say('run.rehearsal')}</Link> <Status value={status} />
            <span className='quiet'>
              <Time at={startedAt} /> · {say('tasks.sheetLines', { count: lines })} · {say('tasks.sheetAccepted', { count: accepted })}
            </span>
            {isVoid !== undefined && <p className='quiet'><ServiceText text={isVoid} limit={500} /></p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
