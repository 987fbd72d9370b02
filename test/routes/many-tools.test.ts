import t from 'tap'
import type { App } from '../../app.ts'
import { createLearnedLimits } from '../../services/models/providers/learned-limits.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { answerCall, settled } from '../harness/app-tools.ts'
import { fakeClock } from '../harness/clock.ts'
import { testStore } from '../harness/store.ts'
import { tasksOf } from '../harness/tasks.ts'
import { realServers } from '../harness/tool-lists.ts'
import { withGateway } from '../harness/with-gateway.ts'

const call = (toolName: string, input: unknown): Plan => ({ toolCalls: [{ toolName, input }] })
const use = (toolName: string, input: unknown) => call('useTool', { toolName, input })
const namesIn = ({ body }: GatewayRequest): string[] => body.tools.map(({ name }: { name: string }) => name)
const tokensOf = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4)
const systemOf = ({ body }: GatewayRequest) => body.prompt.filter(({ role }: any) => role === 'system')
const issue = { owner: 'me', repo: 'shop', title: 'Broken' }
const servers = realServers()

/** The service with the tools of sixteen servers. */
async function withMany (t: Parameters<typeof withGateway>[0], plans: Plan[] | Parameters<typeof withGateway>[1], config = {}) {
  const made = await withGateway(t, typeof plans === 'function' ? plans : (_request, nth) => plans[nth], { config })
  await made.app.mcp.start()
  made.app.tools.merge(servers)
  return made
}

/** Merges the servers again, without those of these names. */
const without = (app: App, ...names: string[]) =>
  app.tools.merge(servers.map((server) => ({ ...server, available: !names.includes(server.name) })))

t.test('of 273 tools few are described, the same ones through a thread, whatever its servers do', async (t) => {
  const plans = [
    call('findTools', { query: 'report a bug on GitHub' }),
    use('create_issue', issue),
    { text: 'Reported.' },
    { text: 'Hello.' },
    use('get_issue', { ...issue, issue_number: 3 }),
    use('search_nodes', { query: 'x' }),
    { text: 'It is down.' }
  ]
  const { app, gateway } = await withMany(t, plans)
  const { events } = await say(app, 'report it', { id: 'one' })
  const [found] = of(events, 'tool-output-available')
  t.ok(found.output.tools.some(({ name }: any) => name === 'create_issue'), found.output.tools.map(({ name }: any) => name).join())
  t.ok(tokensOf(found.output) <= 2_600, `the answer takes ${tokensOf(found.output)} tokens`)
  const [request] = of(events, 'tool-approval-request')
  t.match(request, { toolName: 'create_issue', input: issue }, 'it is asked about as what it is')
  t.match((await answer(app, { [asked(events)[0]]: true })).events.find(({ type }) => type === 'tool-output-available'), {
    output: { content: [{ text: /^create_issue was called with .*Broken/ }] }
  })
  await say(app, 'hello', { id: 'one' })
  without(app, 'github', 'memory')
  const gone = await say(app, 'and now?', { id: 'one', messages: undefined, message: { role: 'user', content: 'and now?' } })
  const said = of(gone.events, 'tool-input-error').map(({ errorText }) => errorText)
  t.match(said, [/server "github" is not connected/, /server "memory" is not/])

  const [first, ...later] = gateway.requests
  t.ok(tokensOf(first.body.tools) <= 6_000, `their definitions take ${tokensOf(first.body.tools)} tokens`)
  for (const request of later) {
    t.same(request.body.tools, first.body.tools)
    t.same(systemOf(request)[0], systemOf(first)[0])
  }
  const system: string = systemOf(first)[0].content
  const unnamed = servers.flatMap(({ tools }) => tools).filter(({ model: { name } }) => !new RegExp(`[ ,]${name}[,\n]`).test(system))
  t.same(unnamed, [], 'all are named')
  t.ok(tokensOf([first.body.tools, system]) <= 6_000, `with the system prompt they take ${tokensOf([first.body.tools, system])} tokens`)
  t.notOk(namesIn(first).includes('create_issue'))
  t.match(JSON.stringify((await app.inject('/threads/one')).json()), /"toolName":"create_issue"/)
  t.notMatch(JSON.stringify((await app.inject('/threads/one')).json()), /useTool/)
})

t.test('a window of 8,192 tokens holds the beginning, an answer of findTools and the calls', async (t) => {
  const plans = [
    call('findTools', { query: 'change a property of a Notion page' }),
    use('API-patch-page', { page_id: 'a'.repeat(36) }),
    call('findTools', { query: 'run an aggregation' }),
    { text: 'Done.' }
  ]
  const { app, gateway } = await withMany(t, plans, { contextWindows: { test: 8_192 }, permissions: { 'API-*': 'allow' } })
  const { events } = await say(app, 'set its status', { id: 'small' })
  t.match(events.at(-1), { finishReason: 'stop' })
  t.same(of(events, 'tool-output-available').map(({ toolName }) => toolName), ['findTools', 'API-patch-page', 'findTools'])
  const sizes = gateway.requests.map(({ body }) => tokensOf([body.prompt, body.tools]))
  t.ok(Math.max(...sizes) < 8_192 * 0.8, `the calls take ${sizes} tokens`)
  t.ok(tokensOf(systemOf(gateway.requests[0])) + tokensOf(gateway.requests[0].body.tools) < 4_096)
})

t.test('a few tools of servers are described, more than thirty or a tenth of the window are not', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'hi' }))
  await app.mcp.start()
  const told = async (...some: string[]) => {
    app.tools.merge(servers.filter(({ name }) => some.includes(name)))
    await say(app, 'hi')
    const names = namesIn(gateway.requests.at(-1)!)
    const toolOf = (name: string) => servers.find((each) => each.name === name)!.tools[0].model.name
    return some.every((name) => names.includes(toolOf(name))) ? 'told' : 'found'
  }
  t.equal(await told('github'), 'told')
  t.equal(await told('github', 'context7', 'sequential-thinking'), 'told')
  t.equal(await told('github', 'slack'), 'found', '34 tools')
  t.equal(await told('mongodb'), 'told', '27 tools of 16,000 tokens in a window of 200,000')
  await app.inject({ method: 'PATCH', url: '/config', payload: { contextWindows: { test: 100_000 } } })
  t.equal(await told('mongodb'), 'found', 'in one of 100,000')
})

t.test('a grant covers a found tool, and the log, a task and its digest have its name', async (t) => {
  const plans: Plan[] = [
    use('slack_post_message', { channel_id: 'C1', text: 'Out' }),
    call('updatePhase', { phaseId: 'phase-1', status: 'completed' }),
    { text: 'Posted.' }
  ]
  let step = 0
  const { app } = await withMany(t, ({ body }) => body.tools === undefined ? undefined : plans[step++ % 3])
  const tasks = await tasksOf(t, app)
  const watched = await tasks.watch()
  const { id } = await tasks.create('post it', { plan: { phases: [{ description: 'post' }] }, approval: { mode: 'granted' } })
  const post = async (payload: object) => (await app.inject({ method: 'POST', url: '/grants', payload })).statusCode
  t.equal(await post({ taskId: id, toolName: 'slack_post_message', scope: 'tool' }), 201)
  await tasks.post(`/${id}/start`)
  t.match(await watched.until('task:tool-start'), { toolName: 'slack_post_message', input: { channel_id: 'C1' } })
  t.match(await watched.until('task:tool'), { tool: 'slack_post_message', status: 'complete' })
  await watched.until('task:complete')
  t.match((await tasks.runs(id))[0].toolCalls, [{ toolName: 'slack_post_message', status: 'completed' }])
  t.notMatch(JSON.stringify(watched.events), /useTool/)
})

t.test("an application's own tools stay described beside many of servers, until they are too many themselves", async (t) => {
  const appTools = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ name: `cart${n}`, description: `Shows cart ${n}`, inputSchema: { type: 'object', properties: { n: { type: 'integer' } } } },
      effect: 'read'
    }))
  const { app, gateway } = await withMany(t, [{ text: 'hi' }, use('cart33', { n: 1 }), { text: 'Empty.' }])
  await say(app, 'hi', { options: { appTools: appTools(3) } })
  t.ok(namesIn(gateway.requests[0]).includes('cart2'))
  t.notOk(namesIn(gateway.requests[0]).includes('create_issue'))

  const { events } = await say(app, 'look', { id: 'app', options: { appTools: appTools(40) } })
  t.notOk(namesIn(gateway.requests[1]).includes('cart2'))
  t.match(of(events, 'tool-input-start'), [{ toolName: 'cart33' }])
  const [{ toolCallId, ...called }] = of(events, 'tool-input-available')
  t.match(called, { toolName: 'cart33', input: { n: 1 } })
  t.match((await app.inject('/tool-calls')).json(), { toolCalls: [{ toolCallId, toolName: 'cart33', input: { n: 1 } }] })
  await answerCall(app, toolCallId, { output: { items: 0 } })
  t.match(JSON.stringify(await settled(app, 'app')), /"cart33".*Empty\./)
})

t.test('a tool that is not there is named in an error that names no hundreds', async (t) => {
  const { app } = await withMany(t, [call('create_isue', {}), use('create_isue', {}), { text: 'No.' }])
  const { events } = await say(app, 'go')
  const [{ errorText }] = of(events, 'tool-input-error')
  t.match(errorText, /no tool named "create_isue".*listDirectory.*, and 273 of tool servers, which findTools finds/)
  t.ok(errorText.length < 1_500)
})

t.test('lists of tools take patterns of names and whole servers, from the conversation, its agent, the run and a task', async (t) => {
  const { app, gateway } = await withMany(t, ({ body }) => body.tools === undefined ? undefined : { text: 'hi' })
  const toldWith = async (options: object, more: object = {}) => {
    await say(app, 'hi', { ...more, options })
    return namesIn(gateway.requests.at(-1)!)
  }
  const github = servers.find(({ name }) => name === 'github')!.tools.map(({ model: { name } }) => name)
  t.same(await toldWith({ allowTools: ['server:github'] }), github)
  t.same(await toldWith({ allowTools: ['*_issue*', 'readFile'], denyTools: ['server:airtable', 'add_*'] }), [
    'readFile',
    ...github.filter((name) => /_issue/.test(name) && !name.startsWith('add_'))
  ])
  t.same(await toldWith({ allowTools: ['github_get_*'] }), github.filter((name) => name.startsWith('get_')), 'with the server in front')

  const put = (url: string, payload: object) => app.inject({ method: 'PUT', url, payload })
  t.equal((await put('/agents/coder', { options: { allowTools: ['server:git*', 'readFile'] } })).statusCode, 200)
  t.equal((await put('/threads/c', { settings: { agent: 'coder', options: { denyTools: ['server:git'] } } })).statusCode, 200)
  const left = await toldWith({ allowTools: ['*_pull_request', 'writeFile'] }, { id: 'c' })
  t.same(left, github.filter((name) => name.endsWith('_pull_request')))

  for (const [list, entry] of [['denyTools', 'server:gitlab'], ['allowTools', 'gitlab_*']]) {
    const options = { [list]: [entry] }
    const refused = await app.inject({ method: 'POST', url: '/tasks', payload: { goal: 'go', options } })
    const error = new RegExp(`options.${list} has "${entry.replace('*', '.')}".*readFile.*, and those of .*server:github, `)
    t.match(refused.json(), { code: 'ERR_INVALID_REQUEST', error })
  }
  const tasks = await tasksOf(t, app)
  const watched = await tasks.watch()
  const { id } = await tasks.create('go', { plan: { phases: [{ description: 'x' }] }, options: { allowTools: ['server:context7'] } })
  await tasks.post(`/${id}/start`)
  await watched.until('task:complete')
  t.ok(gateway.requests.some(({ body }) => body.tools?.map(({ name }: any) => name).join() === 'resolve-library-id,query-docs,updatePhase'))
})

/** A model that takes so many tools, and answers with the plans, one a call that it takes. */
function taking (most: number, plans: Plan[], words = `Invalid 'tools': array too long. Expected an array with maximum length ${most}`) {
  let step = 0
  return ({ body }: GatewayRequest): Plan | undefined => {
    if (body.tools === undefined) return undefined
    return body.tools.length > most ? { error: { status: 400, message: words } } : plans[step++] ?? { text: 'Done.' }
  }
}
const counts = ({ requests }: { requests: GatewayRequest[] }) =>
  requests.flatMap(({ body }) => body.tools === undefined ? [] : [body.tools.length])

for (const words of [undefined, 'Too many tools were sent.']) {
  t.test(`a call that is refused for its number of tools is made again with fewer at once: ${words ?? 'it names the limit'}`, async (t) => {
    const issues = [call('findTools', { query: 'report a bug' }), use('get_issue', { ...issue, issue_number: 3 })]
    const { app, gateway } = await withGateway(t, taking(24, issues, words), { config: { permissions: { get_issue: 'allow' } } })
    await app.mcp.start()
    app.tools.merge(servers.filter(({ name }) => name === 'github'))
    const { events } = await say(app, 'look', { id: 'one' })
    t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
    t.match(of(events, 'tool-output-available').map(({ toolName }) => toolName), ['findTools', 'get_issue'])
    const [refused, ...sent] = counts(gateway)
    t.ok(refused > 40 && sent.every((count) => count <= 24), `${refused}, then ${sent}`)
    t.match(systemOf(gateway.requests[0])[0].content, /their tools, which are called like the others\. .*\n- github: create_or_/)
    t.match(systemOf(gateway.requests[1])[0].content, /the names of their tools: .*\n- github: create_or_.*, get_pull_request_reviews\n/)
    await say(app, 'and now?', { id: 'two' })
    t.equal(counts(gateway).filter((count) => count > 24).length, 1, 'the limit is known from then on')
    t.same(gateway.requests.at(-1)!.body.tools, gateway.requests[1].body.tools, 'the beginning is one that is cached')
  })
}

t.test('a task whose tools are refused goes on with fewer', async (t) => {
  const plans = [call('updatePhase', { phaseId: 'phase-1', status: 'completed' }), { text: 'There is one.' }]
  const { app, gateway } = await withGateway(t, taking(24, plans))
  await app.mcp.start()
  app.tools.merge(servers.filter(({ name }) => name === 'github'))
  const tasks = await tasksOf(t, app)
  const watched = await tasks.watch()
  const { id } = await tasks.create('look', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  await watched.until('task:complete')
  const [refused, ...sent] = counts(gateway)
  t.ok(refused > 40 && sent.length > 0 && sent.every((count) => count <= 24), `${refused}, then ${sent}`)
  const { body } = gateway.requests.findLast(({ body }) => body.tools)!
  t.ok(JSON.stringify(body.prompt).includes(`Tools: ${body.tools.map(({ name }: any) => name).join(', ')}.`))
})

const isInvestigation = ({ body }: GatewayRequest) => /^You investigate a question/.test(systemOf({ body } as GatewayRequest)[0].content)

t.test('an investigation finds tools of servers that only read, calls them under their names, and no others', async (t) => {
  const inner: Plan[] = [
    call('findTools', { query: 'what happened in the repository lately' }),
    use('git_log', { path: '/shop' }),
    use('git_push', {}),
    { text: 'Nothing happened.' }
  ]
  const outer: Plan[] = [call('investigate', { question: 'What happened?' }), { text: 'Nothing.' }]
  const { app, gateway } = await withMany(t, (request) => (isInvestigation(request) ? inner : outer).shift())
  const { events } = await say(app, 'look')
  const [{ toolName, output }] = of(events, 'tool-output-available')
  t.match({ toolName, output }, {
    toolName: 'investigate',
    output: { report: 'Nothing happened.', calls: [{ toolName: 'findTools' }, { toolName: 'git_log', status: 'completed' }] }
  })
  const made = gateway.requests.filter(isInvestigation)
  t.ok(made.every(({ body }) => tokensOf(body.tools) <= 6_000 && !namesIn({ body } as GatewayRequest).includes('git_log')))
  const [, found, logged, refused] = made.map(({ body }) => JSON.stringify(body.prompt.at(-1)))
  t.match(found, /git_log/)
  t.notMatch(found, /"git_push"/, 'what writes is not found')
  t.match(logged, /git_log was called with .*shop/)
  t.match(refused, /no tool named .*git_push/)
})

t.test('an investigation whose tools are refused goes on with fewer', async (t) => {
  const inner: Plan[] = [call('findTools', { query: 'what changed' }), use('git_log', {}), { text: 'Nothing happened.' }]
  const outer: Plan[] = [call('investigate', { question: 'What happened?' }), { text: 'Nothing.' }]
  const few = taking(12, inner)
  const { app, gateway } = await withGateway(t, (request) => isInvestigation(request) ? few(request) : outer.shift())
  await app.mcp.start()
  app.tools.merge(servers.filter(({ name }) => name === 'git'))
  const { events } = await say(app, 'look')
  t.match(of(events, 'tool-output-available'), [{ output: { report: 'Nothing happened.', calls: [{}, { toolName: 'git_log' }] } }])
  const [refused, ...sent] = counts({ requests: gateway.requests.filter(isInvestigation) })
  t.ok(refused > 12 && sent.length === 3 && sent.every((count) => count <= 12), `${refused}, then ${sent}`)
})

t.test('a fallback model that refuses the number of tools gets fewer, and so do both from then on', async (t) => {
  const answers = taking(24, [call('findTools', { query: 'report a bug' }), { text: 'Found.' }, { text: 'Hello.' }])
  const { app, gateway } = await withGateway(
    t,
    (request) => request.modelId === 'test/model' ? { error: { status: 404, message: 'No such model' } } : answers(request),
    { config: { models: { fallback: 'other/small' } } }
  )
  await app.mcp.start()
  app.tools.merge(servers.filter(({ name }) => name === 'github'))
  const { events } = await say(app, 'look', { id: 'one' })
  t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
  t.ok(of(events, 'tool-output-available')[0].output.tools.some(({ name }: any) => name === 'create_issue'))
  const byFallback = counts({ requests: gateway.requests.filter(({ modelId }) => modelId === 'other/small') })
  t.ok(byFallback[0] > 40 && byFallback.slice(1).every((count) => count <= 24), `${byFallback}`)
  await say(app, 'hi', { id: 'two' })
  t.ok(counts({ requests: gateway.requests.slice(-2) }).every((count) => count <= 24), 'either may answer')
})

t.test('a model that takes fewer tools than can be left is told of', async (t) => {
  const { app, gateway } = await withGateway(t, taking(3, []))
  const { events } = await say(app, 'look')
  t.ok(counts(gateway).length <= 4)
  t.match(of(events, 'error'), [{ errorText: /takes fewer tools than the call described/ }])
})

t.test('the limit that a refusal names is learned, whatever else it says, and believed for 30 days', async (t) => {
  const said: Array<[words: string, limit: number]> = [
    ["Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 232 instead.", 128],
    ['tools: List should have at most 128 items after validation, not 232', 128],
    ["'tools' : maximum number of items is 128", 128],
    ['Maximum tools limit reached: 200', 200],
    ['The number of function declarations exceeds the maximum of 64 function declarations', 64],
    ['Too many tools.', 231]
  ]
  const store = await testStore(t)
  for (const [at, [words, limit]] of said.entries()) {
    const clock = fakeClock()
    const open = () => createLearnedLimits({ stored: store.record(`limits-${at}`, () => ({})), clock })
    const limits = await open()
    limits.noteToolsRefused('a/b', { sent: 232, words })
    t.equal(limits.mostTools(['a/b', 'c/d']), limit, words)
    t.equal(limits.mostTools(['c/d']), Infinity)
    limits.noteToolsRefused('a/b', { sent: 30, words: '' })
    t.equal(limits.mostTools(['a/b']), 29, 'a second refusal lowers it')
    while ((await open()).mostTools(['a/b']) !== 29) await new Promise((resolve) => setTimeout(resolve, 2))
    await clock.advance(30 * 24 * 60 * 60 * 1000)
    t.equal((await open()).mostTools(['a/b']), Infinity)
  }
})
