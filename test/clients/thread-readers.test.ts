import { modelMessageSchema, readUIMessageStream, type UIMessageChunk } from 'ai'
import t from 'tap'
import type { App } from '../../app.ts'
import { sayAll } from '../harness/agent.ts'
import { parseEvents } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions } from './versions.ts'
import { createAgent } from '../../client/index.ts'

interface Written {
  threadId: string
  /** Undefined where no run wrote it. */
  runId?: string
}

const v7 = versions.at(-1)!
const PLANS = [
  { text: 'Looking around.', toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] },
  { text: 'Nothing but a quokka.' },
  { text: 'Bye.' }
]
const go = { role: 'user', content: 'go' }
const placeOf = ({ headers }: { headers: Record<string, any> }): Written =>
  ({ threadId: decodeURIComponent(headers['x-thread-id']), runId: headers['x-run-id'] })

async function inEditor (app: App): Promise<Written> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const { threadId, runId } = await createAgent({ url: `http://127.0.0.1:${port}` }).run({ prompt: 'go', id: 'chat' }).result()
  return { threadId, runId }
}

async function inChat (app: App): Promise<Written> {
  const chat = await openChat(app, v7, { id: 'chat' })
  await chat.say('go')
  return chat.last.metadata as Written
}

async function asImport (app: App): Promise<Written> {
  const call = { toolCallId: 'c', toolName: 'listDirectory' }
  const messages = [
    go,
    { role: 'assistant', content: [{ type: 'text', text: 'Looking around.' }, { type: 'tool-call', ...call, input: { path: '.' } }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'json', value: { entries: [] } } }] },
    { role: 'assistant', content: 'Nothing but a quokka.' }
  ]
  await app.inject({ method: 'PUT', url: '/threads/chat', payload: { messages } })
  return { threadId: 'chat' }
}

const writers: Record<string, (app: App) => Promise<Written>> = {
  'a chat': inChat,
  'the documented protocol': async (app) => placeOf(await sayAll(app, [go], { id: 'chat' })),
  'the documented protocol without an id': async (app) => placeOf(await sayAll(app, [go])),
  '/v1': async (app) =>
    placeOf(await app.inject({ method: 'POST', url: '/v1/chat/completions', payload: { model: 'test/model', messages: [go] } })),
  'the client that editors use': inEditor,
  'an import': asImport
}

/** Returns the message that a chat makes of the stream of a run. */
async function messageOfStream (app: App, runId: string) {
  const { body } = await app.inject(`/run/${runId}/stream?protocol=ui`)
  const chunks = parseEvents(body.replace(/data: \[DONE\]\n\n$/, '')) as unknown as UIMessageChunk[]
  let message
  for await (const each of readUIMessageStream({ stream: ReadableStream.from(chunks) as ReadableStream<UIMessageChunk> })) message = each
  return message
}

const textsOf = (messages: any[]) => messages.flatMap(({ content, parts = content }) =>
  typeof parts === 'string' ? [parts] : parts.flatMap(({ text }: { text?: string }) => text ?? []))

for (const [name, write] of Object.entries(writers)) {
  t.test(`what ${name} wrote is the same for everybody who reads it`, async (t) => {
    const { app, gateway } = await withGateway(t, (_request, nth) => PLANS[name === 'an import' ? 2 : nth])
    const { threadId, runId } = await write(app)
    const read = async (protocol: string) => (await app.inject(`/threads/${threadId}?protocol=${protocol}`)).json().messages
    const [documented, ui] = [await read('documented'), await read('ui')]

    t.same(documented.map(({ role }: any) => role), ['user', 'assistant', 'tool', 'assistant'])
    for (const message of documented) t.ok(modelMessageSchema.safeParse(message).success)
    const said = ['go', 'Looking around.', 'Nothing but a quokka.']
    t.same([textsOf(documented), textsOf(ui)], [said, said])
    t.match(ui, [{ role: 'user' }, { role: 'assistant', parts: [{ type: 'step-start' }, {}, { type: 'tool-listDirectory' }, {}, {}] }])

    if (runId !== undefined) {
      const streamed = await messageOfStream(app, runId)
      const kept = ui[1].parts.map(({ state, ...part }: any) => part)
      t.match(streamed, { id: ui[1].id, metadata: ui[1].metadata, parts: kept }, 'the stream makes the message that the thread shows')
      t.equal(streamed!.parts.length, kept.length)
    }

    const exported = (await app.inject('/export?format=json')).json().threads
    t.same(exported.map(({ id, messages }: any) => [id, textsOf(messages)]), [[threadId, said]], 'in the export for people')
    t.match((await app.inject('/search?q=quokka')).json().results, [{ threadId, messageId: ui[1].id }])

    const chat = await openChat(app, v7, { id: threadId, messages: ui })
    await chat.say('bye')
    t.same(chat.errors, [])
    const { prompt } = gateway.requests.at(-1)!.body
    t.same(prompt.slice(1).map(({ role }: any) => role), ['user', 'assistant', 'tool', 'assistant', 'user'])
    t.same(textsOf(prompt.slice(1)), [...said, 'bye'], 'a chat that is opened again goes on with it')
    t.equal((await read('ui')).length, 4, 'in the same thread')
  })
}

t.test('an answer that goes on after its limit, and then waits, is one message and stays whole', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => [
    { text: 'Half of', finishReason: 'length' },
    { text: 'the file.', toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'a' } }] },
    { text: 'Written.' }
  ][nth])
  const chat = await openChat(app, v7, { id: 'chat' })
  await chat.say('write it')
  const next = await app.inject({ method: 'POST', url: '/run?protocol=ui', payload: { id: 'chat', continue: true } })
  const [{ approvalId }] = (await app.inject('/approvals')).json().approvals
  const read = async () => textsOf((await app.inject('/threads/chat')).json().messages)
  t.same(await read(), ['write it', 'Half of', 'the file.'], 'while it waits')
  await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved: true } })
  await app.inject(`/runs/${next.headers['x-run-id']}?waitMs=20000`)
  t.same(await read(), ['write it', 'Half of', 'the file.', 'Written.'])
  t.equal((await app.inject('/threads/chat')).json().messages.length, 2)
})

t.test('an answer of a chat that the client for TypeScript continues stays whole, in the thread and for the model', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => [
    { text: 'Looking.', toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] },
    { text: 'Half of', finishReason: 'length' },
    { text: 'the file.', toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'a' } }] },
    { text: 'Written.' }
  ][nth] ?? { text: 'Bye.' })
  const chat = await openChat(app, v7, { id: 'chat' })
  await chat.say('write it')
  const agent = createAgent({ url: app.listeningOrigin })
  await agent.run({ id: 'chat', continue: true, approve: () => true }).result()
  const said = ['write it', 'Looking.', 'Half of', 'the file.', 'Written.']
  const { messages } = (await app.inject('/threads/chat')).json()
  t.same(textsOf(messages), said)
  t.match(messages, [{ role: 'user' }, { id: chat.last.id, parts: [{ type: 'step-start' }, {}, { type: 'tool-listDirectory' }] }])
  t.equal(messages.length, 2)
  await agent.run({ id: 'chat', message: { role: 'user', content: 'bye' } }).result()
  t.same(textsOf(gateway.requests.at(-1)!.body.prompt.slice(1)), [...said, 'bye'])
})
