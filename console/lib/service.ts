import { createAgent, type Agent } from '../../client/agent.ts'
import { sendWithToken } from './session.ts'

const service = createAgent({ url: location.origin, app: 'console', fetch: sendWithToken })

/** Returns the agent for the service that serves this page, with the token of this tab. */
export const agent = (): Agent => service

/** Returns the options of every generated function: `listTasks({ ...asked(), query }).then(body)`. Failures are thrown as AgentError. */
export const asked = () => ({ client: service.client, throwOnError: true }) as const

/** Returns the body of a response. */
export const body = <T>({ data }: { data: T }): T => data
