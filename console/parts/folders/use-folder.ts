import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { getFolder } from '../../../client/generated/index.ts'
import type { Folder } from '../../../client/generated/types.gen.ts'
import { keys } from '../../lib/queries.ts'
import { asked, body } from '../../lib/service.ts'
import { useSettled } from '../../lib/use-settled.ts'

/** Folders that are shown at once; the service says how many are left out. */
const MOST = 300
/** The list is narrowed by what is typed after this pause, ms. */
const TYPING_MS = 120

/** Whether what is typed is a way to a folder, and not the beginning of a name. */
export const isPath = (typed: string): boolean => /^~$|[\\/]|^[a-z]:$/i.test(typed)

/** Returns the path that is meant by what is typed in a folder. */
export function pathIn (folder: string, typed: string): string {
  if (/^[\\/~]|^[a-z]:/i.test(typed)) return /^[a-z]:$/i.test(typed) ? `${typed}\\` : typed
  return `${folder}${/[\\/]$/.test(folder) ? '' : folder.includes('\\') ? '\\' : '/'}${typed}`
}

/** Walks from folder to folder. A folder that cannot be found leaves the walk where it is, with the `error`. */
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
    // Folders change without the service being told.
    staleTime: 0
  })
  const query = useQuery({ ...reading(path, prefix), enabled: path !== undefined, placeholderData: keepPreviousData })

  const walk = useRef(0)
  /** Goes to a folder. Resolves to whether it is shown now; a later way that was taken meanwhile goes before. */
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
      // A start that is gone: the walk begins at the usual folder.
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
