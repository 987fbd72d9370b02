import { useQuery } from '@tanstack/react-query'
import { listAgents } from '../../client/generated/index.ts'
import { keys } from './queries.ts'
import { asked, body } from './service.ts'

/** The agents of the service, by name. */
export const useAgents = () => useQuery({ queryKey: keys.agents(), queryFn: () => listAgents(asked()).then(body) })
