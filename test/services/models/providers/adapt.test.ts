import t, { type Test } from 'tap'
import { createDirectProvider } from '../../../../services/models/providers/direct.ts'
import { startFakeOpenAI, type OpenAIRequest, type Plan } from '../../../fakes/openai.ts'

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]
const schema = { type: 'object' as const, properties: { word: { type: 'string' as const } }, required: ['word'] }
const structured = (name: string) => ({ prompt, responseFormat: { type: 'json' as const, name, schema } })
const no = (message: string, status = 400): Plan => ({ error: { status, type: 'invalid_request_error', message } })

async function setUp (t: Test, reply: (request: OpenAIRequest) => Plan) {
  const server = await startFakeOpenAI({ reply })
  t.teardown(() => server.close())
  const provider = createDirectProvider({ name: 'local', settings: () => ({ baseURL: server.url }), variables: {} })
  // Opened anew for each call, as runs do.
  return { server, small: () => provider.languageModel('small'), large: () => provider.languageModel('large') }
}
const drain = async ({ stream }: { stream: ReadableStream }) => stream.pipeTo(new WritableStream())

t.test('a schema that the server does not take is put into words, at once from then on', async (t) => {
  const { server, small, large } = await setUp(t, ({ body }) =>
    body.response_format
      ? no("'response_format.type' of json_schema is not supported")
      : { text: '{"word":"yes"}' })
  const { content } = await (await small()).doGenerate(structured('answer'))
  t.match(content, [{ type: 'text', text: '{"word":"yes"}' }])
  t.match(server.calls.map(({ structured }) => structured), ['answer', undefined])
  t.match(server.calls[1].body.messages.at(-1), { role: 'user', content: /JSON schema:\n.*"word"/s })
  await (await small()).doGenerate(structured('answer'))
  t.equal(server.calls.length, 3, 'it does not ask again')
  await (await small()).doGenerate(structured('plan'))
  t.equal(server.calls.length, 5, 'another schema may be taken')
  await (await large()).doGenerate(structured('answer'))
  t.equal(server.calls.length, 7, 'another model too')
})

t.test('a newer name for the limit is learned, and usage is left out where it is unknown', async (t) => {
  const { server, small } = await setUp(t, ({ body }) => {
    if (body.max_tokens) return no("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    return body.stream_options ? no('stream_options: extra fields not permitted', 422) : { text: 'ok' }
  })
  await drain(await (await small()).doStream({ prompt, maxOutputTokens: 16 }))
  t.equal(server.calls.length, 3)
  t.match(server.calls[2].body, { max_completion_tokens: 16, max_tokens: undefined, stream_options: undefined })
  await drain(await (await small()).doStream({ prompt, maxOutputTokens: 16 }))
  t.equal(server.calls.length, 4)
})

t.test('a model without tools is told of them in words from then on, and its calls and results are words', async (t) => {
  const { server, small } = await setUp(t, ({ body }) =>
    body.tools || body.messages.some(({ role, tool_calls: calls }: any) => role === 'tool' || calls)
      ? no('registry.ollama.ai/library/small:latest does not support tools')
      : { text: 'I cannot look here.' })
  const tools = [{ type: 'function' as const, name: 'look', inputSchema: { type: 'object' as const, properties: {} } }]
  const stream = async (given: typeof prompt) => drain(await (await small()).doStream({ prompt: given, tools }))
  await stream(prompt)
  t.equal(server.calls.length, 2)
  t.match(server.calls[1].body, { tools: undefined, tool_choice: undefined })
  t.match(server.calls[1].body.messages, [{ role: 'system', content: /<tools>.*"look".*<tool_call>/s }, { role: 'user', content: 'hi' }])
  await stream(looked as never)
  t.equal(server.calls.length, 3, 'it does not ask again')
  t.match(server.calls[2].body.messages.slice(2), [
    { role: 'assistant', content: '<tool_call>\n{"name":"look","arguments":{}}\n</tool_call>' },
    { role: 'user', content: [{ text: '<tool_response>\n{"name":"look","content":"a tree"}\n</tool_response>' }, { type: 'image_url' }] }
  ])
})

t.test('any other refusal is told as it is, after one request', async (t) => {
  for (const plan of [no('the prompt is too long'), no('response_format', 500), no('max_completion_tokens')]) {
    const { server, small } = await setUp(t, () => plan)
    t.match(await (async () => (await small()).doGenerate({ prompt }))().catch((error) => error), { statusCode: plan.error!.status })
    t.equal(server.calls.length, 1)
  }
})

const looked = [...prompt, {
  role: 'assistant' as const,
  content: [{ type: 'tool-call' as const, toolCallId: 'c', toolName: 'look', input: {} }]
}, {
  role: 'tool' as const,
  content: [{
    type: 'tool-result' as const,
    toolCallId: 'c',
    toolName: 'look',
    output: {
      type: 'content' as const,
      value: [{ type: 'text' as const, text: 'a tree' }, {
        type: 'file' as const,
        mediaType: 'image/png',
        data: { type: 'data' as const, data: 'iVBORw0KGgo=' }
      }]
    }
  }]
}]

t.test('what a tool shows follows its result, where a model of this kind can see it', async (t) => {
  const { server, small } = await setUp(t, () => ({ text: 'I see' }))
  await drain(await (await small()).doStream({ prompt: looked }))
  t.match(server.calls[0].body.messages.slice(2), [
    { role: 'tool', tool_call_id: 'c', content: 'a tree' },
    {
      role: 'user',
      content: [{ type: 'text', text: /Images from the results/ }, {
        type: 'image_url',
        image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' }
      }]
    }
  ])
})

t.test('a model without eyes is told that something was shown', async (t) => {
  const { server, small } = await setUp(
    t,
    ({ body }) =>
      body.messages.some(({ content }: any) => Array.isArray(content)) ? no('this model does not support image input') : { text: 'ok' }
  )
  await (await small()).doGenerate({ prompt: looked })
  t.match(server.calls[1].body.messages.at(-1), { role: 'tool', content: /left out: this model takes no images/ })
  await (await small()).doGenerate({ prompt: looked })
  t.equal(server.calls.length, 3, 'and is not asked again')
  const attached = [{
    role: 'user' as const,
    content: [{ type: 'text' as const, text: 'see?' }, {
      type: 'file' as const,
      mediaType: 'image/png',
      data: { type: 'data' as const, data: 'iVBORw0KGgo=' }
    }]
  }]
  await t.rejects(
    (async () => (await small()).doGenerate({ prompt: attached }))(),
    /image input/,
    'the user hears of what the user attached'
  )
})
