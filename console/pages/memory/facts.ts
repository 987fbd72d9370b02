import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import {
  changeFact,
  clearBrain,
  deleteFact,
  learnFact,
  listFacts,
  type FactChange,
  type KnownFact
} from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say, type TextKey } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'

const PAGE = 50

/** The filter of a list of entries: by state, by kind, and by a text. */
export interface FactFilter {
  state?: KnownFact['state']
  kind?: KnownFact['kind']
  q?: string
}

/** Reads entries of the memory, page by page, newest first. */
export function useFacts (filter: FactFilter) {
  return useInfiniteQuery({
    queryKey: [...keys.brain(), 'facts', filter],
    queryFn: ({ pageParam: cursor }) =>
      listFacts({ ...asked(), query: { ...filter, limit: PAGE, ...cursor !== undefined && { cursor } } }).then(body),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
}

/** A mutation of the memory. It then reads the memory again, and announces a sentence to screen readers. */
function useChange<V> (change: (values: V) => Promise<unknown>, done: TextKey) {
  const queries = useQueryClient()
  const announce = useAnnounce()
  return useMutation({
    mutationFn: change,
    async onSuccess () {
      announce(say(done))
      await queries.invalidateQueries({ queryKey: keys.brain() })
    }
  })
}

export const useLearn = () => useChange((fact: string) => learnFact({ ...asked(), body: { fact } }), 'memory.added')
export const useForget = () => useChange((id: string) => deleteFact({ ...asked(), path: { id } }), 'memory.forgotten')
export const useClear = () => useChange(() => clearBrain(asked()), 'memory.cleared')
export const useFactChange = () =>
  useChange(({ id, change }: { id: string, change: FactChange }) => changeFact({ ...asked(), path: { id }, body: change }), 'memory.saved')
