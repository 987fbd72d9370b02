import t from 'tap'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions } from './versions.ts'

for (const version of versions) {
  const path = version.approvals ? '/run' : '/run?protocol=ui5'

  t.test(`a page with a chat of ${version.name} that is reloaded takes up the run where it is`, async (t) => {
    const release = Promise.withResolvers<void>()
    const { app, gateway } = await withGateway(t, async (_request, nth) => {
      if (nth === 0) return { text: 'Looking. ', toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }
      await release.promise
      return { text: 'Nothing there.' }
    })
    const before = await openChat(app, version, {
      id: 'chat',
      path,
      prepareSendMessagesRequest: ({ messages, id }) => ({ body: { messages, id, resumable: true } })
    })
    const said = before.say('look')
    while (gateway.requests.length < 2) await new Promise(setImmediate)

    const reloaded = await openChat(app, version, { id: 'chat', messages: before.chat.messages.slice(0, 1) })
    const resumed = reloaded.chat.resumeStream()
    while (reloaded.chat.status !== 'streaming') await new Promise(setImmediate)
    await before.chat.stop()
    release.resolve()
    await Promise.all([said, resumed])

    t.match(reloaded.text, 'Looking. Nothing there.')
    t.match(reloaded.calls, [{ state: 'output-available', output: { entries: [] } }])
    t.same(reloaded.chat.messages.map(({ role }) => role), ['user', 'assistant'])
    t.equal(gateway.requests.length, 2, 'the model was asked once for each step')
    t.same([...before.errors, ...reloaded.errors], [])

    const later = await openChat(app, version, { id: 'chat', messages: reloaded.chat.messages })
    await later.chat.resumeStream()
    t.same(later.chat.messages, reloaded.chat.messages, 'with nothing under way, nothing changes')
    t.same(later.errors, [])
  })
}
