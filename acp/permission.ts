import type { AgentContext, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Agent } from '../client/index.ts'

/** What is needed to ask an editor about the items of a session. */
export interface ItemParts {
  agent: Agent
  client: AgentContext
  sessionId: string
  cwd: string
  canElicit: boolean
}

/** Asks for a permission, and returns the id of the chosen option; undefined when the request was cancelled or the editor is gone. */
export async function requestPermission (
  client: AgentContext,
  params: Parameters<typeof client.request<'session/request_permission'>>[1],
  signal: AbortSignal
): Promise<string | undefined> {
  try {
    const { outcome }: RequestPermissionResponse =
      await client.request('session/request_permission', params, { cancellationSignal: signal })
    return outcome.outcome === 'selected' ? outcome.optionId : undefined
  } catch {
    return undefined
  }
}
