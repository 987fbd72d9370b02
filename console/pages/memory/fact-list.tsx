import { say } from '../../lib/say.ts'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { FactRow } from './fact-row.tsx'
import { useFacts, type FactFilter } from './facts.ts'

/** Entries of the memory, with a button for more. */
export function FactList ({ filter, empty }: { filter: FactFilter, empty: string }) {
  const query = useFacts(filter)
  if (query.data === undefined) return query.isError ? <Failed error={query.error} onRetry={() => void query.refetch()} /> : <Loading />
  const facts = query.data.pages.flatMap((page) => page.facts)
  if (facts.length === 0) return <Empty text={empty} />
  return (
    <>
      <ul className='list'>{facts.map((fact) => <FactRow key={fact.id} fact={fact} />)}</ul>
      {query.hasNextPage && (
        <div><Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{say('memory.more')}</Button></div>
      )}
    </>
  )
}
