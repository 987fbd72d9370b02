import type { RunBody } from '../../schemas/agent.ts'
import { takeFiles } from '../attachments/index.ts'
import { withRunModels } from '../models/index.ts'
import type { RawMessage } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { threadOptions } from './run-settings.ts'

/**
 * Returns a request whose messages name attachments in place of the bytes that they held, and the function that lets go of these. Files of
 * the new message that its model cannot be given in any form are refused before anything is stored. Throws as `takeFiles` and `checkFiles`.
 */
export async function takeAttachments (
  body: RunBody,
  { attachments, store, registry, agents, threads }: AgentDeps
): Promise<{ body: RunBody, release: () => void }> {
  const given: RawMessage[] = body.messages ?? (body.message === undefined ? [] : [body.message])
  const { messages, release } = await takeFiles(given, { attachments, digest: store.digest }, {
    thread: body.id,
    nameOf: (n) => body.messages === undefined ? 'message' : `messages[${n}]`,
    isNew: (n) => n === given.length - 1 && given[n].role === 'user',
    async check (files) {
      const ofThread = body.id === undefined ? undefined : await threads.settings(body.id)
      const { options } = await agents.resolve([threadOptions(ofThread), body.options])
      await registry.requireFilesTaken(withRunModels({ registry }, options).registry.roles().capable, files)
    }
  })
  return { body: { ...body, ...body.messages === undefined ? body.message && { message: messages[0] } : { messages } }, release }
}
