import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/openai.ts'
import { of, say } from '../harness/agent.ts'
import { parseEvents } from '../harness/sse.ts'
import { withDirect } from '../harness/with-direct.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { withNative } from '../harness/with-native.ts'

const refusal = (message: string): Plan => ({ error: { status: 400, message } })
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const picture = { role: 'user', content: [{ type: 'text', text: 'what is this?' }, { type: 'image', image: PIXEL }] }
const uiPicture = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'what?' }, { type: 'file', mediaType: 'image/png', url: PIXEL }] }
const post = async (app: App, payload: object, url = '/run') =>
  parseEvents((await app.inject({ method: 'POST', url, payload })).body.replace(/data: \[DONE\]\n\n$/, ''))

t.test('a model that takes no pictures goes on without them, and the user is told', async (t) => {
  const refusals = [
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    'this model is missing data required for image input',
    'llama3 is not a multimodal model',
    'No endpoints found that support image input'
  ]
  for (const words of refusals) {
    const { app, server } = await withDirect(t, ({ body }) =>
      JSON.stringify(body.messages).includes('image_url') ? refusal(words) : { text: 'I cannot see it.' })
    const events = await post(app, { messages: [picture] })
    const told = { data: { code: 'no-pictures', text: /takes no pictures.*another model/ }, transient: true }
    t.match(of(events, 'data-notice'), [told], words)
    t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
    t.equal(server.calls.length, 2)
    const ui = await post(app, { messages: [uiPicture] })
    t.match(of(ui, 'data-notice'), [{ data: { code: 'no-pictures' } }])
    t.equal(server.calls.length, 3, 'it is not tried again')
    t.match(JSON.stringify(server.calls[2].body.messages), /a picture was left out/)
    t.same(of(await post(app, { messages: [{ role: 'user', content: 'hi' }] }), 'data-notice'), [], 'only where one was left out')
    await app.close()
  }
})

t.test('an image that the server cannot read is left out, the user is told, and the model gets others', async (t) => {
  const refusals = [
    'Invalid image: could not decode base64',
    'messages.0.content.1.image.source.base64: could not process image',
    'The image format is not supported'
  ]
  let words = ''
  const { app, server } = await withDirect(t, ({ body }) =>
    words !== '' && JSON.stringify(body).includes('image_url') ? refusal(words) : { text: 'I see.' })
  const show = (n: number) => {
    const image = `data:image/png;base64,iVBORw0KGgo${'A'.repeat(4 * n + 1)}`
    return post(app, { messages: [{ role: 'user', content: [{ type: 'text', text: 'what is this?' }, { type: 'image', image }] }] })
  }
  for (words of refusals) {
    const before = server.calls.length
    t.match(of(await show(refusals.indexOf(words)), 'data-notice'), [{ data: { code: 'file-refused', text: /refused a file/ } }], words)
    t.equal(server.calls.length - before, 2)
  }
  words = ''
  await show(refusals.length)
  t.match(JSON.stringify(server.calls.at(-1)!.body), /image_url/)
})

t.test('a model that takes no tools answers, and the user is told', async (t) => {
  const { app } = await withDirect(t, ({ body }) =>
    body.tools ? refusal('registry.ollama.ai/library/llama3:latest does not support tools') : { text: 'Hello.' })
  const { events } = await say(app, 'hi')
  t.match(of(events, 'data-notice'), [{ data: { code: 'no-tools', text: /takes no tools/ } }])
})

t.test('a refusal that names nothing takes tools from one call at most', async (t) => {
  let refusals = 0
  let takesTools = true
  const { app, server } = await withDirect(t, ({ body }) =>
    body.tools && (!takesTools || refusals-- > 0) ? refusal('model says 400') : { text: 'Hello.' })
  /** Says something, and returns whether each request had tools, and the codes of the notices. */
  const run = async (refused: number) => {
    refusals = refused
    const before = server.calls.length
    const { events } = await say(app, 'hi')
    t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
    return [server.calls.slice(before).map(({ body }) => body.tools !== undefined), of(events, 'data-notice').map(({ data }) => data.code)]
  }
  t.same(await run(1), [[true, true], []], 'the same request again')
  t.same(await run(2), [[true, true, false], ['no-tools']], 'words, if it is refused again')
  t.same(await run(0), [[true], []], 'nothing of it is remembered')
  takesTools = false
  await run(0)
  t.same(await run(0), [[true, false], ['no-tools']], 'a server that takes no tools costs one request more')
})

t.test('an answer without sight of the tools is void, and costs what its server reports', async (t) => {
  const usage = { inputTokens: 300, outputTokens: 10 }
  const lines: string[] = []
  const log = { write: (line: string) => lines.push(line) } as never
  const { app, server } = await withDirect(t, () => ({ text: 'Hello.', usage }), { log })
  const { events } = await say(app, 'hi')
  t.same(server.calls.map(({ body }) => body.tools !== undefined), [true, false], 'then they are described in words')
  t.match(of(events, 'finish'), [{ usage: { inputTokens: 600, outputTokens: 20 } }])
  t.match(lines.map((line) => JSON.parse(line)).filter(({ msg }) => /^model call/.test(msg)), [
    { msg: 'model call failed', code: 'ERR_TOOLS_UNSEEN', ...usage, cut: undefined },
    { msg: 'model call', ...usage }
  ], 'and has one line of the log, which says why')
})

t.test('a server that silently cuts the prompt is found out, and the conversation is shortened to what it reads', async (t) => {
  // With the tools, which count too, half as much again as is read.
  const long = 'A long story. '.repeat(1_200)
  const others = { '/api/ps': () => ({ models: [{ name: 'llama3:latest', model: 'llama3:latest', context_length: 4_096 }] }) }
  const usage = { inputTokens: 4_096, outputTokens: 2 }
  const { app, server } = await withDirect(t, () => ({ text: 'Yes.', usage }), { server: { others } })
  const { events } = await say(app, long)
  const told = { code: 'prompt-cut', text: /only the last 4096 of about \d+ tokens.*OLLAMA_CONTEXT_LENGTH/ }
  t.match(of(events, 'data-notice'), [{ data: told }])
  t.equal(await app.providers.contextWindow('ollama/llama3', 100_000, new AbortController().signal), 4_096)
  t.equal(server.requests.filter(({ path }) => path === '/api/ps').length, 1)
})

t.test('a small count of tokens alone is no cut: servers leave out what they had in a cache', async (t) => {
  const long = 'A long story. '.repeat(2_000)
  const others = { '/api/ps': () => ({ models: [{ name: 'llama3:latest', context_length: 65_536 }] }) }
  const { app } = await withDirect(t, () => ({ text: 'Yes.', usage: { inputTokens: 40, outputTokens: 2 } }), { server: { others } })
  t.same(of((await say(app, long)).events, 'data-notice'), [])
  const { app: mute } = await withDirect(t, () => ({ text: 'Yes.', usage: { inputTokens: 40, outputTokens: 2 } }), { home: app.home + '2' })
  t.same(of((await say(mute, long)).events, 'data-notice'), [], 'nor is it one where the server does not say')
})

t.test('a model of a maker is priced by the table, as an estimate of its day, where the gateway lists no price', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'hi', usage: { inputTokens: 1_000_000, outputTokens: 1_000 } }), {
    config: { model: 'openai/gpt-6-astra' }
  })
  const { events } = await say(app, 'hi', { options: { budget: { usd: 50 } } })
  t.match(of(events, 'finish'), [{ usage: { costUsd: 10.05, costEstimateOf: /^20\d\d-\d\d-\d\d$/ } }])
  const { groups } = (await app.inject('/usage')).json()
  t.match(groups, [{ costUsd: 10.05, costEstimateOf: /^20/, unpricedCalls: 0 }])
})

t.test('an API that requires a limit of the answer gets what the window leaves, and none is too little', async (t) => {
  const anthropic = NATIVE_WIRES.find(({ kind }) => kind === 'anthropic')!
  const limits = [
    ['input length and `max_tokens` exceed context limit: 188240 + 128000 > 200000, decrease input length or `max_tokens`', 11_760],
    ['max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for this model', 64_000]
  ] as const
  for (const [words, most] of limits) {
    const { app, bodies } = await withNative(t, anthropic, ({ body }) => body.max_tokens > most ? refusal(words) : { text: 'Done.' })
    const { events } = await say(app, 'hi')
    t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
    t.equal(bodies().at(-1).max_tokens, most)
    await app.close()
  }
  const full = 'input length and `max_tokens` exceed context limit: 199990 + 128000 > 200000, decrease input length'
  const { app } = await withNative(t, anthropic, () => refusal(full))
  t.match((await say(app, 'hi')).events.find(({ type }) => type === 'error'), { code: 'ERR_CONTEXT_TOO_LONG' })
})
