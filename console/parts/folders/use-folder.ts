import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { getFolder } from '../../../client/generated/index.ts'
import type { Folder } from '../../../client/generated/types.gen.ts'
import { keys } from '../../lib/queries.ts'
import { asked, body } from '../../lib/service.ts'
import { useSettled } from '../../lib/use-settled.ts'

/** The maximum number of folders in the list; the service reports how many are left out. */
const MOST = 300
/** The pause in typing after which the list is filtered, in milliseconds. */
const TYPING_MS = 120

/** Returns true if the typed text is a path, and not the beginning of a name. */
export const isPath = (typed: string): boolean => /^~$|[\\/]|^[a-z]:$/i.test(typed)

/** Returns the path that a typed text means in a folder. */
export function pathIn (folder: string, typed: string): string {
  if (/^[\\/~]|^[a-z]:/i.test(typed)) return /^[a-z]:$/i.test(typed) ? `${typed}\\` : typed
  return `${folder}${/[\\/]$/.test(folder) ? '' : folder.includes('\\') ? '\\' : '/'}${typed}`
}

/** Browses folders. If a folder cannot be found, the current folder stays, and `error` is set. */
export function useFolder ({ start, cwd, typed }: { start: string, cwd: string | undefined, typed: string }) {
  const queries = useQueryClient()
  const [path, setPath] = useState<string>()
  const [hidden, setHidden] = useState(false)
  const [error, setError] = useState<unknown>()
  const [isGoing, setIsGoing] = useState(false)
  const prefix = useSettled(isPath(typed) ? '' : typed, TYPING_MS)
  const reading = (path: string | undefined, prefix: string) => ({
    queryKey: [...keys.folders(), path ?? '', prefix, hidden, cwd ?? ''],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Folder> =>
      getFolder({ ...asked(), signal, query: { path, prefix, hidden, cwd, limit: MOST } }).then(body),
    // Folders change without an event.
    staleTime: 0
  })
  const query = useQuery({ ...reading(path, prefix), enabled: path !== undefined, placeholderData: keepPreviousData })

  const walk = useRef(0)
  /** Goes to a folder. Resolves to true if the folder is then shown. A later call overrides an earlier one. */
  async function go (to: string | undefined, failed?: unknown): Promise<boolean> {
    const own = ++walk.current
    setError(failed)
    setIsGoing(true)
    try {
      const found = await queries.fetchQuery(reading(to, ''))
      if (own !== walk.current) return false
      queries.setQueryData(reading(found.path, '').queryKey, found)
      setPath(found.path)
      return true
    } catch (error) {
      if (own !== walk.current) return false
      // The start folder no longer exists, so the usual folder is the start.
      if (path === undefined && to !== undefined) return go(undefined, error)
      setError(error)
      return false
    } finally {
      if (own === walk.current) setIsGoing(false)
    }
  }
  useEffect(() => {
    void go(start || undefined)
  }, [])

  return { folder: query.data, error: error ?? query.error, isReading: isGoing || query.isFetching, hidden, setHidden, go, prefix }
}
