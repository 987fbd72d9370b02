// Drives a running service with the clients of OpenAI's API for Node, each by its own defaults. Prints a line for each thing that failed.
// The packages are in the folder NODE_CLIENTS.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.env.NODE_CLIENTS, 'index.js'))
const BASE = `${process.env.SERVICE_URL}/v1`
const CUT = `${process.env.CUT_URL}/v1`
const model = 'test/model'
const apiKey = 'none'
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const user = (content) => ({ role: 'user', content })
const { z } = require('zod')
const City = z.object({ city: z.string() })
const cityOf = z.toJSONSchema(City)
const WEATHER = { name: 'weather', description: 'The weather of a city.', parameters: cityOf }
const isBusy = ({ status, headers, code }) => status === 429 && code === 'rate_limit_exceeded' && headers.get('retry-after') === '61'

async function chatOfOpenai () {
  const { LengthFinishReasonError, OpenAI } = require('openai')
  const { zodResponseFormat } = require('openai/helpers/zod')
  const { completions } = new OpenAI({ baseURL: BASE, apiKey }).chat
  const ask = (content, more = {}) => completions.create({ model, messages: [user(content)], ...more })
  const format = zodResponseFormat(City, 'city')

  equal((await ask('TEXT')).choices[0].message.content, 'Hello there.')
  let text = ''
  for await (const { choices } of await ask('TEXT', { stream: true })) text += choices[0].delta.content ?? ''
  equal(text, 'Hello there.')
  const tools = [{ type: 'function', function: WEATHER }]
  const { message } = (await ask('BOTH', { tools })).choices[0]
  deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments)), [{ city: 'Bern' }, { city: 'Rome' }])
  const results = message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'rain' }))
  const second = await completions.create({ model, tools, messages: [user('BOTH'), message, ...results] })
  equal(second.choices[0].message.content, 'It is rain.')
  const seen = []
  const runner = completions.runTools({
    model,
    messages: [user('BOTH')],
    tools: [{ type: 'function', function: { ...WEATHER, parse: JSON.parse, function: ({ city }) => seen.push(city) && `rain in ${city}` } }]
  })
  equal(await runner.finalContent(), 'It is rain in Bern.')
  deepEqual(seen, ['Bern', 'Rome'])
  const parse = (content) => completions.parse({ model, messages: [user(content)], response_format: format })
  deepEqual((await parse('CITY')).choices[0].message.parsed, { city: 'Bern' })
  const streamed = completions.stream({ model, messages: [user('CITY')], response_format: format })
  deepEqual((await streamed.finalChatCompletion()).choices[0].message.parsed, { city: 'Bern' })
  const picture = [{ type: 'text', text: 'PICTURE' }, { type: 'image_url', image_url: { url: PIXEL } }]
  equal((await ask(picture)).choices[0].message.content, 'A picture.')
  equal((await ask('REFUSE')).choices[0].finish_reason, 'content_filter')
  equal((await parse('REFUSE')).choices[0].message.refusal, 'I will not.')
  equal((await ask('LIMIT', { max_tokens: 5 })).choices[0].finish_reason, 'length')
  await rejects(parse('LIMIT'), LengthFinishReasonError)
  await rejects(ask('BUSY 61'), isBusy)
  const cut = new OpenAI({ baseURL: CUT, apiKey })
  const done = await cut.chat.completions.create({ model, messages: [user('EFFECT node1')] })
  equal(done.choices[0].message.content, 'Done.')
}

async function responsesOfOpenai () {
  const { OpenAI } = require('openai')
  const { zodTextFormat } = require('openai/helpers/zod')
  const { responses } = new OpenAI({ baseURL: BASE, apiKey })
  const ask = (input, more = {}) => responses.create({ model, input, ...more })

  equal((await ask('TEXT')).output_text, 'Hello there.')
  equal((await responses.stream({ model, input: 'TEXT' }).finalResponse()).output_text, 'Hello there.')
  const tools = [{ type: 'function', strict: true, ...WEATHER }]
  const called = await ask('BOTH', { tools })
  equal(called.output.filter(({ type }) => type === 'function_call').length, 2)
  const results = called.output.filter(({ type }) => type === 'function_call')
    .map(({ call_id: id }) => ({ type: 'function_call_output', call_id: id, output: 'rain' }))
  equal((await ask([user('BOTH'), ...called.output, ...results], { tools })).output_text, 'It is rain.')
  const text = { format: zodTextFormat(City, 'city') }
  deepEqual((await responses.parse({ model, input: 'CITY', text })).output_parsed, { city: 'Bern' })
  const picture = [user([{ type: 'input_text', text: 'PICTURE' }, { type: 'input_image', image_url: PIXEL, detail: 'auto' }])]
  equal((await ask(picture)).output_text, 'A picture.')
  const refused = await responses.parse({ model, input: 'REFUSE', text })
  deepEqual([refused.output_parsed, refused.output.at(-1).content[0].refusal], [null, 'I will not.'])
  deepEqual((await ask('LIMIT', { max_output_tokens: 16 })).incomplete_details, { reason: 'max_output_tokens' })
  await rejects(ask('BUSY 61'), isBusy)
  equal((await new OpenAI({ baseURL: CUT, apiKey }).responses.create({ model, input: 'EFFECT node2' })).output_text, 'Done.')
}

const langchain = (useResponsesApi) => async () => {
  const { ChatOpenAI } = require('@langchain/openai')
  const { HumanMessage, ToolMessage } = require('@langchain/core/messages')
  const { tool } = require('@langchain/core/tools')
  const at = (baseURL, more = {}) => new ChatOpenAI({ model, apiKey, useResponsesApi, configuration: { baseURL }, ...more })
  const chat = at(BASE)

  equal((await chat.invoke('TEXT')).text, 'Hello there.')
  let text = ''
  for await (const chunk of await chat.stream('TEXT')) text += chunk.text
  equal(text, 'Hello there.')
  const weather = tool(({ city }) => `rain in ${city}`, { name: 'weather', description: WEATHER.description, schema: City })
  const bound = chat.bindTools([weather])
  const messages = [new HumanMessage('BOTH')]
  const answer = await bound.invoke(messages)
  deepEqual(answer.tool_calls.map(({ name, args }) => [name, args.city]), [['weather', 'Bern'], ['weather', 'Rome']])
  const results = await Promise.all(answer.tool_calls.map((call) => weather.invoke(call)))
  ok(results.every((result) => result instanceof ToolMessage))
  equal((await bound.invoke([...messages, answer, ...results])).text, 'It is rain in Bern.')
  let streamed
  for await (const chunk of await bound.stream(messages)) streamed = streamed === undefined ? chunk : streamed.concat(chunk)
  deepEqual(streamed.tool_calls.map(({ args }) => args.city), ['Bern', 'Rome'])
  for (const method of [undefined, 'jsonSchema', 'functionCalling', 'jsonMode']) {
    const structured = chat.withStructuredOutput(City, { name: 'city', method })
    deepEqual(await structured.invoke('CITY in JSON'), { city: 'Bern' }, `by ${method}`)
  }
  const data = PIXEL.split(',')[1]
  const words = { type: 'text', text: 'PICTURE' }
  for (const fields of [
    { content: [words, { type: 'image_url', image_url: { url: PIXEL } }] },
    { contentBlocks: [words, { type: 'image', mimeType: 'image/png', data }] }
  ]) equal((await chat.invoke([new HumanMessage(fields)])).text, 'A picture.', JSON.stringify(fields))
  const refused = await chat.invoke('REFUSE')
  match(JSON.stringify([refused.content, refused.response_metadata, refused.additional_kwargs]), /content_filter|I will not\./)
  const { response_metadata: end } = await at(BASE, { maxTokens: 20 }).invoke('LIMIT')
  ok(end.finish_reason === 'length' || end.incomplete_details?.reason === 'max_output_tokens', JSON.stringify(end))
  await rejects(at(BASE, { maxRetries: 0 }).invoke('BUSY 61'), ({ status, code, lc_error_code: known }) =>
    status === 429 && code === 'rate_limit_exceeded' && known === 'MODEL_RATE_LIMIT')
  equal((await at(CUT).invoke(`EFFECT langchain${useResponsesApi}`)).text, 'Done.')
  text = ''
  for await (const chunk of await at(CUT).stream(`EFFECT stream${useResponsesApi}`)) text += chunk.text
  equal(text, 'Done.')
}

let failed = 0
const PARTS = {
  'openai of Node, chat': chatOfOpenai,
  'openai of Node, responses': responsesOfOpenai,
  'LangChain of Node, chat': langchain(false),
  'LangChain of Node, responses': langchain(true)
}
for (const [name, part] of Object.entries(PARTS)) {
  try {
    await part()
    console.log(`ok ${name}`)
  } catch (error) {
    failed++
    console.log(`NOT ${name}\n${error.stack}`)
  }
}
process.exit(failed > 0 ? 1 : 0)
