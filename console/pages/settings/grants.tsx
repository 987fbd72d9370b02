import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from 'wouter'
import { listGrants, removeGrant, type Grant } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Covers } from '../../parts/covers.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { TaskName } from '../tasks/task-name.tsx'
import { ThreadName } from '../../parts/thread-name.tsx'
import { Time } from '../../parts/time.tsx'

const PAGE = 100

/** The grants of conversations and tasks, each with a button that ends it. */
export function Grants () {
  const query = useInfiniteQuery({
    queryKey: [...keys.grants(), 'all'],
    queryFn: ({ pageParam: cursor }) =>
      listGrants({ ...asked(), query: { limit: PAGE, ...cursor !== undefined && { cursor } } }).then(body),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  const queries = useQueryClient()
  const announce = useAnnounce()
  const remove = useMutation({
    mutationFn: (id: string) => removeGrant({ ...asked(), path: { id } }),
    async onSuccess () {
      announce(say('settings.grantEnded'))
      await queries.invalidateQueries({ queryKey: keys.grants() })
    }
  })
  if (query.data === undefined) return query.isError ? <Failed error={query.error} onRetry={() => void query.refetch()} /> : <Loading />
  const grants = query.data.pages.flatMap((page) => page.grants)
  if (grants.length === 0) return <Empty text={say('settings.noGrants')} />
  return (
    <section className='section'>
      {remove.error !== null && <Failed error={remove.error} />}
      <div className='table-wrap'>
        <table className='permissions'>
          <thead>
            <tr>
              <th scope='col'>{say('settings.grantText')}</th>
              <th scope='col'>{say('settings.grantFor')}</th>
              <th scope='col'>{say('settings.grantUses')}</th>
              <th scope='col'>{say('settings.grantUntil')}</th>
              <th scope='col'><span className='visually-hidden'>{say('settings.grantEnd')}</span></th>
            </tr>
          </thead>
          <tbody>
            {grants.map((grant) => (
              <tr key={grant.grantId}>
                <td><Covers text={grant.text} /></td>
                <td data-label={say('settings.grantFor')}><Owner grant={grant} /></td>
                <td className='unbroken' data-label={say('settings.grantUses')}>
                  {say('settings.times', { count: grant.uses })}
                  {grant.lastUsedAt !== undefined && <span className='quiet'> · <Time at={grant.lastUsedAt} /></span>}
                </td>
                <td data-label={say('settings.grantUntil')}><End grant={grant} /></td>
                <td><Button onClick={() => remove.mutate(grant.grantId)}>{say('settings.grantEnd')}</Button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {query.hasNextPage && <div><Button onClick={() => void query.fetchNextPage()}>{say('memory.more')}</Button></div>}
    </section>
  )
}

function Owner ({ grant: { threadId, taskId } }: { grant: Grant }) {
  if (taskId !== undefined) return <Link href={`/tasks/${taskId}`}><TaskName id={taskId} /></Link>
  return threadId === undefined ? null : <ThreadName id={threadId} />
}

function End ({ grant: { until, uses } }: { grant: Grant }) {
  if (until === undefined) return <>{say('settings.grantNoEnd')}</>
  return (
    <>
      {until.at !== undefined && <Time at={until.at} />}{' '}
      {until.uses !== undefined && say('settings.grantUsesLeft', { count: Math.max(0, until.uses - uses) })}
    </>
  )
}
