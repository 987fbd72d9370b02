import type { App } from '../../app.ts'
import { createAgent } from '../../client/index.ts'
import { of, sayAll } from '../harness/agent.ts'
import { openChat } from './chat.ts'
import { versions, type Version } from './versions.ts'

/** Says "go" in a thread. Resolves to the id of the answer, as the stream told it. */
export type Writer = (app: App, id: string) => Promise<string | undefined>

const documented: Writer = async (app, id) => {
  const { events } = await sayAll(app, [{ role: 'user', content: 'go' }], { id })
  return of(events, 'start')[0].messageId
}

const chatOf = (version: Version): Writer => async (app, id) => {
  const chat = await openChat(app, version, { id, path: version.approvals ? '/run' : '/run?protocol=ui5' })
  await chat.say('go')
  return chat.last.id
}

const inProcess: Writer = async (app, id) => {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const run = createAgent({ url: `http://127.0.0.1:${port}` }).run({ prompt: 'go', id })
  let answerId: string | undefined
  for await (const event of run) if (event.type === 'start') answerId = event.messageId
  return answerId
}

const [v5, , v6, , v7] = versions

/** Those that write threads by running the agent. */
export const writers: Record<string, Writer> = {
  'documented dialect': documented,
  'chat of ai 5': chatOf(v5),
  'chat of ai 6': chatOf(v6),
  'chat of ai 7': chatOf(v7),
  'agent.run': inProcess
}
