import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  connectToolServer,
  disconnectToolServer,
  getToolServer,
  listToolServers,
  type ConnectBody
} from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'

/** Connections change by themselves, and no event tells it. */
const REFRESH_MS = 2_000

export const useServers = () =>
  useQuery({ queryKey: keys.servers(), queryFn: () => listToolServers(asked()).then(body), refetchInterval: REFRESH_MS })

export const useServer = (name: string) =>
  useQuery({ queryKey: [...keys.servers(), name], queryFn: () => getToolServer({ ...asked(), path: { name } }).then(body) })

/** Connects a server, or replaces the one of its name. */
export function useConnect () {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (server: ConnectBody) => connectToolServer({ ...asked(), body: server }).then(body),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.servers() })
  })
}

export function useDisconnect () {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (name: string) => disconnectToolServer({ ...asked(), path: { name } }),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.servers() })
  })
}
