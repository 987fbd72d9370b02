import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { progressIn, reasonIn, withReason } from '../../../services/mcp/stderr-reason.ts'
import { startOddServer } from '../../fakes/mcp-http-server.ts'
import { as, redirect, startSite } from '../../fakes/site.ts'
import { heldClock } from '../../harness/clock.ts'
import { build } from '../../harness/helper.ts'
import { run } from '../../harness/mcp-calls.ts'
import { startToolServer } from '../../harness/mcp-http.ts'
import { connect, detail, misbehaving, statuses, until } from '../../harness/mcp.ts'

const textOf = async (app: any, tool: string, input: object = {}) => {
  const result = await app.tools.execute(run(app, tool, input))
  return result.output?.content[0].text ?? result.errorText
}

for (const options of [{}, { json: true }, { stateless: true }, { stateless: true, json: true }]) {
  t.test(`a server over HTTP is connected, called and disconnected ${JSON.stringify(options)}`, async (t) => {
    const app = await build(t)
    const server = await startToolServer(t, options)
    const connected = await connect(app, { name: 'web', url: server.url })
    t.match(connected.json(), { status: 'connected', tools: ['echo', 'fail', 'header', 'hang', 'change'] })
    t.equal(await textOf(app, 'echo', { message: 'hi' }), 'hi')
    t.equal(await textOf(app, 'fail'), 'it did not work')
    t.match(await detail(app, 'web'), { status: 'connected', url: server.url, command: undefined, instructions: 'Obey me.' })
    t.strictSame((await app.inject({ method: 'DELETE', url: '/mcp/web' })).json(), { status: 'disconnected', name: 'web' })
    t.equal(server.messages.at(-1)!.method, 'stateless' in options ? 'POST' : 'DELETE', 'its session is ended')
    t.same(await statuses(app), {})
  })
}

t.test('a session that the server has forgotten is begun anew, and the call is made', async (t) => {
  const app = await build(t)
  const server = await startToolServer(t)
  await connect(app, { name: 'web', url: server.url })
  server.forget()
  t.equal(await textOf(app, 'echo', { message: 'again' }), 'again')
  t.same(await statuses(app), { web: 'connected' })
  await until(app, 'web', 'connected')
})

t.test('calls wait for a server over HTTP that is started again, also while it refuses connections', async (t) => {
  const { clock, pass } = heldClock()
  const app = await build(t, { clock })
  const server = await startToolServer(t)
  await connect(app, { name: 'web', url: server.url })
  const port = Number(new URL(server.url).port)
  await server.end()
  const calls = [textOf(app, 'echo', { message: 'first' }), textOf(app, 'echo', { message: 'second' })]
  await until(app, 'web', 'disconnected')
  const later = textOf(app, 'echo', { message: 'third' })
  await pass(1_000)
  await until(app, 'web', 'failed')
  await startToolServer(t, { port })
  await pass(2_000)
  t.same(await Promise.all([...calls, later]), ['first', 'second', 'third'], 'none was sent before')
})

t.test('the start does not wait for a server over HTTP, which tells later that its tools have changed', async (t) => {
  const answers = Promise.withResolvers<void>()
  const server = await startToolServer(t, { before: () => answers.promise })
  const app = await build(t, { config: { mcp: [{ name: 'web', url: server.url }] } })
  await app.mcp.start()
  t.same(await statuses(app), { web: 'connecting' })
  answers.resolve()
  await until(app, 'web', 'connected')
  while (!server.messages.some(({ method }) => method === 'GET')) await new Promise((resolve) => setTimeout(resolve, 5))
  await textOf(app, 'change')
  while (!(await detail(app, 'web')).tools.includes('fresh')) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(await textOf(app, 'fresh'), 'fresh was called')
})

t.test('the same name replaces, once the new server is connected, and a reload keeps the session', async (t) => {
  const app = await build(t)
  const [server, other] = [await startToolServer(t), await startToolServer(t)]
  await connect(app, { name: 'web', url: server.url })
  t.equal((await connect(app, { name: 'web', url: `${server.url}/nothing` })).statusCode, 502)
  t.equal(await textOf(app, 'echo', { message: 'as before' }), 'as before', 'the old one goes on when the new one fails')
  t.equal((await connect(app, { name: 'web', url: other.url })).statusCode, 200)
  t.same(app.config.current.mcp, [{ name: 'web', url: other.url }])
  while (server.messages.at(-1)!.method !== 'DELETE') await new Promise((resolve) => setTimeout(resolve, 5))

  writeFileSync(`${app.home}/config.json`, JSON.stringify({ mcp: [{ name: 'web', url: other.url, approval: 'always' }] }))
  await app.inject({ method: 'POST', url: '/config/reload' })
  t.equal(app.tools.permission('echo'), 'ask')
  t.equal(await textOf(app, 'echo', { message: 'x' }), 'x')
  t.equal(other.sessions.size, 1, 'it is still the same session')

  t.equal((await connect(app, misbehaving('web'))).statusCode, 200)
  t.match(app.config.current.mcp, [{ name: 'web', command: process.execPath, url: undefined }], 'a program takes its place')
})

t.test('a client that leaves while a server is being connected takes it along', async (t) => {
  const [arrived, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const server = await startToolServer(t, {
    before (_req, res) {
      res.once('close', closed.resolve)
      arrived.resolve()
      return true
    }
  })
  const app = await build(t)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const leaving = new AbortController()
  const body = JSON.stringify({ name: 'web', url: server.url })
  const headers = { 'content-type': 'application/json' }
  const request = fetch(`${url}/mcp/connect`, { method: 'POST', headers, body, signal: leaving.signal })
  await arrived.promise
  leaving.abort()
  await t.rejects(request)
  await closed.promise
  t.same(await statuses(app), {})
})

/** A service with the tool server `odd` over HTTP; `call` returns the text of a tool's answer, or its error. */
async function setUp (t: Test, parts: Parameters<typeof startOddServer>[1] = {}, rest: object = {}) {
  const { clock, pass } = heldClock()
  const app = await build(t, { clock })
  const server = await startOddServer(t, parts)
  const call = async (name: string, input: object = {}) => {
    const result = await app.tools.execute(run(app, name, input)) as any
    return result.output?.content[0]?.text ?? result.output?.content ?? result.errorText
  }
  /** The note of a result that was cut. */
  const noteOf = async (name: string, input: object = {}) => {
    const { output } = await app.tools.execute(run(app, name, input)) as any
    return output.note ?? output.content.at(-1).text
  }
  t.match((await connect(app, { name: 'odd', url: server.url, ...rest })).json(), { status: 'connected' })
  const works = async () => {
    t.equal(await call('echo', { message: 'still here' }), 'still here')
    t.same(await statuses(app), { odd: 'connected' })
  }
  return { app, server, call, noteOf, pass, works }
}

t.test('an answer that is too large is cut, one that is cut off or none fails its call at once, and nothing else is lost', async (t) => {
  const { call, noteOf, works } = await setUp(t)
  t.match(await noteOf('big', { bytes: 2_000_000 }), /larger than 1 MiB .* was cut. The call was made/)
  t.match(await noteOf('big', { bytes: 9_000_000 }), /larger than 8 MiB. This is its beginning. The call was made/)
  t.match(await call('big', { bytes: 9_000_000 }), /^x{60000}/)
  t.equal((await call('big', { bytes: 1_000_000 })).length, 1_000_000, 'what is allowed comes whole')
  t.match(await call('deep'), /nested deeper than 128/)
  t.match(await call('deepEvent'), /nested deeper than 128/)
  t.same(await call('poison'), [])
  t.equal(({} as any).polluted, undefined)
  t.equal(await call('chatter'), 'heard anyway')
  t.match(await noteOf('floodJson'), /larger than 8 MiB/)
  t.match(await noteOf('floodEvent'), /larger than 8 MiB/)
  t.match(await call('floodError'), /it answered 500: broken/)
  t.match(await call('cut'), /ended its answer before it was complete/)
  t.match(await call('ended'), /ended its answer before it was complete/)
  t.match(await call('page'), /something else than a message.*text\/html/)
  t.match(await call('nothing'), /did not answer the call/)
  t.match(await call('foreign'), /did not answer the call/)
  t.match(await call('notJson'), /answered with something else than a message: /)
  t.match(await call('zipped'), /compressed/)
  await works()
})

t.test('the stream of an answer that breaks is resumed where it was, or fails its call', async (t) => {
  const { call, works, server } = await setUp(t)
  t.equal(await call('resumed'), 'resumed')
  t.equal(server.seen.at(-1)!.headers['last-event-id'], 'e1')
  t.equal(await call('unresumed'), 'The stream of its answer was lost.')
  await works()
})

t.test('a call that hangs is given up, cancelled and its exchange ended', async (t) => {
  const { call, pass, server, works } = await setUp(t)
  const hanging = call('hang')
  const { closed } = await server.called('hang')
  await pass(60_000)
  t.match(await hanging, /hang took longer than 60000 ms and was stopped/)
  await closed
  t.ok(server.seen.some(({ body }) => body?.method === 'notifications/cancelled'))
  await works()
})

const WITHOUT_END = {
  floodEvents: /lost during the call: it wrote more than 64 MiB in a minute without being asked/,
  askForever: /lost during the call: it sends more requests than it takes answers to/
}
for (const [tool, why] of Object.entries(WITHOUT_END)) {
  t.test(`a server that writes without end is disconnected, and tried again: ${tool}`, async (t) => {
    const { app, call, pass, works } = await setUp(t)
    t.match(await call(tool), why)
    await until(app, 'odd', 'disconnected')
    await pass(1_000)
    await until(app, 'odd', 'connected')
    await works()
  })
}

const BELOW_HTTP = { reset: /cannot be reached: the connection was cut off/, hugeHeaders: /its headers are too large/ }
for (const [tool, why] of Object.entries(BELOW_HTTP)) {
  t.test(`a server that fails below HTTP is disconnected, and tried again: ${tool}`, async (t) => {
    const { app, call, pass, works } = await setUp(t)
    t.match(await call(tool), why)
    t.match((await detail(app, 'odd')).error, why)
    await pass(1_000)
    await until(app, 'odd', 'connected')
    await works()
  })
}

t.test('a call whose connection is cut off may have been begun, and is sent once', async (t) => {
  const { call, server, works } = await setUp(t)
  await works()
  t.match(await call('reset'), /cannot be reached: the connection was cut off/)
  t.equal(server.seen.filter(({ body }) => body?.params?.name === 'reset').length, 1)
})

t.test('headers are sent, stored encrypted, and shown nowhere', async (t) => {
  const given = { Authorization: 'Bearer canary-0123456789', 'X-Tenant': 'tenant-canary-77' }
  const { app, call, server } = await setUp(t, {}, { headers: given })
  const lowerCase = { authorization: given.Authorization, 'x-tenant': given['X-Tenant'] }
  for (const { headers } of server.seen) t.match(headers, lowerCase)
  t.equal(await call('reveal'), 'it answered 500: you sent [secret]')
  t.match(await call('revealed'), /^you sent (?:Bearer )?\[secret\]$/)
  t.same(app.config.current.mcp, [{
    name: 'odd',
    url: server.url,
    headers: { Authorization: 'secret:mcp/odd/Authorization', 'X-Tenant': 'secret:mcp/odd/X-Tenant' }
  }])
  t.notMatch((await app.inject('/config')).body + (await app.inject('/mcp/servers/odd')).body, /canary/)
  await app.inject({ method: 'DELETE', url: '/mcp/odd' })
  t.same(await app.store.record('tool-servers', () => ({})).get(), {})
})

t.test('secrets in the query of an address are stored encrypted, too, and shown nowhere', async (t) => {
  const app = await build(t)
  const server = await startOddServer(t)
  const url = `${server.url}?set=a%20b&apiKey=canary-0123456789&other=secret:mcp/odd/TOKEN`
  t.match((await connect(app, { name: 'odd', url })).json(), { status: 'connected' })
  t.equal(server.requests.at(-1)!.path, '/mcp?set=a+b&apiKey=canary-0123456789&other=secret%3Amcp%2Fodd%2FTOKEN', 'no reference is taken')
  const [saved] = app.config.current.mcp!
  t.equal(new URL(saved.url!).searchParams.get('apiKey'), 'secret:mcp/odd/?1.apiKey')
  t.notMatch((await app.inject('/config')).body + JSON.stringify(app.config.current), /canary/)
  t.equal((await detail(app, 'odd')).url, server.url)
  await app.close()
  const again = await build(t, { home: app.home, cwd: app.cwd })
  await again.mcp.start()
  await until(again, 'odd', 'connected')
  t.match(server.requests.at(-1)!.path, /apiKey=canary-0123456789/)
})

t.test('a redirect is followed on its own server only, and no header reaches another', async (t) => {
  const other = await startSite(t, { '/mcp': '' })
  const app = await build(t)
  const server = await startOddServer(t, { pages: { '/here': redirect('/mcp', 307), '/there': redirect(`${other.url}/mcp?a=b`, 307) } })
  const headers = { 'X-Key': 'canary-0123456789' }
  t.match((await connect(app, { name: 'here', url: server.url.replace('mcp', 'here'), headers })).json(), { status: 'connected' })
  t.match((await connect(app, { name: 'there', url: server.url.replace('mcp', 'there'), headers })).json(), {
    statusCode: 502,
    error: `The tool server "there" is not connected: it answered 307: Redirect to ${other.url}/mcp not followed.`
  })
  t.same(other.requests, [])
})

t.test('what cannot be connected is told, and nothing is saved', async (t) => {
  const { clock, pass } = heldClock()
  const app = await build(t, { clock })
  const gone = await startSite(t)
  const failing = async (body: object) => (await connect(app, { name: 'odd', ...body })).json()
  const page = await startOddServer(t, { initialize: ({ res }) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>') })
  t.match(await failing({ url: gone.url }), { statusCode: 502, error: /it answered 404: nothing here/ })
  t.match(await failing({ url: page.url }), { statusCode: 502, error: /something else than a message/ })
  t.match(await failing({ url: 'http://127.0.0.1:1/mcp' }), { statusCode: 502, error: /cannot be reached: nothing answers there/ })
  const older = await startSite(t, {
    '/sse': (req, res) => {
      if (req.method !== 'GET') res.writeHead(405).end()
      else res.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: endpoint\ndata: /messages?sessionId=1\n\n')
    }
  })
  t.match(await failing({ url: `${older.url}/sse` }), { statusCode: 502, error: /HTTP with SSE.+often ends in \/mcp.+mcp-remote/ })
  const refusing = await startOddServer(t, {
    initialize: ({ id, res }) =>
      as('application/json', `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"not today."}}`)(res.req, res)
  })
  t.match(await failing({ url: refusing.url }), { statusCode: 502, error: /: not today\.$/ })
  const mute = await startOddServer(t, { initialize: () => {} })
  const waiting = failing({ url: mute.url })
  while (mute.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await pass(60_000)
  t.match(await waiting, { statusCode: 502, error: /it did not answer within 60 s/ })
  await mute.seen[0].closed
  for (
    const body of [
      { url: 'ftp://x/y' },
      { url: 'https://ada:secret@example.com/mcp' },
      { url: 'https://example.com/mcp#x' },
      { url: 'http://\u0007%?' },
      { url: gone.url, command: 'x' },
      { url: gone.url, env: {} },
      { url: gone.url, headers: { Host: 'x' } },
      { url: gone.url, headers: { 'a b': 'x' } },
      { url: gone.url, headers: { a: 'x\r\ny: z' } }
    ]
  ) {
    const { statusCode, error } = await failing(body)
    t.equal(statusCode, 400, JSON.stringify(body) + error)
    t.notMatch(error, /secret/)
  }
  t.same(await statuses(app), {})
})

t.test('the line that says why a program ended is found in what it wrote', async (t) => {
  const said: Array<[stderr: string, reason: string | undefined]> = [
    ['', undefined],
    ['\n \n', undefined],
    ['cannot log in\n', 'cannot log in'],
    ['Starting…\nWEATHER_API_KEY is required.\nBye\n', 'WEATHER_API_KEY is required'],
    [
      'file:///srv/index.js:3\n  throw new Error("no key")\n        ^\n\nError: WEATHER_API_KEY is not set\n' +
      '    at main (file:///srv/index.js:3:9)\n    at node:internal/main\n\nNode.js v24.1.0\n',
      'Error: WEATHER_API_KEY is not set'
    ],
    [
      'Traceback (most recent call last):\n  File "/srv/server.py", line 2, in <module>\n    main()\n' +
      "ModuleNotFoundError: No module named 'mcp'\n",
      "ModuleNotFoundError: No module named 'mcp'"
    ],
    [
      'npm warn deprecated x@1.0.0: gone\nnpm error code E404\nnpm error 404 Not Found - GET /no-such-server - Not found\nnpm error 404\n' +
      'npm error A complete log of this run can be found in: /home/ada/.npm/_logs/x.log\n',
      'npm error 404 Not Found - GET /no-such-server - Not found'
    ],
    ['docker: Cannot connect to the Docker daemon.\nSee docker run --help\n', 'docker: Cannot connect to the Docker daemon'],
    ['\u001b[31merror\u001b[0m: unknown option --stdoi\n', 'error: unknown option --stdoi'],
    ['only words\nand more words\n', 'and more words'],
    ['no display\n2026-11-29 10:00:00,123 - server - INFO - Shutting down\nINFO:     Finished server process [7]\n', 'no display'],
    ['INFO mcp: bye\n{"level":"info","msg":"error counter is 0"}\nlevel=debug msg="done"\n[NOTICE] bye\n', undefined],
    [`Error: ${'x'.repeat(500)}`, `Error: ${'x'.repeat(193)}…`]
  ]
  for (const [stderr, reason] of said) t.equal(reasonIn(stderr), reason, JSON.stringify(stderr.slice(0, 60)))
  const unknown = 'it ended with exit code 127 (its command was not found)'
  t.equal(withReason(unknown, 'sh: not found'), unknown)
  t.equal(withReason('it was disconnected', 'Error: x'), 'it was disconnected', 'only of a program that ended by itself')
})

t.test('the newest line that tells what a program does while it starts is found, whoever installs it', async (t) => {
  const said: Array<[stderr: string, line: string | undefined]> = [
    ['', undefined],
    [
      'npm warn exec The following package was not found and will be installed: @acme/server@1.2.0\nnpm warn deprecated old@1.0.0: gone\n' +
      'npm notice New version\n',
      'The following package was not found and will be installed: @acme/server@1.2.0'
    ],
    ['npm http fetch GET 200 /@acme%2fserver 120ms (cache miss)\n', 'GET 200 /@acme%2fserver 120ms (cache miss)'],
    ['Resolved 23 packages in 310ms\n\u001b[36mDownloading\u001b[0m numpy (16.1MiB)\n\n', 'Downloading numpy (16.1MiB)'],
    ["Unable to find image 'mcp/time:latest' locally\nlatest: Pulling from mcp/time\n 10%\r 60%\r", 'latest: Pulling from mcp/time'],
    ['Extracting  10%\rExtracting  90%\n------\n', 'Extracting  90%'],
    [`Building ${'x'.repeat(500)}`, `Building ${'x'.repeat(191)}…`]
  ]
  for (const [stderr, line] of said) t.equal(progressIn(stderr), line, JSON.stringify(stderr.slice(0, 60)))
})

t.test('a server that throws at its start is told with its own words', async (t) => {
  const app = await build(t)
  const program = 'console.error("Looking for settings"); throw new TypeError("CITY must be set")'
  t.match((await connect(app, { name: 'weather', command: process.execPath, args: ['--eval', program] })).json(), {
    statusCode: 502,
    error: 'The tool server "weather" is not connected: it ended with exit code 1, and said: TypeError: CITY must be set.'
  })
  const key = 'canary-0123456789'
  const long = 'throw new Error("x".repeat(180) + process.env.KEY)'
  const cut = (await connect(app, { name: 'cut', command: process.execPath, args: ['--eval', long], env: { KEY: key } })).json()
  t.match(cut, { statusCode: 502, error: /and said: Error: x+/ })
  t.notMatch(cut.error, 'canary', 'no part of a secret at which the line is cut')
})
