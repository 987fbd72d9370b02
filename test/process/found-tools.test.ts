import { writeFileSync } from 'node:fs'
import t from 'tap'
import { startFakeGateway, type GatewayRequest, type Plan } from '../fakes/gateway.ts'
import { everything, filesystem, real } from '../harness/mcp.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'
import { givenWords } from '../harness/tool-lists.ts'

const words = Object.assign({}, ...Object.values(givenWords()))
const find = (query: string): Plan => ({ toolCalls: [{ toolName: 'findTools', input: { query } }] })
const use = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName: 'useTool', input: { toolName, input } }] })
const phase = { toolCalls: [{ toolName: 'updatePhase', input: { phaseId: 'phase-1', status: 'completed' } }] }
const tokensOf = ({ prompt, tools }: GatewayRequest['body']) => Math.ceil(JSON.stringify([prompt, tools]).length / 4)

t.test('the built service: words are asked once, and a found tool is approved, granted, logged and run as any', async (t) => {
  let plans: Plan[] = []
  const sent: GatewayRequest[] = []
  const all = Promise.withResolvers<void>()
  const asked: string[] = []
  const gateway = await startFakeGateway({
    reply (request) {
      if (request.structured === 'tool-words') {
        const lines: string[] = request.body.prompt.at(-1).content[0].text.split('\n').slice(1)
        const tools = lines.map((line) => ({ id: /^t\d+/.exec(line)![0], name: JSON.parse(line.slice(line.indexOf(':') + 1)).name }))
        asked.push(...tools.map(({ name }) => name))
        if (new Set(asked).size >= 38) all.resolve()
        return { object: { tools: tools.map(({ id, name }) => ({ id, ...words[name] ?? { words: [name], requests: [] } })) } }
      }
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
  await all.promise

  await run('go', [find('how much is 17 plus 25'), use('get-sum', { a: 17, b: 25 })], { id: 'one' })
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
  const before = asked.length
  service = await start()
  sent.length = 0
  await run('go', [find('how much is 17 plus 25'), use('read_graph', {})], { id: 'small' })
  t.match((await get('/approvals?kind=tool&threadId=small')).approvals, [{ toolName: 'read_graph' }])
  t.ok(sent.every(({ body }) => tokensOf(body) < 8_192 * 0.8), `${sent.map(({ body }) => tokensOf(body))} tokens`)
  t.match(JSON.stringify(sent.at(-1)!.body.prompt), /"tools":\[\{"name":"get-sum"/, 'words are kept')
  t.equal(asked.length, before, 'and not asked for again')
  await service.stop()
})
