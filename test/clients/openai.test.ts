import { existsSync } from 'node:fs'
import t from 'tap'
import { startSite } from '../fakes/site.ts'
import { hastyClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { openaiOf, readChunks, textOf } from '../harness/openai-client.ts'
import { withGateway } from '../harness/with-gateway.ts'

const user = (content: unknown) => ({ role: 'user', content })
const model = 'test/model'
const WEATHER = {
  type: 'function',
  function: {
    name: 'getWeather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } }
  }
}
const weatherOf = (...cities: string[]) => ({ toolCalls: cities.map((city) => ({ toolName: 'getWeather', input: { city } })) })
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const error = (fields: object) => fields as Error
const told = (request: any): string => JSON.stringify(request.body.prompt)

t.test('an answer in one piece, and the same streamed, with the tools of the service in between', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    nth % 2 === 0
      ? { text: ['I ', 'look.'], toolCalls: [{ toolName: 'listDirectory', input: {} }] }
      : { reasoning: ['Hm.'], text: ['Nothing ', 'there.'] })
  const openai = await openaiOf(app)
  const ignored = { temperature: 0.2, user: 'ada', stop: ['x'] }
  const whole = await openai.chat.completions.create({ model, messages: [user('What is here?')], ...ignored })
  t.match(whole, {
    id: /^chatcmpl-/,
    object: 'chat.completion',
    created: Number,
    model,
    choices: [{
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'I look.\n\nNothing there.', reasoning_content: 'Hm.', refusal: null }
    }],
    usage: { prompt_tokens: Number, completion_tokens: Number, total_tokens: whole.usage.prompt_tokens + whole.usage.completion_tokens }
  })
  const chunks = await readChunks(
    await openai.chat.completions.create({ model, messages: [user('And here?')], stream: true, stream_options: { include_usage: true } })
  )
  t.equal(textOf(chunks), whole.choices[0].message.content)
  t.same(chunks[0].choices[0].delta, { role: 'assistant', content: '' })
  t.equal(chunks.at(-2).choices[0].finish_reason, 'stop')
  t.match(chunks.at(-1), { choices: [], usage: whole.usage })
  t.equal(new Set(chunks.map(({ id }) => id)).size, 1)
})

t.test('tools of the caller leave as tool_calls, and their results go on with the same run', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth % 2 === 0 ? { text: 'Let me ask.', ...weatherOf('Bern', 'Rome') } : { text: 'Rain and sun.' })
  const openai = await openaiOf(app)
  const request = { model, messages: [user('How is the weather?')], tools: [WEATHER] }
  const { choices: [{ message, finish_reason: reason }], usage } = await openai.chat.completions.create(request)
  t.equal(reason, 'tool_calls')
  const called = { name: 'getWeather', arguments: '{"city":"Bern"}' }
  t.match(message, { content: 'Let me ask.', tool_calls: [{ type: 'function', function: called }, {}] })
  const results = message.tool_calls.map(({ id }: any, n: number) =>
    ({ role: 'tool', tool_call_id: id, content: ['{"sky":"rain"}', 'sun'][n] }))
  const messages = [...request.messages, message, ...results]
  const second = await openai.chat.completions.create({ ...request, messages })
  t.match(second.choices, [{ finish_reason: 'stop', message: { content: 'Rain and sun.', tool_calls: undefined } }])
  t.match(await openai.chat.completions.create({ ...request, messages }), { choices: second.choices, usage: second.usage })
  t.ok(second.usage.prompt_tokens <= usage.prompt_tokens * 2, 'it counts what this answer used')
  t.match(told(gateway.requests.at(-1)), /"sky":"rain".*"sun"/s)
  t.equal(gateway.requests.length, 2, 'the same results again are answered as before')
  t.match((await app.inject('/runs')).json(), { runs: [{ status: 'completed' }] })
  t.equal((await app.inject('/runs')).json().runs.length, 1)

  const chunks = await readChunks(await openai.chat.completions.create({ ...request, messages: [user('And now?')], stream: true }))
  const calls = chunks.flatMap(({ choices }) => choices[0].delta.tool_calls ?? [])
  t.match(calls, [{ index: 0, id: String, type: 'function', function: { name: 'getWeather' } }, { index: 1 }])
  t.equal(chunks.at(-1).choices[0].finish_reason, 'tool_calls')
})

t.test("OpenAI's own loop of tools comes to its end", async (t) => {
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? weatherOf('Bern') : { text: 'It rains.' })
  const asked: unknown[] = []
  const answer = (input: unknown) => {
    asked.push(input)
    return 'rain'
  }
  const { name, description, parameters } = WEATHER.function
  const runner = (await openaiOf(app)).chat.completions.runTools({
    model,
    messages: [user('How is the weather in Bern?')],
    stream: true,
    tools: [{
      type: 'function',
      function: { name, description, parameters, parse: JSON.parse, function: answer }
    }]
  })
  t.equal(await runner.finalContent(), 'It rains.')
  t.same(asked, [{ city: 'Bern' }])
})

t.test('results with a request for something else begin a run of their own, and the other one ends', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? weatherOf('Bern') : { text: 'It rains.' })
  const openai = await openaiOf(app)
  const messages: any[] = [user('How is the weather in Bern?')]
  const { choices: [{ message }] } = await openai.chat.completions.create({ model, messages, tools: [WEATHER] })
  messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' })
  t.equal((await openai.chat.completions.create({ model, messages })).choices[0].message.content, 'It rains.')
  t.notMatch(gateway.requests[1].body.tools, [{ name: 'getWeather' }])
  t.match(told(gateway.requests[1]), /"rain"/)
  t.same((await app.inject('/tool-calls')).json().toolCalls, [])
  const foreign = [
    messages[0],
    { role: 'assistant', tool_calls: [{ ...message.tool_calls[0], id: 'call_x' }] },
    { ...messages[2], tool_call_id: 'call_x' }
  ]
  const { choices } = await openai.chat.completions.create({ model, messages: foreign, tools: [WEATHER] })
  t.equal(choices[0].message.content, 'It rains.', 'calls of another service')
})

t.test('a result that is missing is asked for again, and a tool that the settings deny is said', async (t) => {
  const turns = [weatherOf('Bern', 'Rome'), { text: 'Rain and sun.' }, weatherOf('Oslo'), { text: 'No weather.' }]
  const { app } = await withGateway(t, (_request, nth) => turns[nth])
  const openai = await openaiOf(app)
  const messages: any[] = [user('How is the weather?')]
  const ask = (more: object[] = []) => openai.chat.completions.create({ model, messages: [...messages, ...more], tools: [WEATHER] })
  const { choices: [{ message }] } = await ask()
  messages.push(message)
  const [bern, rome] = message.tool_calls.map(({ id }: any) => ({ role: 'tool', tool_call_id: id, content: 'rain' }))
  t.match((await ask([bern])).choices, [{ finish_reason: 'tool_calls', message: { tool_calls: [{ id: rome.tool_call_id }] } }])
  t.match((await ask([bern, rome])).choices, [{ finish_reason: 'stop', message: { content: 'Rain and sun.' } }])
  await app.config.update((config) => ({ ...config, permissions: { getWeather: 'ask' } }))
  const { choices: [denied] } = await ask([bern, rome, user('And in Oslo?')])
  t.match(denied.message.content, /^No weather\.\n\n\[Note: not done.*: getWeather\.\]$/)
})

t.test('a try that broke off stands before a line that says so in a stream, and nowhere else', async (t) => {
  const half = { text: ['Half ', 'of ', 'it'], ending: 'cut' as const, after: 4 }
  const { app } = await withGateway(t, (_request, nth) => nth % 2 === 0 ? half : { text: ['All ', 'of it.'] }, { clock: hastyClock() })
  const openai = await openaiOf(app)
  const chunks = await readChunks(await openai.chat.completions.create({ model, messages: [user('go')], stream: true }))
  t.match(textOf(chunks), /^Half .*\n\n\[Note: the answer broke off here.*\]\n\nAll of it\.$/s)
  t.equal((await openai.chat.completions.create({ model, messages: [user('on')] })).choices[0].message.content, 'All of it.')
})

t.test('an answer by a JSON schema, as a JSON object, and as the call of the function that is named', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'Here.', toolCalls: [{ toolName: 'answer', input: { city: 'Bern' } }] }))
  const openai = await openaiOf(app)
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
  const format = { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } }
  const parsed = await openai.chat.completions.parse({ model, messages: [user('Which city?')], response_format: format })
  t.equal(parsed.choices[0].message.content, '{"city":"Bern"}')
  const asked = { model, messages: [user('Which city?')], stream: true }
  const chunks = await readChunks(await openai.chat.completions.create({ ...asked, response_format: { type: 'json_object' } }))
  t.equal(textOf(chunks), '{"city":"Bern"}')
  const forced = await openai.chat.completions.create({
    model,
    messages: [user('Which city?')],
    tools: [WEATHER],
    tool_choice: { type: 'function', function: { name: 'getWeather' } }
  })
  const called = { name: 'getWeather', arguments: '{"city":"Bern"}' }
  t.match(forced.choices, [{ finish_reason: 'stop', message: { tool_calls: [{ function: called }] } }])
  const told = gateway.requests.at(-1)!.body.tools.find(({ name }: any) => name === 'answer')
  t.match(told, { inputSchema: { description: 'The input of getWeather: The weather of a city' } })
})

t.test('what would wait for a person is denied, said in the answer, and not told to the model', async (t) => {
  const write = { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? write : { text: 'I could not write it.' })
  const openai = await openaiOf(app)
  const messages: any[] = [{ role: 'developer', content: 'Be brief.' }, user('Write a.txt')]
  const { choices: [{ message, finish_reason: reason }] } = await openai.chat.completions.create({ model, messages })
  t.match(message.content, /^I could not write it\.\n\n\[Note: not done, because it needs the approval of a person.*: writeFile\.\]$/)
  t.equal(reason, 'stop')
  t.notOk(existsSync(`${app.cwd}/a.txt`))
  t.same((await app.inject('/approvals')).json().approvals, [])
  await openai.chat.completions.create({ model, messages: [...messages, message, user('And now?')] })
  t.notMatch(told(gateway.requests.at(-1)), /\[Note:/)
  const { threads } = (await app.inject('/threads')).json()
  t.equal(threads.length, 1, 'the conversation goes on in its thread')
  t.equal(threads[0].messageCount >= 4, true)
})

t.test('pictures come as data or from the web, where private addresses are refused', async (t) => {
  const site = await startSite(t, {
    '/a.png': (_req, res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(PIXEL, 'base64')),
    '/page': '<p>no picture</p>',
    '/large.png': (_req, res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(9 * 1024 * 1024))
  })
  const { app, gateway } = await withGateway(t, () => ({ text: 'A pixel.' }), { config: { fetch: { allowPrivate: true } } })
  const openai = await openaiOf(app)
  const see = (url: string) => openai.chat.completions.create({
    model,
    messages: [user([{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url, detail: 'low' } }])]
  })
  for (const url of [`data:image/png;base64,${PIXEL}`, `${site.url}/a.png`]) {
    t.equal((await see(url)).choices[0].message.content, 'A pixel.')
    t.match(told(gateway.requests.at(-1)), new RegExp(PIXEL.slice(0, 40)), url.slice(0, 5))
  }
  await t.rejects(see(`${site.url}/page`), { status: 422, code: 'ERR_FETCH_FAILED', message: /is no picture/ })
  await t.rejects(see('file:///etc/passwd'), error({ status: 400, param: 'messages.0.content.1.image_url.url' }))
  const large = { type: 'image_url' as const, image_url: { url: `${site.url}/large.png` } }
  await t.rejects(
    openai.chat.completions.create({ model, messages: [user([large, large, { type: 'text', text: 'These?' }, large])] }),
    error({ status: 400, param: 'messages.0.content.3.image_url.url', message: /24 MiB together/ })
  )
  await app.config.update((config) => ({ ...config, fetch: {} }))
  const before = gateway.requests.length
  await t.rejects(see(`${site.url}/a.png`), { status: 403, message: /not on the public internet/ })
  t.equal(gateway.requests.length, before)
})

t.test('models and agents are listed, and answer by their names', async (t) => {
  const { app, systemOf } = await withGateway(t, () => ({ text: 'Aye.' }))
  await app.inject({ method: 'PUT', url: '/agents/pirate', payload: { options: { model, instructions: 'Talk like a pirate.' } } })
  const openai = await openaiOf(app)
  const listed = []
  for await (const each of openai.models.list()) listed.push(each)
  t.match(listed[0], { id: 'pirate', object: 'model', owned_by: 'agent', created: Number })
  t.ok(listed.some(({ id }) => id === model), 'the active model')
  t.match(await openai.models.retrieve(model), { id: model, object: 'model', owned_by: 'test' })
  const settings = { max_tokens: 50, reasoning_effort: 'low' }
  const answer = await openai.chat.completions.create({ model: 'pirate', messages: [user('Ready?')], ...settings })
  t.match(answer, { model: 'pirate', choices: [{ message: { content: 'Aye.' } }] })
  t.match(systemOf(0), /Talk like a pirate/)
})

t.test("errors are in OpenAI's shape, and a run that failed is not begun again", async (t) => {
  const failure = { status: 400, message: 'bad', type: 'invalid_request_error' }
  const half = { text: ['Half ', 'of ', 'it'], ending: { error: failure }, after: 4 }
  const { app, gateway } = await withGateway(t, ({ body }) => JSON.stringify(body.prompt).includes('half') ? half : { error: failure }, {
    token: 'the-token',
    clock: hastyClock()
  })
  const openai = await openaiOf(app, { apiKey: 'the-token', maxRetries: 2 })
  const ask = (more: object = {}) => openai.chat.completions.create({ model, messages: [user('Hello')], ...more })
  const NotFound = { status: 404, code: 'model_not_found', type: 'invalid_request_error' }
  for (const unknown of ['gpt-4o', 'constructor', '/', '../x']) await t.rejects(ask({ model: unknown }), NotFound, unknown)
  await t.rejects(openai.models.retrieve('test/other'), NotFound)
  await t.rejects(ask({ messages: [] }), error({ status: 400, param: 'messages', code: 'ERR_INVALID_REQUEST' }))
  const result = { role: 'tool', tool_call_id: 'x', content: 'y' }
  await t.rejects(ask({ messages: [result] }), error({ status: 400, param: 'messages.0.tool_call_id' }))
  await t.rejects(ask({ messages: [{ role: 'assistant', content: 'only' }] }), { status: 400, code: 'ERR_INVALID_MESSAGES' })
  await t.rejects(ask({ messages: [{ role: 'assistant' }] }), error({ status: 400, param: 'messages.0' }))
  await t.rejects(ask({ n: 2 }), error({ status: 400, param: 'n' }))
  await t.rejects(ask({ tools: [{ type: 'custom', custom: { name: 'x' } }] }), error({ status: 400, param: 'tools.0' }))
  await t.rejects(ask({ tools: [WEATHER, WEATHER] }), error({ status: 400, param: 'tools' }))
  await t.rejects(ask({ functions: [WEATHER.function] }), error({ status: 400, param: 'functions' }))
  const list = { type: 'json_schema', json_schema: { schema: { type: 'array' } } }
  await t.rejects(ask({ response_format: list }), error({ status: 400, param: /^response_format/ }))
  t.equal(gateway.requests.length, 0)
  await t.rejects(ask(), { status: 502, type: 'server_error', code: /^ERR_/ })
  const failed = gateway.requests.length
  t.equal(failed, 1, 'one run')
  await t.rejects(ask({ stream: true }), { status: 502, type: 'server_error', code: /^ERR_/ })
  const begun = await ask({ messages: [user('half')], stream: true })
  await t.rejects(readChunks(begun), { status: undefined, type: 'server_error', code: /^ERR_/ }, 'what fails later is said in the stream')
  await t.rejects((await openaiOf(app, { apiKey: 'another' })).models.list(), { status: 401, code: 'invalid_api_key' })
})

t.test('the run ends when its client goes away', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: Array(200).fill('word '), partMs: 50 }))
  const openai = await openaiOf(app, { defaultHeaders: { 'x-stainless-retry-count': null } })
  for (const streams of [true, false]) {
    const leave = new AbortController()
    const asked = openai.chat.completions.create({ model, messages: [user(`go ${streams}`)], stream: streams }, { signal: leave.signal })
    const seen = streams
      ? asked.then(async (stream: AsyncIterable<any>) => {
        for await (const chunk of stream) if (chunk.choices[0].delta.content) leave.abort()
      })
      : asked
    if (!streams) while (gateway.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
    if (!streams) leave.abort()
    await seen.catch(() => {})
    t.equal(await gateway.requests.at(-1)!.ended, 'aborted', streams ? 'streamed' : 'in one piece')
  }
})

t.test('a request for another time becomes no task, because nobody can be asked about it', async (t) => {
  const analysis = { complexity: 'long_running', timeWords: 'Every Monday at 9am', thinking: 'Later.' }
  const { app } = await withGateway(t, () => ({ text: 'Make a task for that.' }), {
    config: { analysis: true },
    structured: () => ({ object: analysis })
  })
  const { choices } = await (await openaiOf(app)).chat.completions.create({ model, messages: [user('Every monday at 9am write hello')] })
  t.match(choices, [{ message: { content: 'Make a task for that.' } }])
  t.same((await app.inject('/tasks')).json().tasks, [])
})

t.test('what Open WebUI sends is answered', async (t) => {
  const app = await build(t)
  const post = (payload: object) =>
    app.inject({ method: 'POST', url: '/v1/chat/completions', payload: { model: 'offline/assistant', ...payload } })
  const chat = await post({ stream: true, messages: [user('system info')], stream_options: { include_usage: true } })
  t.match(chat.headers, { 'content-type': /^text\/event-stream/, 'x-thread-id': /./ })
  t.match(chat.body, /data: \{"id":"chatcmpl-.*"total_tokens":.*data: \[DONE\]\n\n$/s)
  const messages = [user('### Task:\nGenerate a concise, 3-5 word title.\n')]
  const title = await post({ stream: false, max_completion_tokens: 1000, messages })
  t.match(title.headers, { 'x-thread-id': /./, 'x-run-id': /./ })
  t.match(title.json(), { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: /./ } }] })
})
