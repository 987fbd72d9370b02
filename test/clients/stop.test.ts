import t from 'tap'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions } from './versions.ts'

/** How often each release stops and sends; 200 times in all. */
const TRIES = 40

for (const version of versions) {
  t.test(`a chat of ${version.name} that is stopped sends the next message at once, and is never refused`, async (t) => {
    const { app } = await withGateway(
      t,
      (_request, nth) => nth % 2 === 0 ? { text: ['and then ', 'nothing'], ending: 'stall', after: 4 } : { text: 'Here I am.' }
    )
    const path = version.approvals ? '/run' : '/run?protocol=ui5'
    const texts = new Set<string>()
    for (let n = 0; n < TRIES; n++) {
      const chat = await openChat(app, version, { id: `chat ${n}`, path })
      const said = chat.say('go')
      while (chat.last?.role !== 'assistant' || chat.text === '') await new Promise(setImmediate)
      // The stream has then ended here; whether the service knows it, no release waits for.
      await Promise.all([chat.chat.stop(), said])
      await chat.say('and now?')
      t.same(chat.errors, [])
      texts.add(chat.text)
    }
    t.same([...texts], ['Here I am.'])
    const { messages } = (await app.inject('/threads/chat%201')).json()
    t.same(messages.map(({ role }: { role: string }) => role), ['user', 'assistant', 'user', 'assistant'], 'nothing that was said is lost')
  })
}
