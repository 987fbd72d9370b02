import { readFileSync } from 'node:fs'
import t from 'tap'
import * as sdk from '../../client/index.ts'
import { build } from '../harness/helper.ts'
import { called, clientOf, is } from './generated/client.ts'

// Each calls what its domain offers.
import './generated/runs.ts'
import './generated/approvals.ts'
import './generated/tasks.ts'
import './generated/memory.ts'
import './generated/reach.ts'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

t.test('the service', async (t) => {
  const options = await clientOf(await build(t, { config: { model: 'offline/assistant', mine: 1 } }))
  is(
    t,
    (await sdk.about(options)).data,
    { name: 'local-agent-service', model: 'offline/assistant', workspace: /work$/, endpoints: Array },
    'about'
  )
  is(t, (await sdk.health(options)).data, {
    status: 'ok',
    version: /^\d/,
    uptimeMs: Number,
    checks: { store: 'ok', config: 'ok', scheduler: /^(?:starting|ok)$/, model: 'ok', awake: 'ok', workspace: 'ok' }
  }, 'health')
  is(t, (await sdk.ready(options)).data, { ready: true }, 'ready')
  is(t, (await sdk.getConfig(options)).data, { model: 'offline/assistant', mine: 1 }, 'getConfig')
  const config = { model: 'offline/assistant', mine: 1, agent: { runMs: 5_000 } }
  const saved = { status: 'saved' as const, config, restart: [], problem: undefined }
  is(t, (await sdk.patchConfig({ ...options, body: { agent: { runMs: 5_000, steps: null } } })).data, saved, 'patchConfig')
  is(t, (await sdk.reloadConfig(options)).data, { status: 'reloaded' }, 'reloadConfig')
  t.same((await sdk.getOpenapi(options)).data, document, 'getOpenapi')
})

t.test('no name of the client hides a schema of the document', async (t) => {
  const index = readFileSync(new URL('../../client/index.ts', import.meta.url), 'utf8')
  const exported = [...index.matchAll(/export (?:type )?\{(.*?)\}/g)].flatMap(([, names]) => names.split(','))
  const names = exported.map((name) => name.trim().replace(/^type /, '').split(' as ').at(-1)!)
  t.ok(names.includes('createAgent'))
  const types = readFileSync(new URL('../../client/generated/types.gen.ts', import.meta.url), 'utf8')
  t.same(names.filter((name) => new RegExp(`^export type ${name}\\b`, 'm').test(types)), [])
})

t.test('an error has the fields of the body that says what is wrong, and is the one error class', async (t) => {
  const { client } = await clientOf(await build(t, { token: 'the-token' }))
  const { error, response } = await sdk.learnFact({ client, body: { fact: 'x' }, auth: 'another' })
  t.equal(response?.status, 401)
  t.ok(error instanceof sdk.AgentError)
  await t.rejects(sdk.health({ client: sdk.createClient({ baseUrl: 'http://127.0.0.1:1' }), throwOnError: true }), {
    name: 'AgentError',
    code: 'ERR_UNREACHABLE'
  })
  is(
    t,
    error!,
    { error: /LOCAL_AGENT_TOKEN/, code: 'ERR_UNAUTHORIZED', statusCode: 401, details: undefined, changes: undefined, stderr: undefined },
    'without the token'
  )
  const { error: invalid } = await sdk.learnFact({ client, body: { fact: 5 as never }, auth: 'the-token' })
  is(t, invalid!, {
    error: 'body.fact must be string.',
    code: 'ERR_INVALID_REQUEST',
    statusCode: 400,
    details: [{ path: '/fact', message: 'must be string' }],
    changes: undefined,
    stderr: undefined
  }, 'with it')
})

t.test('a stream that is refused or cut fails its reader, and is asked for once', async (t) => {
  const options = await clientOf(await build(t))
  called.delete('POST /run')
  let requests = 0
  options.client.interceptors.request.use((request) => {
    requests++
    return request
  })
  const { stream } = await sdk.run({ ...options, body: { messages: [] } })
  await t.rejects(async () => {
    for await (const event of stream) t.fail(event.type)
  }, { name: 'AgentError', code: 'ERR_INVALID_REQUEST', statusCode: 400, message: 'body.messages needs at least 1 entry.' })
  t.equal(requests, 1)
})

t.test('every operation that answers JSON was called', async (t) => {
  const json = Object.entries<any>(document.paths).flatMap(([path, operations]) =>
    Object.entries<any>(operations)
      .filter(([, { responses }]) => responses[200]?.content['application/json'] ?? responses[201] ?? responses[202])
      .map(([method]) => [method.toUpperCase(), path])
  )
  for (const [method, path] of json) {
    const pattern = new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    t.ok([...called].some((each) => pattern.test(each)), `${method} ${path}`)
  }
})
