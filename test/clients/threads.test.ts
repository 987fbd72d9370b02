import { existsSync, readFileSync } from 'node:fs'
import { type ModelMessage, modelMessageSchema } from 'ai'
import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { sayAll } from '../harness/agent.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat, waiting } from './chat.ts'
import { writers } from './thread-writers.ts'
import { type Version, versions } from './versions.ts'

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
      const held = chat.chat.messages[1].parts.flatMap((part: any) => part.type === 'reasoning' ? [part.providerMetadata] : [])
      t.same(held.filter(({ agent }) => agent.phase), [{ agent: { phase: 'analysis' } }], 'the chat holds it, wherever it came')
      t.same(
        held.filter(({ agent }) => !agent.phase),
        [signature, signature, redacted].map((attached) => ({ ...attached, agent: { model: 'test/model' } }))
      )
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
      t.match(chat.last.metadata, { stopped: { reason: 'failed', text: chat.errors.at(-1)!.message } }, 'with the reason')
      await chat.say('four')
      await holds(t, 'failed midway')
      t.match(chat.last.metadata, { stopped: { reason: 'failed', text: chat.errors.at(-1)!.message } })
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
const storedIn = (app: App) => app.threadRepository.messages('chat')

/** What everybody may rely on, whoever wrote the thread. */
async function checkReadings (t: any, app: App) {
  const before = await storedIn(app)
  for (const protocol of ['documented', 'ui', 'ui5', undefined]) {
    const messages = await read(app, protocol)
    if (protocol !== undefined) t.equal(new Set(messages.map(({ id }) => id)).size, messages.length, `${protocol}: each message has an id`)
    t.same(await read(app, protocol), messages)
    t.equal((await app.inject({ method: 'PUT', url: '/threads/chat', payload: { messages } })).statusCode, 200)
    t.strictSame(await storedIn(app), before, `${protocol}: put back unchanged, the thread stays as it was`)
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

    const before = await storedIn(app)
    await sayAll(app, [...documented, { role: 'user', content: 'bye' }], { id: 'chat' })
    t.strictSame((await storedIn(app)).slice(0, before.length), before, 'a documented history is the thread, whoever wrote it')
    const later = await openChat(app, v7, { id: 'chat', messages: await read(app, 'ui') })
    await later.say('bye')
    t.strictSame((await storedIn(app)).slice(0, before.length), before, 'so is the one of a chat')
    t.equal((await storedIn(app)).length, before.length + 4)
    const [byDocumented, byChat] = gateway.requests.slice(3, 5).map(({ body }) => body.prompt.slice(1, 8))
    t.same(byDocumented.map(({ role }: any) => role), ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'])
    t.same(byChat, byDocumented, 'the model is told the same')

    await later.chat.sendMessage({ text: 'no, come', messageId: later.chat.messages[0].id })
    t.match(await read(app, 'ui'), [{ parts: [{ text: 'no, come' }] }, { parts: [{ type: 'step-start' }, { text: 'Anew.' }] }])
    t.equal((await storedIn(app)).length, 2, 'a message is edited by the id that it was read with')
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
