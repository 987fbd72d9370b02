/* eslint-disable no-template-curly-in-string */
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { readImport } from '../../../services/mcp/import.ts'
import { build } from '../../harness/helper.ts'
import { detail, misbehaving, statuses, until } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'
import { DAMAGED, READMES } from './readme-cases.ts'

const none = { present: () => undefined, count: () => 0 }
const importServers = (app: any, payload: object) => app.inject({ method: 'POST', url: '/mcp/import', payload })
const configOf = (app: any) => JSON.parse(readFileSync(`${app.home}/config.json`, 'utf8'))

t.test('what the READMEs of servers show is read', async (t) => {
  for (const { source, text, values, saved = [], given = {}, not, notes } of READMES) {
    const read = readImport({ text, values }, none)
    t.same(read.saved.map(({ entry }) => entry), saved, source)
    t.same(Object.assign({}, ...read.saved.map((each) => each.given)), given, `${source}: secrets`)
    const [{ status, message }] = read.servers
    t.equal(status, not?.[0] ?? 'saved', source)
    t.match(message, not?.[1] ?? notes ?? /^Saved, and being connected\./, source)
  }
})

t.test('what is damaged is told in a line, without its secrets, and not saved', async (t) => {
  for (const [text, says] of DAMAGED) {
    const about = text.slice(0, 80)
    try {
      const { saved, servers } = readImport({ text }, none)
      t.match(servers.at(-1)!.message, says, about)
      t.notMatch(JSON.stringify(servers), /canary/, about)
      t.equal(saved.length, servers.length - 1, about)
    } catch (error) {
      t.match((error as Error).message, says, about)
      t.notMatch((error as Error).message, /canary/, about)
    }
  }
})

t.test('servers are imported together, connected with their secrets, and imported again', async (t) => {
  process.env.FOR_A_SERVER = 'from-env-1'
  t.teardown(() => {
    delete process.env.FOR_A_SERVER
  })
  const app = await build(t)
  const { command, args } = misbehaving('', ['--tools=${FOR_A_SERVER},${NOT_SET_ANYWHERE:-other}', '--api-key=canary-0123456789'])
  const file = {
    mcpServers: {
      'My Server': {
        ...{ command, args, cwd: '${workspaceFolder}' },
        env: { PLACE: '${env:FOR_A_SERVER}', TOKEN: 'canary-0123456789', NUMBER: 7 }
      },
      off: { command, disabled: true },
      broken: { command: 'npx', args: 7 }
    }
  }
  const first = (await importServers(app, file)).json().servers
  t.match(first, [
    {
      ...{ from: 'My Server', name: 'My-Server', status: 'saved' },
      message:
        /^Saved, and not connected before you accept it: it asks for FOR_A_SERVER, NOT_SET_ANYWHERE of .* It is called My-Server here/,
      variables: ['FOR_A_SERVER', 'NOT_SET_ANYWHERE']
    },
    { name: 'off', status: 'saved', message: 'Saved; it is disabled.' },
    { name: 'broken', status: 'refused' }
  ])
  t.same(await statuses(app), { 'My-Server': 'disabled', off: 'disabled' })
  const accepted = (await app.inject({ method: 'POST', url: '/mcp/servers/My-Server/accept', payload: {} })).json()
  t.match(accepted, { name: 'My-Server', variables: ['FOR_A_SERVER', 'NOT_SET_ANYWHERE'] })
  await until(app, 'My-Server', 'connected')
  t.same((await detail(app, 'My-Server')).tools.slice(-2), ['from-env-1', 'other'])
  const read = async (name: string) => (await app.tools.execute(run(app, 'env', { name })) as any).output.content[0].text
  t.equal(await read('PLACE'), 'from-env-1')
  t.equal(await read('TOKEN'), '[secret]')
  t.equal(await read('NUMBER'), '7')
  t.equal(await read('PWD'), app.cwd)
  t.notMatch(readFileSync(`${app.home}/config.json`, 'utf8'), /canary/)

  t.match((await importServers(app, file)).json().servers, [{ status: 'unchanged' }, { status: 'unchanged' }, { status: 'refused' }])
  const other = { mcpServers: { 'My Server': { command, args: args.slice(0, 1) } } }
  t.match((await importServers(app, other)).json().servers, [{ status: 'exists' }])
  t.match((await importServers(app, { ...other, replace: true })).json().servers, [{ status: 'replaced' }])
  await until(app, 'My-Server', 'connected')
  t.same((await detail(app, 'My-Server')).tools.filter((name: string) => /from|other/.test(name)), [])
  t.same(await app.store.record('tool-servers', () => ({})).get(), {}, 'nothing of the earlier one is left')
})

t.test('an imported server that names variables is connected after a yes, and gets none of the service, whoever accepts it', async (t) => {
  const variables = { LOCAL_AGENT_TOKEN: 'token-of-the-service-1', COPY_OF_IT: 'token-of-the-service-1', WEATHER_TOKEN: 'of-the-user-123' }
  Object.assign(process.env, variables)
  t.teardown(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
  const app = await build(t, { token: 'token-of-the-service-1' })
  const headers = { authorization: 'Bearer token-of-the-service-1' }
  const send = (method: 'GET' | 'POST', url: string, payload?: object) => app.inject({ method, url, headers, payload })
  const { command, args } = misbehaving('')
  const named = (env: object) => ({ command, args, env })
  const file = {
    mcpServers: {
      mine: named({ MINE: '${WEATHER_TOKEN}' }),
      theirs: named({ X: '${LOCAL_AGENT_TOKEN}' }),
      copy: named({ X: 'a ${COPY_OF_IT}' }),
      unwanted: named({ X: '${WEATHER_TOKEN}' })
    }
  }
  const imported = (await send('POST', '/mcp/import', file)).json().servers
  t.match(imported, [{ variables: ['WEATHER_TOKEN'] }, { variables: ['LOCAL_AGENT_TOKEN'] }])
  const waiting = async () => (await send('GET', '/approvals?kind=server')).json().approvals
  const asked = { server: 'mine', serverTools: [], variables: ['WEATHER_TOKEN'], note: /It asks for WEATHER_TOKEN of/ }
  t.match(await waiting(), [asked, {}, {}, {}])
  const servers = async () => (await send('GET', '/mcp/servers')).json().servers
  const error = /It waits for you to accept it: it asks for WEATHER_TOKEN/
  t.match((await servers())[0], { status: 'disabled', variables: ['WEATHER_TOKEN'], error })

  const [mine, , , unwanted] = await waiting()
  t.match((await send('POST', `/approvals/${mine.approvalId}`, { approved: true })).statusCode, 200)
  t.match((await send('POST', `/approvals/${unwanted.approvalId}`, { approved: false })).statusCode, 200)
  for (const name of ['theirs', 'copy']) await send('POST', `/mcp/servers/${name}/accept`, {})
  const statusOf = async () => Object.fromEntries((await servers()).map(({ name, status }: any) => [name, status]))
  while (/connecting/.test(JSON.stringify(await statusOf()))) await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(await statusOf(), { mine: 'connected', theirs: 'failed', copy: 'failed', unwanted: 'disabled' })
  t.match((await servers()).map(({ error }: any) => error), [
    undefined,
    /its variable X names LOCAL_AGENT_TOKEN, which this service keeps to itself/,
    /its variable X names COPY_OF_IT, which this service keeps to itself/
  ])
  t.same((await waiting()).filter((each: any) => each.variables), [], 'nobody is asked again')
  const read = async (name: string) => (await app.tools.execute(run(app, 'env', { name })) as any).output.content[0].text
  t.equal(await read('MINE'), '[secret]', 'it has what its entry names')
  t.equal(await read('WEATHER_TOKEN'), 'undefined', 'and nothing else that looks like a secret')
})

t.test('a server that is imported anew and disconnected at once is there with its secrets, or not at all', async (t) => {
  const app = await build(t)
  const { command, args } = misbehaving('')
  const put = (token: string) =>
    importServers(app, { mcpServers: { one: { command, args, env: { TOKEN: `canary-0123456789-${token}` } } }, replace: true })
  for (let round = 0; round < 2; round++) {
    t.equal((await put(`${round}`)).statusCode, 200)
    await Promise.all([put(`${round} again`), app.inject({ method: 'DELETE', url: '/mcp/one' })])
    if ((configOf(app).mcp ?? []).length === 0) continue
    await until(app, 'one', 'connected')
    t.match(await app.tools.execute(run(app, 'env', { name: 'TOKEN' })), { output: { content: [{ text: '[secret]' }] } })
  }
})

t.test('config.json names servers as READMEs do, and settings and removals reach them there', async (t) => {
  const { command, args } = misbehaving()
  const mcpServers = { 'in cursor': { command, args }, wrong: { url: 'nowhere' } }
  const mcp = [{ name: 'a', command, args: [...args, '${NOT_SET_ANYWHERE}'] }, { name: 'b', command, args, cwd: 'none' }]
  const app = await build(t, { config: { mcp, mcpServers, servers: { code: { type: 'stdio', command, args } }, last: 1 } })
  await app.mcp.start()
  await until(app, 'in-cursor', 'connected')
  await until(app, 'code', 'connected')
  t.match(app.config.problem, /"mcpServers.wrong" is not connected: its url/)
  await app.inject({ method: 'PUT', url: '/mcp/servers/code', payload: { approval: 'always' } })
  await app.inject({ method: 'DELETE', url: '/mcp/in-cursor' })
  t.same(configOf(app), {
    mcp,
    mcpServers: { wrong: { url: 'nowhere' } },
    servers: { code: { type: 'stdio', command, args, approval: 'always' } },
    last: 1
  })
  t.same(await statuses(app), { a: 'failed', b: 'failed', code: 'connected' })
  t.match((await detail(app, 'a')).error, /its argument 2 is to come from the environment variable NOT_SET_ANYWHERE, which is not set/)
  t.match((await detail(app, 'b')).error, /its working folder .*none, seen from the working folder of the service, does not exist/)
  t.equal((await app.inject('/config')).statusCode, 200)
  writeFileSync(`${app.home}/config.json`, JSON.stringify({ servers: { code: { command: 'npx', args: ['${input:x}'] } } }))
  t.match((await app.inject({ method: 'POST', url: '/config/reload' })).json(), { statusCode: 400, error: /needs a value for "x"/ })
})
