import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentContext } from '@agentclientprotocol/sdk'
import { answerBufferRequest, listBufferRequests, type Agent } from '../client/index.ts'

/** The longest wait of one request for open buffer requests, in milliseconds. */
const WAIT_MS = 30_000
/** The delay after a failed request, in milliseconds. */
const AGAIN_MS = 500

interface BufferParts {
  service: { agent(): Promise<Agent> }
  client: AgentContext
  sessionId: string
  /** A name of this editor that is unique among editors. */
  editor: string
  signal: AbortSignal
}

/**
 * Answers the service's requests for the unsaved text of files, until the signal aborts. Resolves when the first request for them has
 * ended, so that the service knows of the editor unless it cannot be reached.
 */
export async function serveBuffers ({ service, client, sessionId, editor, signal }: BufferParts): Promise<void> {
  /** Answers the open requests of the service. If none is open, waits up to `waitMs` milliseconds for one. */
  async function serve (waitMs: number): Promise<void> {
    const agent = await service.agent()
    const query = { editor, waitMs }
    const { data } = await listBufferRequests({ client: agent.client, path: { id: sessionId }, query, signal, throwOnError: true })
    for (const { requestId, path } of data.requests) void answer(agent, requestId, path).catch(() => {})
  }

  async function answer (agent: Agent, requestId: string, path: string): Promise<void> {
    const text = await client.request('fs/read_text_file', { sessionId, path }).then(({ content }) => content, () => undefined)
    const body = text === undefined ? {} : { text }
    await answerBufferRequest({ client: agent.client, path: { id: sessionId, requestId }, body, throwOnError: true })
  }

  async function follow (): Promise<void> {
    while (!signal.aborted) {
      await serve(WAIT_MS).catch(() => sleep(AGAIN_MS, undefined, { signal }).catch(() => {}))
    }
  }

  await serve(0).catch(() => {})
  void follow()
}
