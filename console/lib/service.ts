import { createAgent, type Agent } from '../../client/agent.ts'
import { readToken } from './session.ts'

let token = readToken()
let current = createAgent({ url: location.origin, token, app: 'console' })

/** The service that serves this page, with the token of this tab. */
export const agent = (): Agent => current
export const tokenInUse = () => token

/** From now on, requests are sent with this token. */
export function useNewToken (next: string): void {
  token = next
  current = createAgent({ url: location.origin, token, app: 'console' })
}

/** Options of every generated function: `listTasks({ ...asked(), query }).then(body)`. Failures are thrown as AgentError. */
export const asked = () => ({ client: current.client, throwOnError: true }) as const

/** Returns the body of an answer. */
export const body = <T>({ data }: { data: T }): T => data
