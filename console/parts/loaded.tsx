import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { AgentError } from '../../client/errors.ts'
import { Failed } from './failed.tsx'
import { Loading } from './loading.tsx'

/**
 * Renders the data of a query; before that, a loading state or the error. A resource that does not exist is not requested again. Earlier
 * data stays visible if a later read fails.
 */
export function Loaded<T> ({ query, children }: { query: UseQueryResult<T>, children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) {
    const isGone = query.error instanceof AgentError && query.error.statusCode === 404
    return <Failed error={query.error} onRetry={isGone ? undefined : () => void query.refetch()} />
  }
  return <Loading />
}
