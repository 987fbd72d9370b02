import { useQuery } from '@tanstack/react-query'
import { removeGrant } from '../../../client/generated/index.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked } from '../../lib/service.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Covers } from '../../parts/covers.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Time } from '../../parts/time.tsx'
import { taskGrants } from './task-queries.ts'

const SINCE = {
  answer: 'tasks.granted',
  request: 'tasks.granted',
  approved_runs: 'tasks.learned',
  rehearsal: 'tasks.accepted'
} as const

/** The calls that the runs of a task are allowed to make without asking. */
export function Grants ({ taskId }: { taskId: string }) {
  const { data, error, refetch } = useQuery(taskGrants(taskId))
  if (error && data === undefined) return <Failed error={error} onRetry={() => void refetch()} />
  if (data === undefined || data.grants.length === 0) return null
  return (
    <section className='section' aria-label={say('tasks.grants')}>
      <h2>{say('tasks.grants')}</h2>
      <ul className='list'>
        {data.grants.map(({ grantId, text, source, uses, lastUsedAt, createdAt }) => (
          <li key={grantId} className='row'>
            <span className='grow'><Covers text={text} limit={500} /></span>
            <span className='quiet'>
              {say(SINCE[source])} <Time at={createdAt} />
              {' · '}{say('tasks.uses', { count: uses })}{lastUsedAt !== undefined && <>, <Time at={lastUsedAt} /></>}
            </span>
            <Confirm
              label={say('tasks.removeGrant')}
              title={say('tasks.removeGrantTitle')}
              text={<Covers text={text} limit={500} />}
              kind='quiet'
              onConfirm={async () => {
                await removeGrant({ ...asked(), path: { id: grantId } })
                await queries.invalidateQueries({ queryKey: keys.grants() })
              }}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
