import { createAgent } from '../../../client/agent.ts'
import { AgentError } from '../../../client/errors.ts'
import { authorized } from '../authorized.ts'
import type { ToTab } from './messages.ts'

/**
 * Follows the events of the service until the signal aborts, and passes messages to `tell`. After a lost connection it reconnects and
 * receives the events that it has missed.
 */
export async function follow (token: string | undefined, signal: AbortSignal, tell: (message: ToTab) => void): Promise<void> {
  const send: typeof fetch = (input, init) => fetch(authorized(new Request(input, init), token))
  const agent = createAgent({ url: location.origin, app: 'console', fetch: send })
  try {
    const events = agent.events({ signal, onConnection: (isOpen) => tell({ type: 'connection', isOpen }) })
    for await (const event of events) tell({ type: 'event', event })
  } catch (error) {
    tell({ type: 'refused', token, isForToken: error instanceof AgentError && error.statusCode === 401 })
  }
}
