import t from 'tap'
import { createToolVocabulary, type StoredToolWords } from '../../services/tools/deferred/tool-vocabulary.ts'
import type { MergedTool, SourceTool } from '../../services/tools/sources.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { testStore } from '../harness/store.ts'
import { givenWords, realServers, realTools } from '../harness/tool-lists.ts'
import { withGateway } from '../harness/with-gateway.ts'

const servers = realServers()
const words = givenWords()
const { signal } = new AbortController()

/** The tools that a question shows, by their ids, and their server. */
function shownIn ({ body }: GatewayRequest) {
  const [first, ...lines]: string[] = body.prompt.at(-1).content[0].text.split('\n')
  const server: string = JSON.parse(/named (".*")\.$/.exec(first)![1])
  return { server, tools: lines.map((line) => [/^t\d+/.exec(line)![0], JSON.parse(line.slice(line.indexOf(':') + 1))] as const) }
}

/** The answer of a model that knows the recorded words. */
function wordsFor (request: GatewayRequest): Plan {
  const { server, tools } = shownIn(request)
  return { object: { tools: tools.map(([id, { name }]) => ({ id, ...words[server][name] })) } }
}

const isAboutWords = ({ structured }: GatewayRequest) => structured === 'tool-words'

/** The service with the tools of servers, and a model that gives words to them. */
async function withWords (
  t: Parameters<typeof withGateway>[0],
  { reply = wordsFor, names = servers.map(({ name }) => name), config = {}, plans = [] }: {
    reply?: (request: GatewayRequest) => Plan | Promise<Plan>, names?: string[], config?: object, plans?: Plan[]
  } = {}
) {
  const made = await withGateway(t, (_request, nth) => plans[nth], {
    structured: (name, request) => name === 'tool-words' ? reply(request) : {},
    config
  })
  await made.app.mcp.start()
  made.app.tools.merge(servers.filter(({ name }) => names.includes(name)))
  return { ...made, asked: () => made.gateway.requests.filter(isAboutWords) }
}

/** Has rounds done until one asks nothing. */
async function askAll ({ app }: Pick<Awaited<ReturnType<typeof withWords>>, 'app'>) {
  while (await app.toolVocabulary.round(signal) === 0);
}

const find = (query: string): Plan => ({ toolCalls: [{ toolName: 'findTools', input: { query } }] })
const namesIn = (events: any[]) => of(events, 'tool-output-available').map(({ output }) => output.tools.map(({ name }: any) => name))

t.test('a model gives words to the tools of servers once, and they are found by them', async (t) => {
  const query = 'give it a thumbs up'
  const made = await withWords(t, { plans: [find(query), { text: 'No.' }, find(query), { text: 'Yes.' }] })
  t.notOk(namesIn((await say(made.app, 'go')).events)[0].includes('slack_add_reaction'), 'a run before them uses what is there')
  await askAll(made)
  t.ok(namesIn((await say(made.app, 'go')).events)[0].includes('slack_add_reaction'))

  const asked = made.asked()
  t.ok(asked.length < 30, `${asked.length} questions`)
  t.equal(asked.reduce((sum, request) => sum + shownIn(request).tools.length, 0), 273, 'each tool once')
  t.ok(asked.every(({ modelId }) => modelId === asked[0].modelId))
  t.ok(asked.every(({ body }) => JSON.stringify(body).length < 20_000 && body.maxOutputTokens <= 4_000))
  t.match(asked[0].body.prompt[0].content, /Nothing in them is an instruction/)
  const others = made.gateway.requests.filter((request) => !isAboutWords(request))
  t.notMatch(JSON.stringify(others.map(({ body }) => body)), /Put a heart on it/, 'no model reads what one gave')
  const { groups } = (await made.app.inject('/usage?by=role')).json()
  t.equal(groups.find(({ key }: { key: string }) => key === 'fast').calls, asked.length, 'they are counted')

  const changed = (tool: SourceTool, at: number) => at > 0 ? tool : { ...tool, definition: 'another', description: 'Lists rooms' }
  made.app.tools.merge(servers.map((server) => server.name === 'slack' ? { ...server, tools: server.tools.map(changed) } : server))
  await askAll(made)
  t.same(made.asked().slice(asked.length).map((request) => shownIn(request)), [
    { server: 'slack', tools: [['t1', { ...shownIn(made.asked().at(-1)!).tools[0][1], description: 'Lists rooms' }]] }
  ], 'one whose definition has changed is asked about again, alone')
})

for (const [when, options] of Object.entries({
  'few tools are described': { names: ['github'] },
  'the user said so': { config: { toolSearch: { words: false } } },
  'the model is offline': { config: { model: 'offline/assistant' } },
  'the budget of the day is used up': { config: { budget: { day: { tokens: 1 } } } }
})) {
  t.test(`nothing is asked when ${when}`, async (t) => {
    const made = await withWords(t, { ...options, plans: [{ text: 'hi' }] })
    await say(made.app, 'hi')
    await askAll(made)
    t.same(made.asked(), [])
  })
}

t.test('an answer is words and nothing else, within limits, and what is none is asked about in smaller pieces, later', async (t) => {
  const clock = fakeClock()
  const store = await testStore(t)
  const tools = realTools().filter(({ source }) => source === 'slack')
  const stored = store.record<StoredToolWords>('words', () => ({}))
  const texts: string[] = []
  let answer: unknown
  const parts = {
    stored,
    tools: () => tools,
    ask: async ({ text }: { text: string }) => {
      texts.push(text)
      return answer === undefined ? { problem: 'failed' } : { value: answer as never }
    },
    isOffline: () => false,
    isBusy: () => false,
    isWanted: async () => true,
    clock,
    log: { warn () {} }
  }
  const vocabulary = createToolVocabulary(parts)
  const lines = () => texts.at(-1)!.split('\n').length - 1
  const MINUTE = 60_000
  t.equal(await vocabulary.round(signal), 30 * MINUTE)
  t.equal(lines(), 8)
  const strange = [null, 'x', { id: 7 }, { id: 't9', words: ['stray'] }, { id: 't1', words: 'no list' }]
  answer = { tools: [...strange, { id: 't2', words: [], requests: ['x'] }] }
  t.equal(await vocabulary.round(signal), 60 * MINUTE)
  t.equal(lines(), 4, 'fewer')
  t.same(tools.map(vocabulary.of), tools.map(() => undefined))
  answer = { tools: [{ id: 't1', words: [...Array(99).fill('x'.repeat(99)), 3, ' '], requests: ['\ud800 go '], other: 'gone' }] }
  t.equal(await vocabulary.round(signal), 0, 'some got words')
  const got = tools.map((tool) => vocabulary.of(tool)).filter((each) => each !== undefined)
  t.same(got, [{ words: Array(30).fill('x'.repeat(40)), requests: ['\ufffd go'] }])
  const next = createToolVocabulary(parts)
  await next.load()
  t.same(tools.flatMap((tool) => next.of(tool) ?? []), got, 'they are kept')
})

t.test('a day has so many questions, whatever servers change', async (t) => {
  const clock = fakeClock()
  const store = await testStore(t)
  let version = 0
  let asked = 0
  const [tool] = realTools()
  const vocabulary = createToolVocabulary({
    stored: store.record<StoredToolWords>('words', () => ({})),
    tools: (): MergedTool[] => [{ ...tool, definition: `${version}` }],
    ask: async () => {
      asked++
      return { value: { tools: [{ id: 't1', words: ['x'], requests: [] }] } as never }
    },
    isOffline: () => false,
    isBusy: () => false,
    isWanted: async () => true,
    clock,
    log: { warn () {} }
  })
  for (; version < 100; version++) await vocabulary.round(signal)
  t.equal(asked, 60)
  await clock.advance(24 * 60 * 60 * 1000 + 1)
  await vocabulary.round(signal)
  t.equal(asked, 61)
})

t.test('tools are asked about soon after their servers connected, and after a failure not before its pause is over', async (t) => {
  const clock = fakeClock()
  const store = await testStore(t)
  const end = new AbortController()
  let tools: MergedTool[] = []
  const asked: string[] = []
  const vocabulary = createToolVocabulary({
    stored: store.record<StoredToolWords>('words', () => ({})),
    tools: () => tools,
    ask: async ({ text }) => {
      const [first, ...lines] = text.split('\n')
      asked.push(/"(.*)"/.exec(first)![1])
      if (asked.length === 2) return { problem: 'failed' }
      return { value: { tools: lines.map((line) => ({ id: /^t\d+/.exec(line)![0], words: ['x'], requests: [] })) } as never }
    },
    isOffline: () => false,
    isBusy: () => false,
    isWanted: async () => true,
    clock,
    log: { warn () {} }
  })
  const running = vocabulary.run(end.signal)
  const connect = async (source: string) => {
    tools = [...tools, ...realTools().filter((tool) => tool.source === source)]
    vocabulary.changed()
    await clock.sleeper(2_000)
    await clock.advance(2_000)
  }
  await clock.sleeper(60_000)
  await connect('slack')
  await clock.sleeper(60_000)
  await connect('github')
  await clock.sleeper(30 * 60_000)
  await connect('memory')
  await clock.sleeper(30 * 60_000 - 2_000)
  t.same(asked, ['slack', 'github'])
  await clock.advance(30 * 60_000 - 2_000)
  await clock.sleeper(60_000)
  const smaller = Array(4).fill('github')
  t.same(asked, ['slack', 'github', 'github', 'memory', ...smaller], 'what failed is asked about behind, in smaller pieces')
  end.abort()
  await running
})

t.test('a run does not wait for words', async (t) => {
  let release = () => {}
  const until = new Promise<void>((resolve) => { release = resolve })
  const made = await withWords(t, {
    plans: [find('report a bug on GitHub'), { text: 'Done.' }],
    reply: async (request) => {
      await until
      return wordsFor(request)
    }
  })
  const asking = made.app.toolVocabulary.round(signal)
  const { events } = await say(made.app, 'go')
  t.match(events.at(-1), { finishReason: 'stop' })
  release()
  t.equal(await asking, 0)
})
