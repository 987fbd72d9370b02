import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Test } from 'tap'
import { Aborted } from '../../services/lib/abort.ts'
import type { Provider } from '../../services/models/providers/provider.ts'

/** What a provider is tried with. Each message must make its model do what the key says. */
export interface ProviderUnderTest {
  provider: Provider
  /** The part of the id that `languageModel` takes. */
  modelId: string
  say: {
    /** Answers with at least twenty words and no tool call. */
    text: string,
    /** Calls the tool `listDirectory`. */
    tool: string,
    /** Takes seconds for its answer, or as long as its reader lets it wait. */
    slow: string
  }
}

const tools: LanguageModelV4CallOptions['tools'] = [
  { type: 'function', name: 'listDirectory', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } },
  { type: 'function', name: 'readFile', inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } }
]
const ask = (text: string, more: Partial<LanguageModelV4CallOptions> = {}): LanguageModelV4CallOptions => ({
  prompt: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: [{ type: 'text', text }] }],
  tools,
  ...more
})

async function collect (model: LanguageModelV4, options: LanguageModelV4CallOptions) {
  const { stream } = await model.doStream(options)
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

const textOf = (parts: LanguageModelV4StreamPart[]) => parts.map((part) => part.type === 'text-delta' ? part.delta : '').join('')
const callsOf = (parts: Array<{ type: string }>) =>
  parts.filter((part): part is Extract<LanguageModelV4StreamPart, { type: 'tool-call' }> => part.type === 'tool-call')

/** What every provider of models does, whatever its models are. */
export function providerSuite (t: Test, name: string, open: (t: Test) => Promise<ProviderUnderTest>) {
  t.test(`${name}: a stream begins with stream-start and ends with its one finish`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const model = await provider.languageModel(modelId)
    t.equal(model.specificationVersion, 'v4')
    for (const message of [say.text, say.tool]) {
      const parts = await collect(model, ask(message))
      t.equal(parts[0].type, 'stream-start')
      t.equal(parts.at(-1)?.type, 'finish')
      t.equal(parts.filter((part) => part.type === 'finish').length, 1)
    }
  })

  t.test(`${name}: text leaves in pieces, between the start and the end of its block`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const parts = await collect(await provider.languageModel(modelId), ask(say.text))
    t.ok(textOf(parts).split(/\s+/).length >= 20)
    t.ok(parts.filter((part) => part.type === 'text-delta').length >= 10, 'word by word')
    const openBlocks = new Set<string>()
    for (const part of parts) {
      if (part.type === 'text-start') {
        t.notOk(openBlocks.has(part.id))
        openBlocks.add(part.id)
      } else if (part.type === 'text-delta' && !openBlocks.has(part.id)) t.fail('a delta outside its block')
      else if (part.type === 'text-end') t.ok(openBlocks.delete(part.id))
    }
    t.equal(openBlocks.size, 0)
    const finish = parts.at(-1)
    t.match(finish, {
      type: 'finish',
      finishReason: { unified: 'stop' },
      usage: { inputTokens: { total: Number }, outputTokens: { total: Number } }
    })
  })

  t.test(`${name}: a tool call names an offered tool, has JSON input, and is announced in pieces before`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const parts = await collect(await provider.languageModel(modelId), ask(say.tool))
    const calls = callsOf(parts)
    t.equal(calls.length, 1)
    for (const call of calls) {
      t.ok(tools!.some((tool) => tool.name === call.toolName))
      t.type(JSON.parse(call.input), 'object')
      const about = parts.filter((part) => 'id' in part && part.id === call.toolCallId)
      t.equal(about[0].type, 'tool-input-start')
      t.equal(about.at(-1)?.type, 'tool-input-end')
      t.equal(about.map((part) => part.type === 'tool-input-delta' ? part.delta : '').join(''), call.input)
    }
    t.match(parts.at(-1), { type: 'finish', finishReason: { unified: 'tool-calls' } })
  })

  t.test(`${name}: no two calls have the same id`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const model = await provider.languageModel(modelId)
    const ids = (await Promise.all([1, 2, 3].map(() => collect(model, ask(say.tool))))).flatMap(callsOf).map((call) => call.toolCallId)
    t.equal(new Set(ids).size, 3)
  })

  t.test(`${name}: an answer without streaming is the streamed one`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const model = await provider.languageModel(modelId)
    for (const message of [say.text, say.tool]) {
      const parts = await collect(model, ask(message))
      const whole = await model.doGenerate(ask(message))
      t.equal(whole.content.map((part) => part.type === 'text' ? part.text : '').join(''), textOf(parts))
      const essence = (found: Array<{ type: string }>) => callsOf(found).map(({ toolName, input }) => ({ toolName, input }))
      t.strictSame(essence(whole.content), essence(parts))
      const finish = parts.at(-1)
      t.equal(whole.finishReason.unified, finish?.type === 'finish' && finish.finishReason.unified)
    }
  })

  t.test(`${name}: an abort ends the stream at once, with the reason that was given`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const stop = new AbortController()
    const { stream } = await (await provider.languageModel(modelId)).doStream(ask(say.slow, { abortSignal: stop.signal }))
    const reader = stream.getReader()
    await reader.read()
    const reason = new Aborted('stop', 'enough')
    const started = performance.now()
    stop.abort(reason)
    await t.rejects(async () => {
      while (!(await reader.read()).done);
    }, { message: 'enough', kind: 'stop' })
    t.ok(performance.now() - started < 2_000)
  })

  t.test(`${name}: a call that was aborted before does not begin`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const model = await provider.languageModel(modelId)
    await t.rejects(async () => model.doStream(ask(say.text, { abortSignal: AbortSignal.abort(new Aborted('stop', 'enough')) })), {
      message: 'enough'
    })
    await t.rejects(async () => model.doGenerate(ask(say.text, { abortSignal: AbortSignal.abort(new Aborted('stop', 'enough')) })), {
      message: 'enough'
    })
  })

  t.test(`${name}: a structured call is answered with JSON of the schema, streamed or not`, async (t) => {
    const { provider, modelId, say } = await open(t)
    const model = await provider.languageModel(modelId)
    const options = ask(say.tool, {
      tools: undefined,
      responseFormat: {
        type: 'json',
        name: 'analysis',
        schema: {
          type: 'object',
          properties: {
            complexity: { enum: ['simple', 'standard', 'complex', 'long_running'] },
            timeWords: { type: 'string' },
            thinking: { type: 'string' }
          },
          required: ['complexity', 'timeWords', 'thinking']
        }
      }
    })
    const { content } = await model.doGenerate(options)
    for (const text of [textOf(await collect(model, options)), content.map((part) => part.type === 'text' ? part.text : '').join('')]) {
      t.match(JSON.parse(text), {
        complexity: /^(?:simple|standard|complex|long_running)$/,
        timeWords: String,
        thinking: String
      })
    }
  })

  t.test(`${name}: the models it lists carry ids that name their provider, and the default is among them`, async (t) => {
    const { provider } = await open(t)
    const models = await provider.listModels(AbortSignal.timeout(5_000))
    t.ok(models.length > 0)
    for (const { id, name, provider } of models) {
      t.match(id, /^[^/\s]+\/\S+$/)
      t.ok(name)
      t.equal(provider, id.slice(0, id.indexOf('/')))
    }
    t.ok(models.some(({ id }) => id === provider.defaultModel))
    await t.rejects(provider.listModels(AbortSignal.abort(new Aborted('stop', 'enough'))), { message: 'enough' })
  })
}
