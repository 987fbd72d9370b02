import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { of, say } from '../harness/agent.ts'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { build } from '../harness/helper.ts'
import { connect, detail, everything, filesystem, misbehaving, statuses, until } from '../harness/mcp.ts'
import { allGone } from '../services/process/alive.ts'
import { damage } from '../services/store/rewrite.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { run } from '../harness/mcp-calls.ts'

const saved = (app: { home: string }) => JSON.parse(readFileSync(`${app.home}/config.json`, 'utf8'))
const pidOf = async (app: any) => Number((await app.tools.execute(run(app, 'pid'))).output.content[0].text)

t.test('a real server is connected, listed, described, used by the agent and disconnected', async (t) => {
  const { app, gateway, systemOf } = await withGateway(t, (_request, nth) =>
    [
      {
        toolCalls: [
          { toolName: 'echo', input: { message: 'hi' } },
          { toolName: 'get-structured-content', input: { location: 'Chicago' } },
          { toolName: 'get-tiny-image', input: {} },
          { toolName: 'echo', input: {} }
        ]
      },
      { text: 'done' }
    ][nth])
  const connected = await connect(app, everything())
  t.equal(connected.statusCode, 200)
  const { status, tools } = connected.json()
  t.equal(status, 'connected')
  await app.inject({ method: 'POST', url: '/mcp/servers/everything/accept', payload: {} })
  t.ok(['echo', 'get-sum', 'get-tiny-image'].every((name) => tools.includes(name)))
  t.strictSame((await app.inject('/mcp/servers')).json(), { servers: [{ name: 'everything', status: 'connected', tools }] })
  const about = await detail(app, 'everything')
  t.match(about, {
    status: 'connected',
    capabilities: { tools: {} },
    instructions: /Everything Server/,
    stderr: /STDIO/,
    warnings: [],
    version: { name: /everything/ }
  })
  t.match(about.toolDetails.find(({ name }: any) => name === 'echo'), {
    agentName: 'echo',
    inputSchema: { required: ['message'], properties: { message: { type: 'string' } } }
  })
  t.ok(about.prompts.length > 0 && about.resources.length > 0)

  const { events } = await say(app, 'go')
  const outputs = of(events, 'tool-output-available').map(({ output }) => output)
  t.match(outputs.find(({ structuredContent }) => structuredContent), {
    structuredContent: { temperature: Number },
    content: [{ type: 'text' }]
  })
  t.match(outputs.find(({ content }) => /hi/.test(content[0].text)), { content: [{ type: 'text', text: /hi/ }] })
  const image = outputs.flatMap(({ content }) => content).find(({ type }) => type === 'image')
  t.match(image, { type: 'image', mimeType: 'image/png', data: /^iVBOR/ })
  t.match(of(events, 'tool-input-error'), [{ errorText: /lacks the property "message"/ }])
  t.match(events.at(-1), { finishReason: 'stop' })

  t.match(gateway.requests[0].body.tools.find(({ name }: any) => name === 'get-sum'), { inputSchema: { required: ['a', 'b'] } })
  t.match(systemOf(0), /- everything: echo, [\s\S]*everything says of itself:\n {2}> /)
  const results = gateway.requests[1].body.prompt.at(-1).content
  t.match(results.find(({ toolName }: any) => toolName === 'get-tiny-image').output, {
    type: 'content',
    value: [{ type: 'text', text: /image 1: image\/png/ }, {
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'data', data: image.data }
    }]
  }, 'the model sees the image, whole')

  t.strictSame((await app.inject({ method: 'DELETE', url: '/mcp/everything' })).json(), { status: 'disconnected', name: 'everything' })
  t.strictSame((await app.inject('/mcp/servers')).json(), { servers: [] })
  t.equal(app.tools.describe(), '')
  t.match((await app.inject({ method: 'DELETE', url: '/mcp/everything' })).json(), { statusCode: 404, code: 'ERR_TOOL_SERVER_NOT_FOUND' })
  t.same(saved(app).mcp, [])
})

t.test('two servers work side by side; built-ins keep their names', async (t) => {
  const app = await build(t, { config: { permissions: { 'files_*': 'ask' } } })
  writeFileSync(`${app.cwd}/a.txt`, 'A')
  await connect(app, misbehaving('odd', ['--tools=readFile,__proto__,list_directory']))
  await connect(app, filesystem(app.cwd))
  const names = app.tools.offered().map(({ model: { name } }) => name)
  t.ok(['odd_readFile', 'odd___proto__', 'list_directory', 'files_list_directory', 'read_text_file'].every((name) => names.includes(name)))
  t.match(await app.tools.execute(run(app, 'odd___proto__')), {
    status: 'completed',
    output: { content: [{ text: '__proto__ was called' }] }
  })
  t.match(await app.tools.execute(run(app, 'files_list_directory', { path: app.cwd })), { output: { content: [{ text: /a\.txt/ }] } })
  t.match(await app.tools.execute(run(app, 'read_text_file', { path: '/etc/passwd' })), { status: 'error', errorText: /outside allowed/ })
  t.equal(app.tools.permission('read_text_file'), 'ask', "permissions may be given by the server's name")
})

t.test('what cannot be connected is told with its stderr, and nothing is saved', async (t) => {
  const app = await build(t)
  const failed = await connect(app, misbehaving('odd', ['--die'], { env: { TOKEN: 'canary-0123456789' } }))
  t.equal(failed.statusCode, 502)
  t.strictSame(failed.json(), {
    error: 'The tool server "odd" is not connected: it ended with exit code 4, and said: cannot log in with [secret].',
    code: 'ERR_TOOL_SERVER_FAILED',
    statusCode: 502,
    stderr: 'cannot log in with [secret]\n'
  })
  t.match((await connect(app, { name: 'x', command: 'no-such-program' })).json(), {
    statusCode: 502,
    error: /exit code 127 \(its command was not found\)/,
    stderr: /^no-such-program: /
  })
  t.match((await connect(app, { name: 'x', command: app.cwd })).json(), {
    statusCode: 502,
    error: /exit code 126 \(its command cannot be executed\)/
  })
  t.match((await connect(app, { name: 'x', command: 'a\0b' })).json(), { statusCode: 502, error: /holds a NUL character/ })
  t.strictSame((await app.inject('/mcp/servers')).json(), { servers: [] })
  t.notOk(existsSync(`${app.home}/config.json`))
  for (
    const body of [{ name: 'a/b', command: 'x' }, { name: '', command: 'x' }, { name: 'a' }, { name: 'a', command: '' }, {
      name: 'a',
      command: 'x',
      env: { 'a=b': 'c' }
    }, { name: 'a', command: 'x', url: 'y' }]
  ) {
    t.equal((await connect(app, body)).statusCode, 400, JSON.stringify(body))
  }
})

t.test('the same name replaces, once the new server is connected', async (t) => {
  const app = await build(t, { config: { mine: 1, mcp: [{ note: 'kept', ...misbehaving(), approval: ['echo'] }], last: 2 } })
  await app.mcp.start()
  await until(app, 'odd', 'connected')
  const before = await pidOf(app)
  t.equal((await connect(app, misbehaving('odd', ['--die']))).statusCode, 502)
  t.equal(await pidOf(app), before, 'the old one goes on when the new one fails')
  t.equal((await connect(app, misbehaving('odd', ['--tools=more']))).statusCode, 200)
  await allGone([before])
  t.ok(app.tools.find('more'))
  t.equal(app.tools.permission('echo'), 'ask', 'who is asked stays')
  const { args } = misbehaving('odd', ['--tools=more'])
  t.same(
    Object.entries(saved(app)),
    Object.entries({ mine: 1, mcp: [{ note: 'kept', name: 'odd', command: process.execPath, approval: ['echo'], args }], last: 2 })
  )
})

t.test('config.json decides: what changed is taken over on reload, the rest stays connected', async (t) => {
  const entries = [misbehaving('a'), misbehaving('b')]
  const app = await build(t, { config: { mcp: entries } })
  const reload = (mcp: object[]) => {
    writeFileSync(`${app.home}/config.json`, JSON.stringify({ mcp }))
    return app.inject({ method: 'POST', url: '/config/reload' })
  }
  await say(app, 'system info')
  t.same(await statuses(app), { a: 'connected', b: 'connected' }, 'a run waits for those that are about to come')
  const pid = await pidOf(app)
  const other = Number((await app.tools.execute(run(app, 'b_pid')) as any).output.content[0].text)
  await reload([misbehaving('c'), { ...entries[0], approval: 'always' }])
  await allGone([other])
  await until(app, 'c', 'connected')
  t.same(Object.keys(await statuses(app)), ['c', 'a'])
  t.equal(app.tools.permission('pid'), 'ask')
  t.match(await app.tools.execute(run(app, 'pid')), { output: { content: [{ text: String(pid) }] } }, 'it is still the same process')
  t.equal((await reload([{ name: 'no command' }])).statusCode, 400)
  t.same(await statuses(app), { c: 'connected', a: 'connected' })
  writeFileSync(`${app.home}/config.json`, JSON.stringify({ mcp: 'broken' }))
  t.match((await connect(app, misbehaving('d'))).json(), { statusCode: 409, code: 'ERR_TOOL_SERVERS_INVALID' })
  t.same(await statuses(app), { c: 'connected', a: 'connected' })
})

t.test('variables come from the store, the file or the environment', async (t) => {
  process.env.FOR_A_SERVER = 'from-the-environment-1'
  t.teardown(() => {
    delete process.env.FOR_A_SERVER
  })
  const app = await build(t, {
    config: {
      mcp: [
        // eslint-disable-next-line no-template-curly-in-string
        misbehaving('hand', [], { env: { PLAIN: 'as it is', FILLED: '<${FOR_A_SERVER}>' } }),
        // eslint-disable-next-line no-template-curly-in-string
        misbehaving('gone', [], { env: { X: '${NOT_SET_ANYWHERE}', Y: 'secret:mcp/gone/Y' } })
      ]
    }
  })
  await app.mcp.start()
  await until(app, 'hand', 'connected')
  await until(app, 'gone', 'failed')
  t.match((await detail(app, 'gone')).error, /X is to come from the environment variable NOT_SET_ANYWHERE/)
  t.equal(
    // eslint-disable-next-line no-template-curly-in-string
    (await connect(app, misbehaving('given', [], { env: { TOKEN: 'canary-0123456789', LITERAL: '${FOR_A_SERVER}' } }))).statusCode,
    200
  )
  t.same(saved(app).mcp.at(-1).env, { TOKEN: 'secret:mcp/given/TOKEN', LITERAL: 'secret:mcp/given/LITERAL' })
  t.notMatch(readFileSync(`${app.home}/config.json`, 'utf8'), /canary/)
  const env = async (tool: string, name: string) => ((await app.tools.execute(run(app, tool, { name }))) as any).output.content[0].text
  t.equal(await env('env', 'PLAIN'), 'as it is')
  t.equal(await env('env', 'FILLED'), '<from-the-environment-1>')
  // eslint-disable-next-line no-template-curly-in-string
  t.equal(await env('given_env', 'LITERAL'), '${FOR_A_SERVER}', 'what is given is no reference')
  t.equal(await env('given_env', 'TOKEN'), '[secret]', 'the server has it, and the model does not see it')
  t.equal(await env('env', 'TOKEN'), 'undefined', 'no other server has it')
  t.ok(app.secrets.all().includes('canary-0123456789'))
  t.notMatch((await app.inject('/config')).body, /canary/)

  await app.inject({ method: 'DELETE', url: '/mcp/given' })
  t.same(await app.store.record('tool-servers', () => ({})).get(), {}, 'a server that is disconnected leaves nothing behind')
})

t.test('variables that are damaged on the disk cost their server its connection, and nobody else anything', async (t) => {
  const before = await build(t)
  await connect(before, misbehaving('odd', [], { env: { TOKEN: 'canary-0123456789' } }))
  await connect(before, misbehaving('good', [], { approval: 'never' }))
  await before.close()
  await damage(before.home, ['!record/tool-servers'])

  const app = await build(t, { home: before.home, cwd: before.cwd })
  t.match(textOf((await say(app, 'use good_echo with {"message": "still here"}')).events), 'still here')
  t.match(await detail(app, 'odd'), {
    status: 'failed',
    error: /nothing is stored for its variable TOKEN; connect it again with POST \/mcp\/connect/
  })
  t.match((await connect(app, misbehaving('odd', [], { env: { TOKEN: 'canary-0123456789' } }))).json(), { status: 'connected' })
  t.equal((await app.inject({ method: 'DELETE', url: '/mcp/odd' })).statusCode, 200)
})

t.test('a server runs in the box of its entry, which is part of what was accepted, or not at all', {
  skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux'
}, async (t) => {
  const app = await build(t, { boxes: BUBBLEWRAP })
  const read = [fileURLToPath(new URL('../../node_modules', import.meta.url))]
  const boxed = everything('boxed', { sandbox: { read }, env: { OWN: 'given' } })
  t.equal((await connect(app, boxed)).json().status, 'connected')
  await app.inject({ method: 'POST', url: '/mcp/servers/boxed/accept', payload: {} })
  t.match(await detail(app, 'boxed'), { sandbox: { read }, toolDetails: [{ acceptance: 'accepted' }] })
  const said: any = await app.tools.execute(run(app, 'get-env'))
  const env = JSON.parse(said.output.content[0].text)
  t.match(env, { OWN: 'given', TMPDIR: '/tmp', LOCAL_AGENT_HOME: undefined })
  const caches = `${app.home}/cache/servers/of-boxed`
  t.ok(existsSync(caches))

  t.equal((await connect(app, { ...boxed, sandbox: { read, network: ['example.com'] } })).json().status, 'connected')
  t.match(await detail(app, 'boxed'), { toolDetails: [{ acceptance: 'changed' }] }, 'another box is another server')
  const home = await connect(app, { ...boxed, name: 'other', sandbox: { write: [app.home] } })
  t.match(home.json(), { error: /holds data of this service/ })
  t.notOk(existsSync(`${app.home}/cache/servers/of-other`))
  await app.inject({ method: 'DELETE', url: '/mcp/boxed' })
  t.notOk(existsSync(caches))
})

t.test('a server that is to run in a box is not started where none can be had', async (t) => {
  const refused = await connect(await build(t), everything('boxed', { sandbox: true }))
  t.match(refused.json(), { error: /it is to run in a box.*this is a test without\. Install bubblewrap.*or take "sandbox" out/ })
  t.equal(refused.statusCode, 502)
})
