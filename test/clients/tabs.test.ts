import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { sayAll } from '../harness/agent.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions, type Version } from './versions.ts'

const textIn = ({ parts, content }: any): string =>
  typeof content === 'string' ? content : (parts ?? content).map(({ text = '' }) => text).join('')
const stored = async (app: App): Promise<string[]> => (await app.inject('/threads/chat')).json().messages.map(textIn)

/** A conversation in two tabs, A and B, that both know its first exchange. */
async function twoTabs (t: Test, version: Version) {
  const { app, gateway } = await withGateway(t, (_request, nth) => ({ text: `answer ${nth}` }))
  const init = { id: 'chat', path: version.approvals ? '/run' : '/run?protocol=ui5' }
  const a = await openChat(app, version, init)
  await a.say('first')
  const b = await openChat(app, version, { ...init, messages: structuredClone(a.chat.messages) })
  return { app, gateway, a, b }
}

for (const version of versions) {
  t.test(`two tabs with one chat of ${version.name}`, async (t) => {
    t.test('keep what the other one said, for as long as they go on', async (t) => {
      const { app, gateway, a, b } = await twoTabs(t, version)
      await b.say('from B')
      await a.say('from A')
      const first = ['first', 'answer 0', 'from B', 'answer 1', 'from A', 'answer 2']
      t.same(await stored(app), first)
      t.notMatch(JSON.stringify(gateway.requests[2].body.prompt), 'from B', 'the model is told what the tab shows')
      await a.say('more from A')
      await b.say('more from B')
      await b.say('yet more from B')
      await a.say('the last')
      t.same((await stored(app)).filter((text) => !text.startsWith('answer')), [
        ...['first', 'from B', 'from A', 'more from A', 'more from B', 'yet more from B', 'the last']
      ])
      t.same(a.chat.messages.map(textIn).filter((text) => !text.startsWith('answer')), ['first', 'from A', 'more from A', 'the last'])
      t.same([...a.errors, ...b.errors], [])
    })

    t.test('keep it also when one of them asks for another answer, or edits its own message', async (t) => {
      const { app, a, b } = await twoTabs(t, version)
      await b.say('from B')
      await a.say('from A')
      await a.chat.regenerate()
      t.same(await stored(app), ['first', 'answer 0', 'from B', 'answer 1', 'from A', 'answer 3'])
      const { id } = a.chat.messages.at(-2)!
      await a.chat.sendMessage({ text: 'edited in A', messageId: id })
      t.same(await stored(app), ['first', 'answer 0', 'from B', 'answer 1', 'edited in A', 'answer 4'])
      t.same(a.errors, [])
    })

    t.test('cut the conversation where they say so', async (t) => {
      const { app, a, b } = await twoTabs(t, version)
      await b.say('from B')
      await a.chat.sendMessage({ text: 'edited', messageId: a.chat.messages[0].id })
      t.same(await stored(app), ['edited', 'answer 2'])
      const again = await openChat(app, version, {
        id: 'chat',
        path: version.approvals ? '/run' : '/run?protocol=ui5',
        messages: (await app.inject('/threads/chat')).json().messages
      })
      await again.say('second')
      const before = structuredClone(again.chat.messages)
      await again.say('third')
      // The answer to "second" was lost on its way, and the chat sends the message as it is.
      again.chat.messages = before.slice(0, 3)
      await again.chat.sendMessage()
      t.same(await stored(app), ['edited', 'answer 2', 'second', 'answer 5'])
      again.chat.messages = (await app.inject('/threads/chat')).json().messages
      await again.chat.regenerate()
      t.same(await stored(app), ['edited', 'answer 2', 'second', 'answer 6'])
      t.same(again.errors, [])
    })
  })
}

t.test('a caller that is no chat sends the history that it wants', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => ({ text: `answer ${nth}` }))
  const said = (role: string, content: string) => ({ role, content })
  const first = [said('user', 'first'), said('assistant', 'answer 0')]
  await sayAll(app, first.slice(0, 1), { id: 'chat' })
  await sayAll(app, [...first, said('user', 'second')], { id: 'chat' })
  await sayAll(app, [...first, said('user', 'instead')], { id: 'chat', trigger: 'submit-message' })
  t.same(await stored(app), ['first', 'answer 0', 'instead', 'answer 2'])
})
