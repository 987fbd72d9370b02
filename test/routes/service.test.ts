import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Writable } from 'node:stream'
import { unfitWorkspace } from '../../services/lib/default-workspace.ts'
import { VERSION } from '../../services/lib/version.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import type { App } from '../../app.ts'
import { RecordDamaged } from '../../services/store/store-errors.ts'
import { fakeClock } from '../harness/clock.ts'
import { tasksOf } from '../harness/tasks.ts'

t.test('GET / says what this is, which model and folder are in use, and what can be called', async (t) => {
  const app = await build(t)
  const answer = await app.inject('/')
  t.equal(answer.statusCode, 200)
  t.match(answer.json(), { name: 'local-agent-service', model: /^offline\/./, workspace: app.cwd })
  t.same(Object.keys(answer.json()), ['name', 'model', 'workspace', 'endpoints'])
})

t.test('a service that was started in a folder of the system has no workspace, says why, and works in those that are named', async (t) => {
  const dir = t.testdir({ work: { 'a.txt': 'x' } })
  for (const [nth, cwd] of ['/', '/usr/bin'].entries()) {
    const app = await build(t, { cwd, home: `${dir}/home-${nth}` })
    t.equal((await app.inject('/')).json().workspace, '')
    const { status, checks } = (await app.inject('/health')).json()
    t.match({ status, ...checks }, { status: 'ok', workspace: /was started in .*, which is no folder to work in/ })
    const messages = [{ role: 'user', content: 'list the files here' }]
    const run = (body: object) => app.inject({ method: 'POST', url: '/run/sync', payload: { messages, ...body } })
    const makeTask = (body: object) => app.inject({ method: 'POST', url: '/tasks', payload: { goal: 'list the files here', ...body } })
    for (const make of [run, makeTask]) {
      for (const body of [{}, { cwd: 'etc' }]) {
        t.match((await make(body)).json(), { statusCode: 400, code: 'ERR_NO_WORKSPACE', error: /cwd/ })
      }
    }
    const folder = `${dir}/work`
    t.match((await run({ cwd: folder })).json().text, /a\.txt/)
    t.equal((await makeTask({ cwd: folder })).statusCode, 201)
    for (const url of ['/folders', '/skills', '/mcp/servers', '/threads']) t.equal((await app.inject(url)).statusCode, 200, url)
  }
  const folders = ['C:\\', 'd:', 'C:\\Windows\\System32', '\\\\server\\share', '/etc/x', '/proc', '/System/Library', '/var/run/user/0']
  for (const folder of folders) t.match(unfitWorkspace(folder), /no folder to work in/, folder)
  const fit = ['/home/ada', '/root', '/srv/app', '/opt/app', '/etcetera', '/tmp/x', '/run/media/ada/stick', 'C:\\Users\\Ada', 'D:\\work']
  for (const folder of fit) t.equal(unfitWorkspace(folder), undefined, folder)
})

t.test('GET / leads a browser to the console, also without the token; everything else gets the description', async (t) => {
  const app = await build(t)
  const guarded = await build(t, { token: 'the-token', home: `${app.home}/guarded`, cwd: app.cwd })
  const about = (accept?: string, service = app) => service.inject({ url: '/', headers: accept === undefined ? {} : { accept } })
  const browsers = [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'text/html, application/json;q=0.9',
    'TEXT/HTML'
  ]
  for (const accept of browsers) {
    for (const service of [app, guarded]) {
      const answer = await about(accept, service)
      t.match([answer.statusCode, answer.headers.location, answer.headers.vary], [303, '/console', /\bAccept\b/], accept)
    }
  }
  const others = [
    undefined,
    '*/*',
    'application/json',
    'application/json, text/html',
    'text/html;q=0.5, */*',
    'text/html;q=x, */*',
    ''
  ]
  for (const accept of others) {
    const answer = await about(accept)
    t.match([answer.statusCode, answer.headers.vary, answer.json().name], [200, /\bAccept\b/, 'local-agent-service'], accept ?? 'none')
    t.equal((await about(accept, guarded)).statusCode, 401, accept ?? 'none')
  }
})

t.test('its endpoints are the real routes, without HEAD and OPTIONS', async (t) => {
  const app = await build(t)
  const { endpoints } = (await app.inject('/')).json()
  // A line of the router's tree: "└── config (GET, HEAD)".
  const routed = [...app.printRoutes({ commonPrefix: false }).matchAll(/\(([A-Z, ]+)\)$/gm)].flatMap(([, methods]) => methods.split(', '))
  const count = routed.filter((method) => method !== 'HEAD' && method !== 'OPTIONS').length
  t.equal(endpoints.length, count)
  t.ok(count > 5)
  t.equal(new Set(endpoints).size, count, 'each once')
  for (const endpoint of endpoints) {
    const [method, url] = endpoint.split(' ')
    t.ok(app.hasRoute({ method, url }), endpoint)
    t.notOk(['HEAD', 'OPTIONS'].includes(method))
  }
})

t.test("the interface's endpoints are among them", async (t) => {
  const { endpoints } = (await (await build(t)).inject('/')).json()
  for (const endpoint of ['GET /', 'GET /health', 'POST /run', 'POST /run/approve']) t.ok(endpoints.includes(endpoint), endpoint)
})

t.test('a workspace that config.json names is the one in use', async (t) => {
  const app = await build(t, { config: { workspace: '/tmp' } })
  t.equal((await app.inject('/')).json().workspace, '/tmp')
})

t.test('GET /health answers 200 with every check', async (t) => {
  const answer = await (await build(t)).inject('/health')
  t.equal(answer.statusCode, 200)
  t.match(answer.json(), {
    status: 'ok',
    version: VERSION,
    uptimeMs: Number,
    checks: { store: 'ok', config: 'ok', scheduler: String, model: 'ok' }
  })
  t.ok(Number.isInteger(answer.json().uptimeMs))
})

t.test('HEAD /health answers as GET does, without the body', async (t) => {
  const answer = await (await build(t)).inject({ method: 'HEAD', url: '/health' })
  t.match(answer, { statusCode: 200, body: '' })
})

t.test('a wrong configuration makes the service degraded, not down', async (t) => {
  const answer = await (await build(t, { config: { port: 'many' } })).inject('/health')
  t.equal(answer.statusCode, 200)
  t.match(answer.json(), { status: 'degraded', checks: { store: 'ok', config: /"port" must be integer/ } })
})

t.test('GET /ready is 503 until the service listens, 200 then, and 503 again once it shuts down', async (t) => {
  const app = await build(t)
  t.match(await app.inject('/ready'), { statusCode: 503, body: '{"ready":false}' })
  await listen(app)
  t.match(await app.inject('/ready'), { statusCode: 200, body: '{"ready":true}' })
  app.draining.value = true
  t.match(await app.inject('/ready'), { statusCode: 503, body: '{"ready":false}' })
})

t.test('a service that shuts down takes no new work, and says so', async (t) => {
  const app = await build(t)
  app.draining.value = true
  for (const url of ['/', '/config', '/nowhere', '/%zz']) {
    const answer = await app.inject(url)
    t.equal(answer.statusCode, 503, url)
    t.match(answer.json(), { error: /shutting down/, code: 'ERR_DRAINING', statusCode: 503 })
  }
  t.equal((await app.inject('/health')).statusCode, 200, '/health still answers')
})

t.test('an unknown path is a 404 that says where to look', async (t) => {
  const app = await build(t)
  for (const url of ['/nowhere', '/health/', '//health', '/Health', '/health/x', '/nowhere?x=1']) {
    const answer = await app.inject(url)
    t.equal(answer.statusCode, 404, url)
    t.same(answer.json(), {
      error: `No endpoint exists at ${url.split('?')[0]}. GET / lists every endpoint.`,
      code: 'ERR_NOT_FOUND',
      statusCode: 404
    })
  }
})

t.test('a known path with another method is a 405 that names the allowed ones', async (t) => {
  const app = await build(t)
  for (
    const [method, url, allow] of [
      ['DELETE', '/health', 'GET, HEAD'],
      ['GET', '/run', 'POST'],
      ['HEAD', '/run', 'POST'],
      ['PUT', '/config?x=1', 'GET, HEAD, PATCH'],
      ['TRACE', '/', 'GET, HEAD'],
      ['PATCH', '/run/approve', 'POST'],
      ['PUT', '/tasks/digest', 'GET, HEAD']
    ] as const
  ) {
    const answer = await app.inject({ method: method as 'GET', url })
    t.equal(answer.statusCode, 405, `${method} ${url}`)
    t.equal(answer.headers.allow, allow)
    if (method !== 'HEAD') {
      t.match(answer.json(), {
        error: `${url.split('?')[0]} takes ${allow}, not ${method}.`,
        code: 'ERR_METHOD_NOT_ALLOWED',
        statusCode: 405
      })
    }
  }
})

const secrets = {
  gateway: { baseURL: 'https://user:hidden@gateway.example/v4?api_key=hidden&x=1' },
  providers: {
    ollama: {
      baseURL: 'http://localhost:11434/v1',
      apiKey: 'hidden',
      models: ['llama'],
      headers: { Authorization: 'Bearer hidden', 'x-api-key': 'hidden' }
    }
  },
  mcp: [{
    name: 'github',
    command: 'npx',
    args: [
      '-y',
      'server',
      '--token',
      'hidden',
      '--api-key=hidden',
      '--verbose',
      '-H',
      'Authorization: Bearer hidden',
      'X_TOKEN=hidden',
      'https://h/?a=1&sig=hidden',
      '?key'.repeat(5_000)
    ],
    env: { PLAIN: 'hidden', GITHUB_TOKEN: 'hidden' }
  }],
  search: { provider: 'tavily', apiKey: 'hidden' },
  unknown: { password: 'hidden', list: [{ secretKey: 'hidden' }], tokens: ['hidden', 'hidden'], credentials: { user: 'hidden' } },
  permissions: { writeFile: 'ask' }
}

t.test('GET /config shows the whole configuration with every secret masked', async (t) => {
  const app = await build(t, { config: secrets })
  const answer = await app.inject('/config')
  t.equal(answer.statusCode, 200)
  t.notMatch(answer.body, /hidden/)
  t.same(Object.keys(answer.json()), Object.keys(secrets))
  t.match(answer.json(), {
    gateway: { baseURL: /^https:\/\/••••@gateway\.example\/v4\?api_key=••••&x=1$/ },
    providers: { ollama: { baseURL: 'http://localhost:11434/v1', models: ['llama'] } },
    mcp: [{
      name: 'github',
      command: 'npx',
      args: [
        '-y',
        'server',
        '--token',
        '••••',
        '--api-key=••••',
        '--verbose',
        '-H',
        'Authorization: ••••',
        'X_TOKEN=••••',
        'https://h/?a=1&sig=••••',
        '?key'.repeat(5_000)
      ]
    }],
    permissions: { writeFile: 'ask' }
  })
})

const write = (app: { home: string }, text: string) => writeFileSync(`${app.home}/config.json`, text)
const reload = (app: Awaited<ReturnType<typeof build>>) => app.inject({ method: 'POST', url: '/config/reload' })

t.test('POST /config/reload takes over what was written into the file', async (t) => {
  const app = await build(t, { config: { workspace: '/srv' } })
  write(app, '{"workspace":"/tmp","log":{"level":"warn"}}')
  t.equal((await app.inject('/')).json().workspace, '/srv', 'not before')
  t.match(await reload(app), { statusCode: 200, body: '{"status":"reloaded"}' })
  t.equal((await app.inject('/')).json().workspace, '/tmp')
  t.equal(app.log.level, 'warn')
})

async function rejected (t: Test, text: string, error: RegExp) {
  const app = await build(t, { config: { workspace: '/tmp' } })
  write(app, text)
  const answer = await reload(app)
  t.equal(answer.statusCode, 400)
  t.match(answer.json(), { error, code: 'ERR_CONFIG_INVALID', statusCode: 400 })
  t.notMatch(answer.body, /hidden/, 'it quotes no secret')
  t.notMatch(answer.body, app.home, 'it names no path of the service')
  t.equal((await app.inject('/')).json().workspace, '/tmp', 'the last good configuration stays')
  t.equal((await app.inject('/health')).json().status, 'ok')
}

t.test('a file that is not JSON is not taken over', (t) => rejected(t, '{"gateway_key": hidden}', /not JSON/))
t.test('a file that holds no object is not taken over', (t) => rejected(t, '["hidden"]', /not a JSON object/))
t.test('a file with a wrong key is not taken over, not even in part', (t) =>
  rejected(t, '{"workspace":"/","permissions":{"writeFile":"hidden"}}', /"permissions\.writeFile" must be one of allow, ask, deny/))
for (const root of ['~/notes', 'notes', '']) {
  t.test(`a root that no tool would look at (${JSON.stringify(root)}) is not taken over`, (t) =>
    rejected(t, JSON.stringify({ roots: ['/tmp', root] }), /"roots\.1" must be an absolute path/))
}
t.test('all that is wrong is said at once', (t) => rejected(t, '{"workspace":5,"port":-1}', /"workspace" .*; "port" /))

t.test('reloading mends a service that started degraded', async (t) => {
  const app = await build(t, { config: { port: -1 } })
  t.equal((await app.inject('/health')).json().status, 'degraded')
  write(app, '{"port":0}')
  await reload(app)
  t.equal((await app.inject('/health')).json().status, 'ok')
})

const healthOf = async (app: App): Promise<any> => (await app.inject('/health')).json()
const HOUR = 3_600_000

t.test('whether time is kept: starting, ok, and degraded while a due task cannot be checked', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  t.match(await healthOf(app), { status: 'ok', checks: { scheduler: 'starting' } })
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('system info', { taskType: 'recurring', schedule: { interval: '1h' } })
  await tasks.post(`/${task.id}/start`)
  t.match(await healthOf(app), { status: 'ok', checks: { scheduler: 'ok' } })

  const { get } = app.store
  app.store.get = async (key) => key.startsWith('task/') ? Promise.reject(new Error('unreadable')) : get(key)
  await clock.advance(HOUR)
  t.match(await healthOf(app), { status: 'degraded', checks: { store: 'ok', scheduler: /1 due task cannot be checked/ } })

  app.store.get = get
  await clock.advance(1_000)
  while ((await healthOf(app)).status !== 'ok') await new Promise((resolve) => setTimeout(resolve, 2))
})

t.test('a due task that is damaged is told of once, and no more when it is removed', async (t) => {
  const clock = fakeClock()
  let log = ''
  const app = await build(t, {
    clock,
    log: new Writable({
      write (chunk, _encoding, done) {
        log += chunk
        done()
      }
    })
  })
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('system info', { taskType: 'recurring', schedule: { interval: '1h' } })
  await tasks.post(`/${task.id}/start`)
  const { get } = app.store
  app.store.get = async (key) => key.startsWith('task/') ? Promise.reject(new RecordDamaged(key)) : get(key)
  await clock.advance(HOUR)
  for (let second = 0; second < 5; second++) await clock.advance(1_000)
  t.match(await healthOf(app), { checks: { scheduler: /1 due task cannot be checked/ } })
  t.equal(log.split('the check of a due task failed').length - 1, 1)
  t.equal((await tasks.call('DELETE', `/${task.id}`)).status, 200)
  t.equal((await healthOf(app)).checks.scheduler, 'ok')
})

t.test('a look that never ends is noticed', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('system info', { taskType: 'recurring', schedule: { interval: '1h' } })
  await tasks.post(`/${task.id}/start`)
  const held = Promise.withResolvers<void>()
  const { get } = app.store
  app.store.get = async (key) => key.startsWith('task/') ? held.promise.then(() => get(key)) as never : get(key)
  await clock.advance(HOUR)
  await clock.advance(61_000)
  t.match(await healthOf(app), { status: 'degraded', checks: { scheduler: /stalled: no task was checked for \d+ s/ } })
  held.resolve()
})

/** Changes config.json over the interface of a service with the token `the-token`, or of one without. */
const patch = async (app: App, payload: object) => {
  const response = await app.inject({ method: 'PATCH', url: '/config', payload, headers: { authorization: 'Bearer the-token' } })
  return { http: response.statusCode, ...response.json() }
}

t.test('PATCH /config is in effect at once, over restarts, and says what is not', async (t) => {
  const app = await build(t, { token: 'the-token', config: { mine: 1, analysis: false } })
  const headers = { authorization: 'Bearer the-token' }
  const write = async (service: App) => {
    const messages = [{ role: 'user', content: 'write "x" to a.txt' }]
    const answer = await service.inject({ method: 'POST', url: '/run/sync', headers, payload: { messages } })
    return answer.json().toolCalls[0].status
  }
  t.equal(await write(app), 'pending')
  const search = { provider: 'brave', apiKey: 'a-secret' }
  const saved = await patch(app, { permissions: { writeFile: 'allow' }, search, port: 3_050 })
  t.match(saved, { http: 200, status: 'saved', restart: ['port'], config: { mine: 1, search: { provider: 'brave', apiKey: '••••' } } })
  t.same((await app.inject({ url: '/config', headers })).json(), saved.config)
  t.equal(await write(app), 'completed')
  t.match(await patch(app, { search: saved.config.search }), { http: 400, error: /"search.apiKey" holds/ }, 'a mask is no secret')
  await app.close()
  const again = await build(t, { token: 'the-token', home: app.home, cwd: app.cwd })
  t.equal(await write(again), 'completed')
  t.equal(again.config.current.search?.apiKey, 'a-secret')
  await patch(again, { permissions: null })
  t.equal(await write(again), 'pending')
})

t.test('PATCH /config refuses what no key is, and without a token what is more than a setting', async (t) => {
  const app = await build(t, { config: { mine: 1 } })
  for (
    const [payload, http, error] of [
      [{ mine: 2 }, 400, /unknown field "mine"; allowed are model, models/],
      [{ fetch: { allowPrivat: true } }, 400, /body.fetch has the unknown field "allowPrivat"; allowed are allowPrivate/],
      [{ commands: { sandbox: 'no' } }, 400, /body.commands.sandbox must be one of auto, required, off/],
      [{ agent: { steps: 5 } }, 400, /body.agent.steps must be object/],
      [{ port: 'x' }, 400, /body.port must be integer or null/],
      [{ contextWindows: { a: 1 } }, 400, /body.contextWindows.a must be >= 1000/],
      [{}, 400, /needs at least 1 field/],
      [{ model: 'x' }, 400, /"model" must be/],
      [{ model: 'offline/nope' }, 400, /the models of offline are offline\/assistant/],
      [{ agent: {}, permissions: { '*': 'allow' } }, 403, /"permissions" in config.json only where the service has a token/]
    ] as const
  ) t.match(await patch(app, payload), { http, error })
  t.match(await patch(app, { agent: { steps: { conversation: 7 } } }), { http: 200, restart: [], config: { mine: 1 } })
  t.same(app.config.current.agent, { steps: { conversation: 7 } })
})
