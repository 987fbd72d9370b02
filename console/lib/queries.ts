import { QueryClient } from '@tanstack/react-query'
import { AgentError } from '../../client/errors.ts'

/** How often a read is repeated if the service does not answer. */
const RETRIES = 2

const isRefused = (error: unknown) => error instanceof AgentError && error.statusCode !== undefined && error.statusCode < 500

/**
 * The cache of data from the service. An entry stays fresh until an event of the service invalidates it (lib/live/invalidate.ts), so no
 * data is polled.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      networkMode: 'always',
      retry: (count, error) => count < RETRIES && !isRefused(error)
    },
    mutations: { networkMode: 'always' }
  }
})

/**
 * The query keys of the service's data. An event invalidates keys by their first parts, so use these functions for `queryKey`, and append
 * further parts for parameters.
 */
export const keys = {
  approvals: () => ['approvals'],
  previews: () => ['previews'],
  toolCalls: () => ['tool-calls'],
  digest: () => ['digest'],
  grants: () => ['grants'],
  tasks: () => ['tasks'],
  task: (id: string) => ['tasks', id],
  runs: () => ['runs'],
  run: (id: string) => ['runs', id],
  changes: (runId: string) => ['changes', runId],
  threads: () => ['threads'],
  thread: (id: string) => ['threads', id],
  pinned: () => ['pinned'],
  brain: () => ['brain'],
  agents: () => ['agents'],
  models: () => ['models'],
  providers: () => ['providers'],
  servers: () => ['servers'],
  prompts: () => ['prompts'],
  skills: () => ['skills'],
  folders: () => ['folders'],
  devices: () => ['devices'],
  usage: () => ['usage'],
  config: () => ['config'],
  health: () => ['health'],
  commands: () => ['commands']
} satisfies Record<string, (...ids: string[]) => string[]>
