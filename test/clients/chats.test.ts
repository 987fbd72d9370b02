import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { analysis } from '../harness/with-analysis.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { type Version, versions } from './versions.ts'

const look = { toolName: 'listDirectory', input: { path: '.' } }

for (const version of versions) {
  t.test(`a chat of ${version.name}`, async (t) => {
    t.test('shows one answer, and its second version as a part of its own', async (t) => {
      const claims = [{ quote: 'I saved it in list.md', claim: 'Saved', effect: 'file', target: 'list.md', call: null }]
      const said = ['I saved it in list.md.', 'It was not saved.', 'ok']
      const { app, gateway } = await withGateway(t, (_request, nth) => ({ text: said[nth] }), {
        config: { analysis: true },
        structured: (name) =>
          ({ object: name === 'analysis' ? analysis('complex') : { outcome: 'done', satisfied: true, score: 1, issues: [], claims } })
      })
      const chat = await openChat(app, version, { id: 'chat' })
      await chat.say('save it')
      t.equal(chat.text, 'I saved it in list.md.')
      t.match(chat.parts.at(-1), { type: 'data-revision', data: { text: 'It was not saved.' } })
      await chat.say('go on')
      const last = gateway.requests.findLast(({ structured }) => structured === undefined)!
      t.match(JSON.stringify(last.body.prompt), /I saved it in list\.md\..*It was not saved\./)
      t.same(chat.errors, [])
    })

    t.test('shows the thinking and the answer, and its next turn brings the model the conversation without our thinking', async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) => ({ reasoning: 'hm', text: ['Hello there.', 'And again.'][nth] }), {
        config: { analysis: true }
      })
      const chat = await openChat(app, version, { id: 'chat' })

      await chat.say('hi')
      const isAnalysis = ({ providerMetadata }: any) => providerMetadata?.agent?.phase === 'analysis'
      t.match(chat.parts.filter(isAnalysis), [{ type: 'reasoning', text: /short question/, state: 'done' }])
      t.match(chat.parts.filter((part) => !isAnalysis(part)), [
        { type: 'step-start' },
        { type: 'reasoning', text: 'hm', state: 'done' },
        { type: 'text', text: 'Hello there.', state: 'done' }
      ])
      t.match(chat.last, { role: 'assistant', metadata: { threadId: 'chat', finishReason: 'stop' } })

      await chat.say('go on')
      t.equal(chat.text, 'And again.')
      t.same(chat.chat.messages.map(({ role }) => role), ['user', 'assistant', 'user', 'assistant'])
      const [, ...prompt] = gateway.requests.at(-1)!.body.prompt
      t.match(prompt, [
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'Hello there.' }] },
        { role: 'user', content: [{ text: 'go on' }] }
      ])
      t.notMatch(JSON.stringify(prompt), /short question/)
      t.equal(chat.chat.status, 'ready')
      t.same(chat.errors, [])
    })

    t.test('brings back to the model what its provider signed', async (t) => {
      const signature = { anthropic: { signature: 'sig' } }
      const { app, gateway } = await withGateway(t, () => ({
        parts: [
          { type: 'reasoning-start', id: 'r' },
          { type: 'reasoning-delta', id: 'r', delta: 'hm' },
          { type: 'reasoning-end', id: 'r', providerMetadata: signature },
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'Hi.' },
          { type: 'text-end', id: 't', providerMetadata: signature },
          {
            type: 'finish',
            finishReason: { unified: 'stop', raw: 'stop' },
            usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
          }
        ]
      }))
      const chat = await openChat(app, version)
      await chat.say('hi')
      await chat.say('go on')
      t.match(gateway.requests[1].body.prompt[2].content, [
        { type: 'reasoning', text: 'hm', providerOptions: signature },
        { type: 'text', text: 'Hi.', providerOptions: signature }
      ])
      t.same(chat.errors, [])
    })

    t.test('shows tools at work, good and bad calls, and what they came to', async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) =>
        [
          {
            text: 'Let me look.',
            toolCalls: [look, { toolName: 'readFile', input: { path: 'missing.txt' } }, { toolName: 'readFile', input: { where: 'x' } }]
          },
          { toolCalls: [{ toolName: 'noSuchTool', input: {} }] },
          { text: 'That is all.' },
          { text: 'Yes.' }
        ][nth])
      writeFileSync(`${app.cwd}/here.txt`, 'x')
      const chat = await openChat(app, version)

      await chat.say('go')
      t.match(chat.parts, [
        { type: 'step-start' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool-listDirectory', state: 'output-available', input: { path: '.' }, output: { entries: [{ name: 'here.txt' }] } },
        { type: 'tool-readFile', state: 'output-error', errorText: /missing\.txt/, input: { path: 'missing.txt' } },
        { type: 'tool-readFile', state: 'output-error', errorText: /path/ },
        { type: 'step-start' },
        { type: 'tool-noSuchTool', state: 'output-error', errorText: /noSuchTool/ },
        { type: 'step-start' },
        { type: 'text', text: 'That is all.' }
      ])

      await chat.say('sure?')
      t.equal(chat.text, 'Yes.')
      const results = gateway.requests.at(-1)!.body.prompt.filter(({ role }: any) => role === 'tool')
      t.match(results, [
        {
          content: [{ output: { type: 'json', value: { entries: 'here.txt 1' } } }, {
            output: { type: 'error-text', value: /missing\.txt/ }
          }, { output: { type: 'error-text' } }]
        },
        { content: [{ output: { type: 'error-text', value: /noSuchTool/ } }] }
      ])
      t.match(
        gateway.requests.at(-1)!.body.prompt[2].content.at(-1),
        { type: 'tool-call', input: { where: 'x' } },
        'the bad input is not lost'
      )
      t.same(chat.errors, [])
    })

    t.test("is told of a model's failure, and goes on afterwards", async (t) => {
      const { app } = await withGateway(t, (_request, nth) =>
        [
          { text: ['half ', 'an answer'], ending: 'invalid-json' as const, after: 4 },
          { text: 'Better now.' }
        ][nth])
      const chat = await openChat(app, version, { id: 'chat' })
      await chat.say('go')
      t.equal(chat.chat.status, 'error')
      t.match(chat.errors, [{ message: /test\/model/ }])
      t.match(chat.text, /^half/)
      await chat.say('try again')
      t.equal(chat.text, 'Better now.')
      t.equal(chat.errors.length, 1)
    })

    t.test('regenerates an answer', async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) => ({ text: ['first', 'second'][nth] }))
      const chat = await openChat(app, version, { id: 'chat' })
      await chat.say('go')
      await chat.chat.regenerate()
      t.equal(chat.text, 'second')
      t.same(chat.chat.messages.map(({ role }) => role), ['user', 'assistant'])
      t.match(gateway.requests[1].body.prompt.slice(1), [{ role: 'user', content: [{ text: 'go' }] }])
      t.same(chat.errors, [])
    })

    t.test('attaches files', async (t) => {
      const { app, gateway } = await withGateway(t, () => ({ text: 'a dot' }))
      const chat = await openChat(app, version)
      await chat.chat.sendMessage({
        text: 'what is this?',
        files: [{ type: 'file', mediaType: 'image/png', filename: 'dot.png', url: 'data:image/png;base64,iVBORw0KGgo=' }]
      })
      t.match(gateway.requests[0].body.prompt[1].content, [{ type: 'file', mediaType: 'image/png' }, {
        type: 'text',
        text: 'what is this?'
      }])
      t.match(JSON.stringify(gateway.requests[0].body.prompt[1].content[0]), 'iVBORw0KGgo=')
      t.same(chat.errors, [])
    })

    t.test('works with no model at all', async (t) => {
      const app = await build(t)
      writeFileSync(`${app.cwd}/here.txt`, 'x')
      const chat = await openChat(app, version)
      await chat.say('list the files here, then read here.txt')
      t.match(chat.calls, [{ type: 'tool-listDirectory', state: 'output-available' }, { type: 'tool-readFile', state: 'output-available' }])
      t.match(chat.text, /here\.txt/)
      t.same(chat.errors, [])
    })
  })
}

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
