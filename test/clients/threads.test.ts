import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat, waiting } from './chat.ts'
import { versions, type Version } from './versions.ts'

const append = (text: string) => ({ toolName: 'runCommand', input: { command: `printf ${text} >> effects.log` } })
const signature = { anthropic: { signature: 'sig' } }
const redacted = { anthropic: { redactedData: 'hidden' } }

/**
 * Messages as they are compared: what JSON keeps of them, without the two things that releases keep in different ways,
 * the ids of reasoning parts, and the place of a bad call's input and of what its provider signed; and without the content of files, which
 * the thread names and the chat holds.
 */
const plain = (messages: unknown): any =>
  JSON.parse(JSON.stringify(messages), (_key, value) => {
    if (value?.type === 'reasoning') return { ...value, id: undefined }
    if (value?.type === 'file') return { ...value, url: /^(?:data:image|attachment:)/.test(value.url) }
    if (value?.state === 'output-error') {
      const { rawInput, resultProviderMetadata, ...part } = value
      return { ...part, input: value.input ?? rawInput, callProviderMetadata: value.callProviderMetadata ?? resultProviderMetadata }
    }
    return value
  })
const stored = async (app: App): Promise<any[]> => (await app.inject('/threads/chat')).json().messages

async function chatWith (t: Parameters<typeof withGateway>[0], version: Version, plans: Plan[], config = {}) {
  const { app, gateway } = await withGateway(t, (_request, nth) => plans[nth], { config })
  const path = version.approvals ? '/run' : '/run?protocol=ui5'
  const init = {
    id: 'chat',
    path,
    ...(version.approvals && { sendAutomaticallyWhen: version.release.lastAssistantMessageIsCompleteWithApprovalResponses })
  }
  const chat = await openChat(app, version, init)
  return {
    app,
    gateway,
    chat,
    holds: async (t: { same: (a: unknown, b: unknown, what: string) => unknown }, what: string) =>
      t.same(plain(await stored(app)), plain(chat.chat.messages), what),
    /** A chat that begins with what is stored, as an app does after its restart. */
    reopened: async () => openChat(app, version, { ...init, messages: await stored(app) })
  }
}

for (const version of versions) {
  t.test(`the thread of a chat of ${version.name} is what the chat holds`, async (t) => {
    t.test('thinking, text, tools good and bad, files, and a turn after a restart of the app', async (t) => {
      const { app, chat, holds, reopened, gateway } = await chatWith(t, version, [
        {
          parts: [
            { type: 'reasoning-start', id: 'r' },
            { type: 'reasoning-delta', id: 'r', delta: 'hm ' },
            { type: 'reasoning-delta', id: 'r', delta: 'hm' },
            { type: 'reasoning-end', id: 'r', providerMetadata: signature },
            { type: 'reasoning-start', id: 's' },
            { type: 'reasoning-delta', id: 's', delta: 'so' },
            { type: 'reasoning-delta', id: 's', delta: '', providerMetadata: signature },
            { type: 'reasoning-end', id: 's' },
            { type: 'reasoning-start', id: 'q', providerMetadata: redacted },
            { type: 'reasoning-end', id: 'q' },
            { type: 'text-start', id: 't', providerMetadata: { openai: { itemId: 'msg' } } },
            { type: 'text-delta', id: 't', delta: 'Let me ' },
            { type: 'text-delta', id: 't', delta: 'look.' },
            { type: 'text-end', id: 't', providerMetadata: signature },
            ...[['listDirectory', '{"path":"."}'], ['readFile', '{"path":"missing"}'], ['readFile', '{"file":1}']].map((
              [toolName, input],
              n
            ) => ({ type: 'tool-call', toolCallId: `c${n}`, toolName, input, providerMetadata: signature })),
            {
              type: 'finish',
              finishReason: { unified: 'tool-calls', raw: 'x' },
              usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
            }
          ]
        },
        { text: 'Nothing there.' },
        { text: 'A dot.' },
        { text: 'You said go.' }
      ], { analysis: true })
      await chat.say('go')
      await holds(t, 'after the first turn')
      await chat.chat.sendMessage({
        text: 'and this?',
        metadata: { mine: [1] },
        files: [{ type: 'file', mediaType: 'image/png', filename: 'dot.png', url: 'data:image/png;base64,iVBORw0KGgo=' }]
      })
      await holds(t, 'with a file')

      const later = await reopened()
      await later.say('what did I say first?')
      t.equal(later.text, 'You said go.')
      t.same(plain(await stored(app)), plain(later.chat.messages))
      const { prompt } = gateway.requests.at(-1)!.body
      t.same(prompt.slice(1).map(({ role }: any) => role), ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'])
      const [hm, so, hidden, text, ...calls] = prompt[2].content
      t.strictSame([hm, so], ['hm hm', 'so'].map((text) => ({ type: 'reasoning', text, providerOptions: signature })))
      t.strictSame(hidden, { type: 'reasoning', text: '', providerOptions: redacted })
      t.strictSame(text, { type: 'text', text: 'Let me look.', providerOptions: { openai: { itemId: 'msg' }, ...signature } })
      t.match(calls, Array(3).fill({ type: 'tool-call', providerOptions: signature }))
      t.match(calls[2], { input: { file: 1 } })
      t.same(chat.chat.messages[1].parts.flatMap((part: any) => part.type === 'reasoning' ? [part.providerMetadata] : []), [
        { agent: { phase: 'analysis' } },
        ...[signature, signature, redacted].map((attached) => ({ ...attached, agent: { model: 'test/model' } }))
      ], 'the chat holds it')
      t.same([...chat.errors, ...later.errors], [])
    })

    t.test("an answer that was asked for again, an edited message, and the model's failure", async (t) => {
      const { chat, holds } = await chatWith(t, version, [
        { text: 'first' },
        { text: 'second' },
        { text: 'third' },
        { error: { status: 400, message: 'no' } },
        { text: 'half', ending: 'invalid-json' },
        { text: 'fifth' },
        { text: 'sixth' }
      ])
      await chat.say('one')
      await chat.chat.regenerate()
      await holds(t, 'regenerated')
      await chat.say('two')
      await chat.say('three')
      await holds(t, 'failed at once')
      await chat.say('four')
      await holds(t, 'failed midway')
      await chat.say('five')
      await holds(t, 'gone on')
      await chat.chat.sendMessage({ text: 'two, I mean', messageId: chat.chat.messages[2].id })
      t.equal(chat.chat.messages.length, 4)
      await holds(t, 'edited')
    })

    t.test('approvals, given and denied, one of them after a restart of the app', async (t) => {
      const { app, chat, holds, reopened, gateway } = await chatWith(t, version, [
        { text: 'Two.', toolCalls: [append('a'), append('b')] },
        { toolCalls: [append('c')] },
        { text: 'Done.' },
        { text: 'Bye.' }
      ])
      await chat.say('go')
      await holds(t, 'asked')
      if (!version.approvals) {
        await chat.say('no, wait')
        return holds(t, 'moved on')
      }
      const [a, b] = waiting(chat)
      await chat.chat.addToolApprovalResponse({ id: a, approved: false, reason: 'not that' })
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: b, approved: true, reason: 'fine' }))
      await holds(t, 'answered, and asked again')

      const later = await reopened()
      await later.andOn(() => later.chat.addToolApprovalResponse({ id: waiting(later)[0], approved: true }))
      t.equal(later.text, 'Two.Done.')
      t.same(plain(await stored(app)), plain(later.chat.messages))
      await later.say('bye')
      t.same(plain(await stored(app)), plain(later.chat.messages))
      t.equal(gateway.requests.at(-1)!.body.prompt.filter(({ role }: any) => role === 'tool').length, 2)
      t.same([...chat.errors, ...later.errors], [])
      return undefined
    })
  })
}

t.test('a thread whose messages are of both shapes is a history like any other', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => ({ text: `answer ${nth}` }))
  const run = (payload: object) => app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', ...payload } })
  await run({ message: { role: 'user', content: 'one' } })
  await run({ message: { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'two' }] } })
  await run({ message: { role: 'user', content: [{ type: 'text', text: 'three' }] } })
  t.match(await stored(app), [
    { content: 'one' },
    { content: [{ text: 'answer 0' }] },
    { id: 'm2' },
    { role: 'assistant', id: /./, parts: [{ type: 'step-start' }, { text: 'answer 1' }] },
    { role: 'user' },
    { role: 'assistant' }
  ])
  t.same(gateway.requests.at(-1)!.body.prompt.slice(1).map(({ content }: any) => content[0].text), [
    'one',
    'answer 0',
    'two',
    'answer 1',
    'three'
  ])
})

t.test('a thread with parts that no client of today knows keeps them, and is gone on with', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  const strange = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }, { type: 'hologram', of: [1] }], mine: null }
  const only = { id: 'n', role: 'assistant', parts: [{ type: 'hologram', of: [2] }] }
  await app.inject({ method: 'PUT', url: '/threads/chat', payload: { messages: [strange, only] } })
  const message = { id: 'o', role: 'user', parts: [{ type: 'text', text: 'and now?' }] }
  t.equal((await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message } })).statusCode, 200)
  t.same(gateway.requests[0].body.prompt.slice(1).map(({ content }: any) => content[0].text), ['hi', 'and now?'])
  t.strictSame((await app.inject('/threads/chat')).json().messages.slice(0, 3), [strange, only, message])
})
