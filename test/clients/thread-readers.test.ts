import { existsSync, readFileSync } from 'node:fs'
import { type ModelMessage, modelMessageSchema } from 'ai'
import t from 'tap'
import type { App } from '../../app.ts'
import { sayAll } from '../harness/agent.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat, waiting } from './chat.ts'
import { writers } from './thread-writers.ts'
import { versions } from './versions.ts'

const v7 = versions.at(-1)!
const PICTURE = 'iVBORw0KGgo='
const write = (path: string) => ({ toolName: 'writeFile', input: { path, content: path } })
const PLANS = [
  { text: 'Look:', toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }, write('a.txt'), write('b.txt')] },
  { text: 'Written.' },
  { text: 'A dot.' },
  { text: 'Bye.' },
  { text: 'Bye again.' },
  { text: 'Anew.' }
]

const read = async (app: App, protocol?: string): Promise<any[]> =>
  (await app.inject(`/threads/chat${protocol === undefined ? '' : `?protocol=${protocol}`}`)).json().messages
const stored = (app: App) => app.threadRepository.messages('chat')

/** What everybody may rely on, whoever wrote the thread. */
async function checkReadings (t: any, app: App) {
  const before = await stored(app)
  for (const protocol of ['documented', 'ui', 'ui5', undefined]) {
    const messages = await read(app, protocol)
    if (protocol !== undefined) t.equal(new Set(messages.map(({ id }) => id)).size, messages.length, `${protocol}: each message has an id`)
    t.same(await read(app, protocol), messages)
    t.equal((await app.inject({ method: 'PUT', url: '/threads/chat', payload: { messages } })).statusCode, 200)
    t.strictSame(await stored(app), before, `${protocol}: put back unchanged, the thread stays as it was`)
  }
  for (const message of await read(app, 'documented')) t.ok(modelMessageSchema.safeParse(message).success, JSON.stringify(message))
  for (const { name, release, approvals } of versions) {
    const messages = (await read(app, approvals ? 'ui' : 'ui5')).map((message) => ({
      ...message,
      parts: message.parts.filter(({ type }: any) => type !== 'hologram')
    }))
    t.match(await release.safeValidateUIMessages({ messages }), { success: true }, name)
  }
}

for (const [name, begin] of Object.entries(writers)) {
  t.test(`what the ${name} wrote, a chat shows and goes on with`, async (t) => {
    const { app, gateway } = await withGateway(t, (_request, nth) => PLANS[nth])
    const answerId = await begin(app, 'chat')
    await checkReadings(t, app)
    const waits = await read(app, 'ui')
    t.match(waits, [{ role: 'user' }, { role: 'assistant', id: answerId }])
    t.equal(waits.length, 2)

    const init = { id: 'chat', messages: waits, sendAutomaticallyWhen: v7.release.lastAssistantMessageIsCompleteWithApprovalResponses }
    const chat = await openChat(app, v7, init)
    const [a, b] = waiting(chat)
    await chat.chat.addToolApprovalResponse({ id: a, approved: true })
    await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: b, approved: false, reason: 'not b' }))
    t.same(chat.errors, [])
    t.same([chat.chat.messages.length, chat.text], [2, 'Look:Written.'], 'the same message goes on')
    t.same([existsSync(`${app.cwd}/b.txt`), readFileSync(`${app.cwd}/a.txt`, 'utf8')], [false, 'a.txt'])
    const file = { type: 'file' as const, mediaType: 'image/png', filename: 'dot.png', url: `data:image/png;base64,${PICTURE}` }
    await chat.chat.sendMessage({ text: 'and this?', files: [file], metadata: { mine: [1] } })
    t.same(chat.errors, [])

    await checkReadings(t, app)
    const ui = await read(app, 'ui')
    t.match(ui, [
      { role: 'user', parts: [{ text: 'go' }] },
      { id: answerId, parts: [{ type: 'step-start' }, { text: 'Look:' }, { type: 'tool-listDirectory', state: 'output-available' }] },
      { role: 'user', metadata: { mine: [1] }, parts: [{ ...file, url: /^attachment:/ }, { text: 'and this?' }] },
      { role: 'assistant', parts: [{ type: 'step-start' }, { text: 'A dot.' }] }
    ])
    const calls = ui[1].parts.filter(({ type }: any) => type === 'tool-writeFile')
    t.match(calls, [{ state: 'output-available', input: { path: 'a.txt' }, output: {} }, { input: { path: 'b.txt' } }])
    t.match(calls[1], name === 'chat of ai 5' ? { state: 'output-error' } : { state: 'output-denied', approval: { approved: false } })
    const documented = await read(app, 'documented')
    t.same(documented.map(({ role }) => role), ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'])
    t.match(documented, [{ content: 'go' }, { id: answerId, content: [{ text: 'Look:' }, { type: 'tool-call' }, { type: 'tool-call' }] }, {
      content: Array.from({ length: 3 }, () => ({}))
    }, { content: [{ text: 'Written.' }] }, { content: [{ type: 'file', data: ui[2].parts[0].url }, { text: 'and this?' }] }])

    const before = await stored(app)
    await sayAll(app, [...documented, { role: 'user', content: 'bye' }], { id: 'chat' })
    t.strictSame((await stored(app)).slice(0, before.length), before, 'a documented history is the thread, whoever wrote it')
    const later = await openChat(app, v7, { id: 'chat', messages: await read(app, 'ui') })
    await later.say('bye')
    t.strictSame((await stored(app)).slice(0, before.length), before, 'so is the one of a chat')
    t.equal((await stored(app)).length, before.length + 4)
    const [byDocumented, byChat] = gateway.requests.slice(3, 5).map(({ body }) => body.prompt.slice(1, 8))
    t.same(byDocumented.map(({ role }: any) => role), ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'])
    t.same(byChat, byDocumented, 'the model is told the same')

    await later.chat.sendMessage({ text: 'no, come', messageId: later.chat.messages[0].id })
    t.match(await read(app, 'ui'), [{ parts: [{ text: 'no, come' }] }, { parts: [{ type: 'step-start' }, { text: 'Anew.' }] }])
    t.equal((await stored(app)).length, 2, 'a message is edited by the id that it was read with')
  })
}

t.test('what an app put into a thread is read in both shapes, with its fields, and stays as it is', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  const result = (toolCallId: string, output: object) => ({ type: 'tool-result', toolCallId, toolName: 'find', output })
  const call = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'find', input: { path: 'a' } })
  const put: ModelMessage[] | any[] = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: [{ type: 'text', text: 'hi' }, { type: 'image', image: PICTURE }], mine: 1 },
    { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, call('c1'), call('c2'), call('c3')], mine: 2 },
    {
      role: 'tool',
      content: [
        result('c1', { type: 'json', value: { found: 1 } }),
        result('c2', { type: 'error-text', value: 'no' }),
        result('c3', { type: 'execution-denied', reason: 'not now' })
      ]
    },
    { role: 'assistant', content: 'Found.' },
    { role: 'user', content: 'hi' },
    { id: 'u', role: 'user', mine: 3, parts: [{ type: 'hologram' }, { type: 'text', text: 'now?' }, { type: 'data-my', data: 1 }] },
    {
      id: 'v',
      role: 'assistant',
      metadata: { a: 1 },
      parts: [{ type: 'text', text: 'Then.' }, { type: 'source-url', sourceId: 's', url: 'x:' }]
    }
  ]
  await app.inject({ method: 'PUT', url: '/threads/chat', payload: { messages: put } })
  await checkReadings(t, app)
  // Only the picture is stored apart.
  const image = { type: 'image', image: /^attachment:/, mediaType: 'image/png' }
  const written = await read(app)
  t.match(written[1].content, [{ text: 'hi' }, image])
  t.strictSame(written.with(1, put[1]), put)
  t.match(await read(app, 'ui'), [
    { role: 'system', parts: [{ text: 'Be kind.' }] },
    { mine: 1, parts: [{ text: 'hi' }, { type: 'file', mediaType: 'image/png', url: written[1].content[1].image }] },
    {
      mine: 2,
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'hm' },
        { type: 'tool-find', state: 'output-available', output: { found: 1 } },
        { state: 'output-error', errorText: 'no' },
        { state: 'output-error', errorText: 'not now' },
        { type: 'step-start' },
        { text: 'Found.' }
      ]
    },
    { parts: [{ text: 'hi' }] },
    put[6],
    put[7]
  ])
  const documented = await read(app, 'documented')
  t.match(documented.slice(-2), [
    { id: 'u', content: 'now?', mine: 3, chatParts: [{ type: 'hologram' }, { type: 'data-my' }] },
    { id: 'v', metadata: { a: 1 }, content: [{ text: 'Then.' }], chatParts: [{ type: 'source-url' }] }
  ])
  // A page begins with a whole answer, and one changed message changes that alone.
  t.match((await app.inject('/threads/chat?protocol=ui&limit=4')).json(), { messages: [{ mine: 2 }, {}, {}, {}], nextCursor: '2' })
  const changed = (await read(app, 'ui')).map((message) => message.mine === 2 ? { ...message, metadata: { pinned: true } } : message)
  await app.inject({ method: 'PUT', url: '/threads/chat', payload: { messages: changed } })
  t.strictSame(await read(app), [...written.slice(0, 2), changed[2], ...put.slice(5)])
  await sayAll(app, [...await read(app, 'documented'), { role: 'user', content: 'and?' }], { id: 'chat' })
  t.equal((await read(app)).length, changed.length + 2, 'the history is known')
  t.match(JSON.stringify(gateway.requests[0].body.prompt), /Be kind.*not now.*Found.*Then/)
})

t.test('a chat sees the object of an answer in the documented dialect, and its calls of the application', async (t) => {
  const tool = { name: 'order', description: 'Orders', inputSchema: { type: 'object' }, effect: 'read' }
  const { app } = await withGateway(t, (_request, nth) => [
    { toolCalls: [{ toolName: 'answer', input: { city: 'Lisbon' } }] },
    { toolCalls: [{ toolName: 'order', input: { n: 1 } }] }
  ][nth], { config: { permissions: { order: 'ask' } } })
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  await sayAll(app, [{ role: 'user', content: 'where?' }], { id: 'chat', options: { object: { schema } } })
  await sayAll(app, [...await read(app, 'documented'), { role: 'user', content: 'order' }], { id: 'chat', options: { appTools: [tool] } })
  const [, first, , second] = await read(app, 'ui')
  t.match(first.parts.at(-1), { type: 'data-object', data: { object: { city: 'Lisbon' } } })
  t.match(first.metadata, { threadId: 'chat', runId: /./, finishReason: 'stop', usage: { inputTokens: Number } })
  t.match(second.parts.filter(({ type }: any) => type === 'tool-order'), [{ toolCallId: /./ }])
  t.match((await read(app, 'documented'))[1], { chatParts: [{ type: 'data-object' }] })
  await checkReadings(t, app)
})
