import { createServer } from 'node:http'
import t from 'tap'
import type { App } from '../../app.ts'
import { fakeClock } from '../harness/clock.ts'
import { openaiOf, readChunks } from '../harness/openai-client.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'

const model = 'test/model'
const WEATHER = {
  type: 'function',
  name: 'getWeather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  strict: true
}
const calls = (...cities: string[]) => ({ toolCalls: cities.map((city) => ({ toolName: 'getWeather', input: { city } })) })
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
const user = (content: unknown) => ({ role: 'user', content })
const error = (fields: object) => fields as Error
const runsOf = async (app: App) => (await app.inject('/runs')).json().runs

t.test('a text as a response, and the same as a stream whose events are in the order of OpenAI', async (t) => {
  const { app, systemOf } = await withGateway(t, () => ({ reasoning: ['Hm.'], text: ['It ', 'rains.'] }))
  const openai = await openaiOf(app)
  const request = { model, instructions: 'Be brief.', input: 'How is the weather?', metadata: { a: 'b' } }
  const whole = await openai.responses.create(request)
  t.equal(whole.output_text, 'It rains.')
  t.match(whole, {
    id: /^resp_/,
    object: 'response',
    status: 'completed',
    error: null,
    model,
    store: false,
    metadata: { a: 'b' },
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'It rains.', annotations: [] }] }
    ],
    usage: { input_tokens: Number, output_tokens: Number, total_tokens: whole.usage.input_tokens + whole.usage.output_tokens }
  })
  t.match(systemOf(0), /Be brief\./)
  const events = await readChunks(await openai.responses.create({ ...request, stream: true }))
  t.same(events.map(({ sequence_number: n }) => n), events.map((_, n) => n))
  const item = (type: string, ...inside: string[]) => ['output_item.added', ...inside.map((each) => `${type}${each}`), 'output_item.done']
  t.same(events.map(({ type }) => type.slice('response.'.length)), [
    'created',
    'in_progress',
    ...item('reasoning_summary_', 'part.added', 'text.delta', 'text.done', 'part.done'),
    'output_item.added', 'content_part.added', 'output_text.delta', 'output_text.delta', 'output_text.done', 'content_part.done',
    'output_item.done',
    'completed'
  ])
  const { id, created_at: at, output, ...rest } = events.at(-1).response
  t.same(rest, Object.fromEntries(Object.keys(rest).map((key) => [key, whole[key]])))
  t.same(output.map(({ id, ...each }: any) => each), whole.output.map(({ id, ...each }: any) => each))
})

t.test('calls of the tools of the caller, two at once, and their outputs as input items', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth % 2 === 0 ? calls('Bern', 'Rome') : { text: 'Rain and sun.' })
  const openai = await openaiOf(app)
  const input: any[] = [user('How is the weather?')]
  const first = await openai.responses.create({ model, input, tools: [WEATHER] })
  t.match(first.output, [
    { type: 'function_call', call_id: String, name: 'getWeather', arguments: '{"city":"Bern"}', status: 'completed' },
    { type: 'function_call', arguments: '{"city":"Rome"}' }
  ])
  const outputs = first.output.map(({ call_id: id }: any, n: number) =>
    ({ type: 'function_call_output', call_id: id, output: ['rain', 'sun'][n] }))
  const second = await openai.responses.create({ model, input: [...input, ...first.output, ...outputs], tools: [WEATHER] })
  t.equal(second.output_text, 'Rain and sun.')
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /rain.*sun/s)
  t.equal((await runsOf(app)).length, 1, 'they go on with the run')
  const events = await readChunks(await openai.responses.create({ model, input: 'And now?', tools: [WEATHER], stream: true }))
  t.same(events.map(({ type }) => type).slice(2, 6), [
    'response.output_item.added', 'response.function_call_arguments.delta', 'response.function_call_arguments.done',
    'response.output_item.done'
  ])
})

t.test('an answer by a JSON schema, a refusal in its place, a picture, and a limit', async (t) => {
  const answers = [
    { toolCalls: [{ toolName: 'answer', input: { city: 'Bern' } }] },
    ...Array(3).fill({ text: 'I will not say that.', finishReason: 'content-filter' }),
    { text: 'A pixel.' },
    ...Array(4).fill({ text: '{"city":"Be', finishReason: 'length' })
  ]
  const { app, gateway } = await withGateway(t, (_request, nth) => answers[nth])
  const openai = await openaiOf(app)
  const text = { format: { type: 'json_schema', name: 'city', strict: true, schema: SCHEMA } }
  const parsed = await openai.responses.parse({ model, input: 'Which city?', text })
  t.same(parsed.output_parsed, { city: 'Bern' })
  const refused = await openai.responses.create({ model, input: 'Which one?', text })
  t.match(refused.output, [{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not say that.' }] }])
  const image = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` }
  const seen = await openai.responses.create({ model, input: [user([{ type: 'input_text', text: 'What is it?' }, image])] })
  t.equal(seen.output_text, 'A pixel.')
  t.match(JSON.stringify(gateway.requests[4].body.prompt), /iVBORw0KGgo/)
  const cut = await openai.responses.create({ model, input: 'Long?', max_output_tokens: 20 })
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output_text: '{"city":"Be' }
  t.match(cut, incomplete)
  t.match(await openai.responses.create({ model, input: 'An object?', max_output_tokens: 20, text }), incomplete)
})

t.test('what needs a state that is not kept, and what cannot be used, is refused in a sentence', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'Hi.' }))
  const openai = await openaiOf(app)
  const ask = (more: object) => openai.responses.create({ model, input: 'Hi', ...more })
  const refused: Array<[object, string, RegExp]> = [
    [{ previous_response_id: 'resp_1' }, 'previous_response_id', /whole conversation/],
    [{ conversation: 'conv_1' }, 'conversation', /whole conversation/],
    [{ background: true }, 'background', /must be false/],
    [{ prompt: { id: 'p' } }, 'prompt', /no stored prompts/],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0', /"store": false/],
    [{ input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }, 'input.0.call_id', /no tool call/],
    [{ input: [] }, 'input', /is missing/],
    [{ input: [{ type: 'mesage', role: 'user', content: 'Hi' }] }, 'input.0.type', /must be message/],
    [{ tools: [{ type: 'web_search' }] }, 'tools.0.type', /must be "function"/],
    [{ tools: [{ ...WEATHER, name: 'a b' }] }, 'tools.0.name', /64 letters/],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema', /is missing/],
    [{ reasoning: { effort: 'huge' } }, 'reasoning.effort', /must be one of/]
  ]
  for (const [more, param, message] of refused) await t.rejects(ask(more), error({ status: 400, param, message }), param)
  await t.rejects(openai.responses.retrieve('resp_1'), error({ status: 404, type: 'invalid_request_error' }))
  t.equal(gateway.requests.length, 0)
  // What tools of OpenAI did earlier in a conversation that goes on here.
  const searched: any = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'rain' } }
  t.equal((await ask({ input: [user('Rain?'), searched, { role: 'assistant', content: 'No.' }, user('Sure?')] })).output_text, 'Hi.')
})

t.test("errors are in OpenAI's shape on every path, and keep a provider's status and its wait", async (t) => {
  const failures = [
    { status: 429, message: 'slow down', type: 'rate_limit_exceeded', headers: { 'retry-after': '90' } },
    { status: 402, message: 'no credit', type: 'insufficient_quota', headers: { 'retry-after': '30' } }
  ]
  const { app } = await withGateway(t, (_request, nth) => ({ error: failures[nth % 2] }))
  const url = `http://127.0.0.1:${await listen(app)}/v1`
  const send = async (path: string, init: RequestInit) => {
    const response = await fetch(url + path, init)
    return { status: response.status, headers: response.headers, body: await response.json() as any }
  }
  const post = (path: string, body: string, type = 'application/json') =>
    send(path, { method: 'POST', headers: { 'content-type': type }, body })
  const odd: Array<[Promise<any>, number]> = [
    [send('/embeddings', { method: 'POST' }), 404],
    [send('', {}), 404],
    [send('/responses', {}), 405],
    [post('/responses', 'x', 'text/plain'), 415],
    [post('/chat/completions', '{'), 400],
    [post('/chat/completions', 'null'), 400],
    [post('/responses', `"${'x'.repeat(33 * 1024 * 1024)}"`), 413]
  ]
  for (const [answer, status] of odd) {
    const got = await answer
    t.match(got, { status, body: { error: { message: String, type: 'invalid_request_error', param: null, code: /^ERR_/ } } })
  }
  for (const stream of [false, true]) {
    const limited = await post('/chat/completions', JSON.stringify({ model, messages: [user('Hi')], stream }))
    t.match(limited, { status: 429, body: { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } } })
    t.equal(limited.headers.get('retry-after'), '90')
    t.equal(limited.headers.get('x-should-retry'), null)
    const unpaid = await post('/responses', JSON.stringify({ model, input: 'Hi', stream }))
    t.match(unpaid, { status: 402, body: { error: { type: 'insufficient_quota' } } })
    t.equal(unpaid.headers.get('retry-after'), '30')
  }
})

t.test("tools take the place of the service's, have any name, and may be many; instructions alone are answered", async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'readFile', input: { city: 'Bern' } }] } : { text: 'Fine.' })
  const openai = await openaiOf(app)
  const named = (...names: string[]) => names.map((name) => ({ ...WEATHER, name }))
  const tools = named('readFile', '2nd_tool', '_private', 'findTools', 'updatePhase')
  const { output } = await openai.responses.create({ model, input: 'Go', tools })
  t.match(output, [{ type: 'function_call', name: 'readFile', arguments: '{"city":"Bern"}' }])
  const { body } = gateway.requests[0]
  for (const { name } of tools.toSpliced(1, 1)) {
    t.match(body.tools.filter((each: any) => each.name === name), [{ inputSchema: { required: ['city'] } }], name)
  }
  const many = named(...Array.from({ length: 100 }, (_, n) => `tool${n}`))
  t.equal((await openai.responses.create({ model, input: 'Go', tools: many })).output_text, 'Fine.')
  for (const role of ['system', 'developer']) {
    const { choices } = await openai.chat.completions.create({ model, messages: [{ role, content: 'Say fine.' }] })
    t.equal(choices[0].message.content, 'Fine.')
  }
  t.match(gateway.requests.at(-1)!.body.prompt.at(-1), { role: 'user', content: [{ text: 'Say fine.' }] })
})

t.test('a call that tool_choice asks for and the model does not make is said', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'I do not know.' }))
  const openai = await openaiOf(app)
  const other = { ...WEATHER, name: 'getTime' }
  const text = { format: { type: 'json_schema', name: 'city', schema: WEATHER.parameters } }
  const asked = openai.responses.create({ model, input: 'Go', text })
  await t.rejects(asked, { status: 422, message: /no object that fits text\.format\.schema/ })
  const several = await openai.responses.create({ model, input: 'Go', tools: [WEATHER, other], tool_choice: 'required' })
  t.match(several.output_text, /^I do not know\.\n\n\[Note: tool_choice asks for a call of a tool, and the model made none\.\]$/)
  await t.rejects(
    openai.responses.create({ model, input: 'Go', tools: [WEATHER], tool_choice: { type: 'function', name: 'getWeather' } }),
    error({ status: 422, message: /made no call of getWeather that its parameters allow, and tool_choice asks for one, in/ })
  )
})

t.test('allowed_tools leaves those that it names, and asks for a call of one of them where it is required', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth < 2 ? { text: 'None.' } : nth === 2 ? { toolCalls: [{ toolName: 'answer', input: { city: 'Bern' } }] } : calls('Bern'))
  const openai = await openaiOf(app)
  const tools = [WEATHER, { ...WEATHER, name: 'getTime' }, { ...WEATHER, name: 'getTide' }]
  const allowed = (mode: string | undefined, ...names: string[]) =>
    ({ type: 'allowed_tools', mode, tools: names.map((name) => ({ type: 'function', name })) })
  const ask = (choice: object) => openai.responses.create({ model, input: 'Go', tools, tool_choice: choice })
  t.equal((await ask(allowed('auto', 'getTime', 'getTide'))).output_text, 'None.')
  const offered = gateway.requests[0].body.tools.map(({ name }: any) => name).filter((name: string) => /^get/.test(name))
  t.same(offered, ['getTime', 'getTide'])
  t.match((await ask(allowed('required', 'getTime', 'getTide'))).output_text, /the model made none/)
  t.match((await ask(allowed('required', 'getWeather'))).output, [{ type: 'function_call', name: 'getWeather' }])
  const chat = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'getWeather' } }] } }
  const asChat = tools.map(({ type, name, parameters }) => ({ type, function: { name, parameters } }))
  const { choices } = await openai.chat.completions.create({ model, messages: [user('Go')], tools: asChat, tool_choice: chat })
  t.match(choices, [{ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { name: 'getWeather' } }] } }])
  const refused: Array<[object, RegExp]> = [
    [allowed('auto', 'getNews'), /not in tools/],
    [allowed('all', 'getTime'), /auto or required/],
    [allowed('required'), /names no tool/],
    [{ type: 'mcp', server_label: 'x' }, /a function or allowed_tools/]
  ]
  for (const [choice, message] of refused) await t.rejects(ask(choice), error({ status: 400, param: 'tool_choice', message }))
})

/** A proxy in front of a service that cuts the connection of the first requests as soon as `cut` resolves. */
async function withCuts (
  t: Parameters<typeof withGateway>[0] & { teardown: (work: () => unknown) => void },
  app: App,
  cut: Promise<unknown>,
  times = 1
) {
  const port = await listen(app)
  const runs: unknown[] = []
  const server = createServer(async (request, response) => {
    const ours = new AbortController()
    if (times-- > 0) {
      void cut.then(() => {
        request.socket.destroy()
        ours.abort()
      })
    }
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { host, connection, 'content-length': length, ...headers } = request.headers
    const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks),
      signal: ours.signal
    }).catch(() => undefined)
    if (answer === undefined) return
    runs.push(answer.headers.get('x-run-id'))
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  return { runs, baseURL: `http://127.0.0.1:${(server.address() as { port: number }).port}/v1` }
}

t.test("a client's own retry gets the run of its first try, and a new request a run of its own", async (t) => {
  const begun = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { app, gateway } = await withGateway(t, async (_request, nth) => {
    begun.resolve()
    if (nth === 0) await release.promise
    return { text: 'Done.' }
  })
  const { runs, baseURL } = await withCuts(t, app, begun.promise)
  const openai = await openaiOf(app, { baseURL, maxRetries: 2 })
  const asked = openai.responses.create({ model, input: 'Do it' })
  await begun.promise
  while ((await runsOf(app)).length < 1) await new Promise(setImmediate)
  setTimeout(release.resolve, 100)
  t.equal((await asked).output_text, 'Done.')
  t.equal(gateway.requests.length, 1, 'the model was asked once')
  t.equal((await runsOf(app)).length, 1)
  await openai.responses.create({ model, input: 'Do it' })
  t.equal((await runsOf(app)).length, 2, 'the same question again is another one')
  t.equal(new Set(runs).size, 2)
})

t.test('a run whose client counts its tries goes on for ten seconds without it', async (t) => {
  const clock = fakeClock()
  const { app, gateway } = await withGateway(t, () => ({ text: ['word ', 'word'], ending: 'stall', after: 4 }), { clock })
  const openai = await openaiOf(app)
  const leave = new AbortController()
  const asked = openai.responses.create({ model, input: 'Do it', stream: true }, { signal: leave.signal })
  const seen = asked.then(async (stream: AsyncIterable<any>) => {
    for await (const { type } of stream) if (type === 'response.output_text.delta') leave.abort()
  })
  await seen.catch(() => {})
  const open = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))
  while (await open() > 0) await new Promise(setImmediate)
  await clock.advance(9_000)
  t.match(await runsOf(app), [{ status: 'running' }])
  await clock.advance(1_000)
  t.equal(await gateway.requests[0].ended, 'aborted')
})
