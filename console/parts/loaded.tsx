import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failed } from './failed.tsx'
import { Loading } from './loading.tsx'

/** Shows what a query has read; until then that it is loading, or why it failed. Earlier data stay when a later read fails. */
export function Loaded<T> ({ query, children }: { query: UseQueryResult<T>, children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  return <Loading />
}
