import type { ToolContext } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'

type Json = Record<string, unknown>

/** A connected tool server that has resources. */
export interface ResourceServer {
  name: string
  /** Whether the user wants to be asked before all that the server does. */
  asksFirst: boolean
  /** Sends a request of MCP and returns its result without secrets. Throws ToolFailed, or the signal's reason. */
  request(method: string, params: Json, context: Pick<ToolContext, 'signal' | 'progress'>): Promise<Json>
}

/** Returns the servers that have resources now, in the order of config.json. */
export type ResourceServers = () => ResourceServer[]

/** What the tools for resources have in common: without such a server they are not offered, and they ask where one of the servers is to. */
export const forResources = (servers: ResourceServers) => ({
  effect: 'read' as const,
  unavailable: () => servers().length === 0 ? 'No tool server that is connected has resources.' : undefined,
  permission: () => servers().some(({ asksFirst }) => asksFirst) ? 'ask' as const : undefined
})

/** Returns the server of this name; without a name, the only one. Throws ToolFailed. */
export function chosen (all: ResourceServer[], name: string | undefined): ResourceServer {
  const known = all.map((server) => server.name).join(', ') || 'none'
  const server = name === undefined && all.length === 1 ? all[0] : all.find((each) => each.name === name)
  if (server !== undefined) return server
  throw new ToolFailed(
    name === undefined
      ? `Say which server has the resource: ${known}.`
      : `There is no connected tool server ${JSON.stringify(name)} with resources. The servers are: ${known}.`
  )
}
