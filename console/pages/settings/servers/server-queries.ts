import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  acceptToolServer,
  configureToolServer,
  connectToolServer,
  disconnectToolServer,
  getToolServer,
  importToolServers,
  takeBackToolServer,
  type ConnectBody,
  type ImportServersBody,
  type ToolServerSettings
} from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'

export const useServer = (name: string) =>
  useQuery({ queryKey: [...keys.servers(), name], queryFn: () => getToolServer({ ...asked(), path: { name } }).then(body) })

/** A mutation of tool servers, which then reads the servers again. */
function useServerChange<V, R> (change: (values: V) => Promise<R>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => queries.invalidateQueries({ queryKey: keys.servers() }) })
}

/** Connects a server, or replaces the server with the same name. */
export const useConnect = () => useServerChange((server: ConnectBody) => connectToolServer({ ...asked(), body: server }).then(body))

/** Connects the servers that a configuration text names. */
export const useImport = () => useServerChange((found: ImportServersBody) => importToolServers({ ...asked(), body: found }).then(body))

export const useDisconnect = () => useServerChange((name: string) => disconnectToolServer({ ...asked(), path: { name } }).then(body))

export const useServerSettings = (name: string) =>
  useServerChange((settings: ToolServerSettings) => configureToolServer({ ...asked(), path: { name }, body: settings }).then(body))

/** Accepts the tools of a server as they were shown, identified by their digest. */
export const useAccept = (name: string) =>
  useServerChange((digest: string) => acceptToolServer({ ...asked(), path: { name }, body: { digest } }).then(body))

export const useTakeBack = (name: string) => useServerChange(() => takeBackToolServer({ ...asked(), path: { name } }).then(body))
