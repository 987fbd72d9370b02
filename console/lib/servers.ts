import { useQuery } from '@tanstack/react-query'
import { listToolServers } from '../../client/generated/index.ts'
import { keys } from './queries.ts'
import { asked, body } from './service.ts'

/** The polling interval, in milliseconds: connections change without an event. */
const REFRESH_MS = 2_000

/** The tool servers, polled while they are `shown`. */
export const useServers = ({ shown }: { shown: boolean }) =>
  useQuery({
    queryKey: keys.servers(),
    queryFn: () => listToolServers(asked()).then(body),
    refetchInterval: shown && REFRESH_MS
  })
