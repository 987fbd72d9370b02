import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { type GatewayRequest, type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { startFakeSearch } from '../fakes/search.ts'
import { startSite } from '../fakes/site.ts'
import { everything, filesystem, misbehaving, real } from '../harness/mcp.ts'
import { type Sidecar, startService } from '../harness/sidecar.ts'
import { parseEvents, textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { alive, allGone } from '../services/process/alive.ts'

const execute = promisify(execFile)
const CANARY = 'canary-7f3a9c51e0d2'

/** The documented calls, as a script makes them. */
async function curl (method: string, url: string, body?: object): Promise<any> {
  const data = body ? ['-H', 'content-type: application/json', '-d', JSON.stringify(body)] : []
  const { stdout } = await execute('curl', ['-sN', '--max-time', '30', '-X', method, ...data, url])
  return stdout.startsWith('data: ') ? parseEvents(stdout) : JSON.parse(stdout)
}
const run = (url: string, content: string) => curl('POST', `${url}/run`, { messages: [{ role: 'user', content }] })

/** Every file below a folder, as text. */
const contents = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(`${folder}/${name}`).isFile()).map((name) => readFileSync(`${folder}/${name}`, 'latin1')).join('\n')

t.test(
  'connect with curl, use the tool, restart, use it again, get killed, disconnect',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const dir = t.testdir({ work: {} })
    const paths = { home: `${dir}/home`, cwd: `${dir}/work` }
    const answers: string[] = []
    const say = async (url: string, content: string) => {
      const events = await run(url, content)
      answers.push(JSON.stringify(events))
      return textOf(events)
    }
    /** The server's process, and one that it has started. */
    const pidsOf = async (url: string) => [...(await say(url, 'use the pid tool then use the fork tool')).matchAll(/^\d+$/gm)].map(Number)

    const first = await startService(t, paths)
    t.match(await curl('POST', `${first.url}/mcp/connect`, misbehaving('odd', [], { env: { TOKEN: CANARY }, approval: 'never' })), {
      status: 'connected',
      tools: ['echo', 'fail']
    })
    t.match(await curl('POST', `${first.url}/mcp/connect`, everything()), { status: 'connected', tools: ['echo'] })
    t.match(await curl('POST', `${first.url}/mcp/servers/everything/accept`, {}), { status: 'connected' })
    t.match(
      await say(first.url, 'use get-sum with {"a": 2, "b": 40} then use the fail tool'),
      /is 42[^]*could not use fail: it did not work/
    )
    const pids = await pidsOf(first.url)
    await say(first.url, 'use env with {"name": "TOKEN"}')
    await say(first.url, 'run `env`')
    t.match(await curl('GET', `${first.url}/mcp/servers/odd`), { status: 'connected' })
    t.same(pids.map(alive), [true, true])
    t.match(await first.stop(), { code: 0 })
    t.notOk(pids.some(alive), 'nothing is left of the servers, nor of what they started')

    const second = await startService(t, paths)
    t.match(
      await say(second.url, 'use echo with {"message": "here again"}'),
      /here again/,
      'it is connected again by the time a run needs it'
    )
    const more = await pidsOf(second.url)
    t.same(more.map(alive), [true, true])
    await second.stop('SIGKILL')
    await allGone(more)

    const third = await startService(t, paths)
    t.strictSame(await curl('DELETE', `${third.url}/mcp/odd`), { status: 'disconnected', name: 'odd' })
    t.match(await curl('DELETE', `${third.url}/mcp/everything`), { status: 'disconnected' })
    t.strictSame(await curl('GET', `${third.url}/mcp/servers`), { servers: [] })
    t.match(await third.stop(), { code: 0 })

    for (
      const [what, text] of Object.entries({
        files: contents(dir),
        answers: answers.join('\n'),
        logs: [first, second, third].map(({ log, out }) => log() + out()).join('\n')
      })
    ) {
      t.notMatch(text, new RegExp(CANARY), `the secret is not in the ${what}`)
    }
  }
)

t.test('a server that takes long, or does not work at all, keeps nobody from starting', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  writeFileSync(
    `${dir}/home/config.json`,
    JSON.stringify({ mcp: [misbehaving('slow', ['--delay=60000']), { name: 'none', command: '/no/such/program' }] })
  )
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  t.match(await curl('GET', `${service.url}/ready`), { ready: true })
  t.match(await curl('GET', `${service.url}/mcp/servers`), {
    servers: [{ name: 'slow', status: 'connecting', tools: [] }, { name: 'none' }]
  })
  t.match(await service.stop(), { code: 0 })
})

const find = (query: string): Plan => ({ toolCalls: [{ toolName: 'findTools', input: { query } }] })
const use = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName: 'useTool', input: { toolName, input } }] })
const phase = { toolCalls: [{ toolName: 'updatePhase', input: { phaseId: 'phase-1', status: 'completed' } }] }
const tokensOf = ({ prompt, tools }: GatewayRequest['body']) => Math.ceil(JSON.stringify([prompt, tools]).length / 4)

t.test('the built service: a tool that was found is approved, granted, logged and run as any other', async (t) => {
  let plans: Plan[] = []
  const sent: GatewayRequest[] = []
  const gateway = await startFakeGateway({
    reply (request) {
      if (request.structured !== undefined) return undefined
      sent.push(request)
      return plans.shift()
    }
  })
  t.teardown(() => gateway.close())
  const dir = t.testdir({ work: {}, home: {} })
  const mcp = [everything(), filesystem(`${dir}/work`), real('memory')]
  const configure = (more: object = {}) =>
    writeFileSync(`${dir}/home/config.json`, JSON.stringify({ model: 'test/model', analysis: false, mcp, ...more }))
  const env = { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url }
  const start = () => startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env })
  configure()
  let service: Sidecar = await start()
  const get = async (path: string) => (await fetch(service.url + path)).json() as any
  const send = (path: string, body: object) =>
    fetch(service.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const post = async (path: string, body: object) => (await send(path, body)).json() as any
  /** Runs to the end, or to the first question. */
  const run = (content: string, next: Plan[], more: object = {}) => {
    plans = next
    return post('/run/sync', { messages: [{ role: 'user', content }], ...more })
  }
  const isConnected = ({ status }: { status: string }) => status === 'connected'
  while (!(await get('/mcp/servers')).servers.every(isConnected));

  await run('go', [find('sum of two numbers'), use('get-sum', { a: 17, b: 25 })], { id: 'one' })
  t.match(JSON.stringify(sent.at(-1)!.body.prompt), /"tools":\[\{"name":"get-sum"/)
  const [open] = (await get('/approvals?kind=tool')).approvals
  t.match(open, { toolName: 'get-sum', input: { a: 17, b: 25 }, toolServer: { name: 'everything' } })
  const decided = { type: 'tool-approval-response', approvalId: open.approvalId, approved: true }
  plans = [{ text: 'It is 42.' }]
  const approve = { messages: [{ role: 'user', content: 'go' }, { role: 'tool', content: [decided] }] }
  t.match(await send('/run/approve', approve).then((response) => response.text()), /The sum of 17 and 25 is 42/)

  t.match(await post('/grants', { threadId: 'one', toolName: 'get-sum', scope: 'tool' }), { toolName: 'get-sum' })
  const again = await run('again', [use('get-sum', { a: 1, b: 2 }), { text: 'It is 3.' }], { id: 'one' })
  t.match(again.toolCalls, [{ toolName: 'get-sum', status: 'completed' }], 'its grant covers it')
  const logged = service.log().split('\n').filter((line) => line.includes('"tool call"'))
  t.match(logged, [/"tool":"findTools"/, /"tool":"get-sum"/, /"tool":"get-sum"/])

  const tasks = await tasksOf(t, service)
  const watched = await tasks.watch()
  const { id: taskId } = await tasks.create('add', { plan: { phases: [{ description: 'add' }] }, approval: { mode: 'granted' } })
  await post('/grants', { taskId, toolName: 'get-sum', scope: 'tool' })
  plans = [use('get-sum', { a: 5, b: 6 }), phase, { text: 'Added.' }]
  await tasks.post(`/${taskId}/start`)
  await watched.until('task:complete')
  t.match((await tasks.runs(taskId))[0].toolCalls, [{ toolName: 'get-sum', status: 'completed' }])

  const inputSchema = { type: 'object', properties: { n: { type: 'integer' } } }
  const appTools = Array.from({ length: 40 }, (_, n) => ({ name: `cart${n}`, description: `Shows cart ${n}`, inputSchema, effect: 'read' }))
  await run('look', [use('cart33', { n: 1 })], { id: 'app', options: { appTools } })
  t.match(await get('/tool-calls'), { toolCalls: [{ toolName: 'cart33', input: { n: 1 } }] })

  t.match(await service.stop(), { code: 0 })
  configure({ contextWindows: { test: 8_192 } })
  service = await start()
  sent.length = 0
  await run('go', [find('sum of two numbers'), use('read_graph', {})], { id: 'small' })
  t.match((await get('/approvals?kind=tool&threadId=small')).approvals, [{ toolName: 'read_graph' }])
  t.ok(sent.every(({ body }) => tokensOf(body) < 8_192 * 0.8), `${sent.map(({ body }) => tokensOf(body))} tokens`)
  t.match(JSON.stringify(sent.at(-1)!.body.prompt), /"tools":\[\{"name":"get-sum"/)
  await service.stop()
})

const TASK_CANARY = 'canary-51b7d0e2a94f'

t.test('a task of the built service reaches tool servers, pages and the search, and outlives a server that crashes', {
  skip: process.platform !== 'linux' && 'needs /proc'
}, async (t) => {
  const search = await startFakeSearch(
    t,
    'searxng',
    () => ({ results: [{ title: 'Cats', url: 'https://cats.test/', snippet: 'All about them.' }] })
  )
  const site = await startSite(t, { '/': '<title>My page</title><p>Written for a test.' })
  const dir = t.testdir({
    home: {
      'config.json': JSON.stringify({
        analysis: false,
        fetch: { allowPrivate: true },
        search: { provider: 'searxng', baseURL: search.url }
      })
    },
    work: {}
  })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  for (const body of [misbehaving('odd', [], { env: { TOKEN: TASK_CANARY }, approval: 'always' }), misbehaving('good')]) {
    t.equal(
      (await fetch(`${service.url}/mcp/connect`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })).status,
      200
    )
  }
  const tasks = await tasksOf(t, service)
  const watch = await tasks.watch()
  /** The calls of the only run of a task with this goal. */
  const done = async (goal: string): Promise<{ status: string, output: string, calls: any[] }> => {
    const { id } = await tasks.create(goal)
    await tasks.post(`/${id}/start`)
    const { runId } = await watch.until('task:start', { taskId: id })
    await watch.ended(watch.of('task:start').length)
    const run = await tasks.get(`/${id}/runs/${runId}`)
    return { status: run.status, output: run.output, calls: run.toolCalls }
  }

  const { status, calls } = await done(
    'use echo with {"message": "from a task"} then use image with {"characters": 100000} then use env with {"name": "TOKEN"} then fetch ' +
    `${site.url}/ then search for cats then use the fork tool then use good_pid with {}`
  )
  t.equal(status, 'completed')
  t.match(calls.map(({ toolName, status, output }) => [toolName, status, output]), [
    ['echo', 'completed', { content: [{ text: 'from a task' }] }],
    ['image', 'completed', { content: [{ type: 'image', data: 'A'.repeat(100_000) }] }],
    ['env', 'completed', { content: [{ text: '[secret]' }] }],
    ['fetchUrl', 'completed', { title: 'My page', content: 'Written for a test.' }],
    ['webSearch', 'completed', { results: [{ title: 'Cats', url: 'https://cats.test/' }] }],
    ['fork', 'completed', {}],
    ['good_pid', 'completed', {}]
  ])
  const [forked, good] = [calls[5], calls[6]].map(({ output }) => Number(output.content[0].text))
  t.same([alive(forked), alive(good)], [true, true])

  const lost = await done('use the crash tool then use good_echo with {"message": "still here"}')
  t.match(lost.calls.slice(0, 2).map(({ toolName, status, output }) => [toolName, status, output]), [
    ['crash', 'error'],
    ['good_echo', 'completed', { content: [{ text: 'still here' }] }]
  ])
  t.match(lost.output, /could not use crash: The tool server was lost[^]*still here/, 'the report says both')
  await allGone([forked])
  t.ok(alive(good), 'the other server is the one it was')

  t.match(await service.stop(), { code: 0 })
  t.notOk(alive(good))
  const told = JSON.stringify([watch.events, calls, lost]) + service.log() + service.out()
  t.notMatch(told, TASK_CANARY)
  t.equal(
    execFileSync('sh', ['-c', `grep -rlaF ${TASK_CANARY} "$1" || true`, 'sh', dir], { encoding: 'utf8' }),
    '',
    'the secret lies nowhere as it is'
  )
})
