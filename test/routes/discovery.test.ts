import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { llamaCpp, lmStudio, ollama, startLocalServer } from '../fakes/local-servers.ts'
import { startFakeOpenAI } from '../fakes/openai.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'

async function start (t: Test, ...programs: Array<Parameters<typeof startLocalServer>[0]>) {
  const servers = await Promise.all(programs.map(startLocalServer))
  t.teardown(() => Promise.all(servers.map((server) => server.close())))
  return servers
}
const discover = async (app: Awaited<ReturnType<typeof build>>) => (await app.inject('/models?discover=true')).json().discovered

t.test('Ollama, LM Studio and llama.cpp are found, with their models and the configuration that uses them', async (t) => {
  const servers = await start(t, ollama, lmStudio, llamaCpp, { '/v1/models': { data: [{ id: 'some-model' }] } })
  const [a, b, c, d] = servers.map(({ port }) => port)
  const app = await build(t, { config: { discovery: { ports: [a, b, c, d] } } })
  const at = (port: number, name: string, model: string) => ({
    baseURL: `http://127.0.0.1:${port}/v1`,
    models: [model],
    config: { providers: { [name]: { baseURL: `http://127.0.0.1:${port}/v1` } }, model: `${name}/${model}` }
  })
  const found = await discover(app)
  t.match(found, [
    { server: 'Ollama', ...at(a, 'ollama', 'qwen3:8b'), use: /^Ollama runs at http.*config\.json.*reload/ },
    { server: 'LM Studio', ...at(b, 'lmstudio', 'gpt-oss-20b') },
    { server: 'llama.cpp', ...at(c, 'llamacpp', 'gemma-3.gguf') },
    { server: 'A model server', ...at(d, 'local', 'some-model') }
  ])
  t.same(found.map(({ models }: any) => models.length), [1, 1, 1, 1], 'models for embeddings are left out')
  t.notOk('discovered' in (await app.inject('/models')).json(), 'only when it is asked for')
  t.equal((await app.inject('/models?discover=perhaps')).statusCode, 400)
})

t.test('what it says of a server works: the configuration is taken, and the model answers', async (t) => {
  const server = await startFakeOpenAI({ models: [{ id: 'small' }] })
  t.teardown(() => server.close())
  const discovery = { ports: [Number(new URL(server.url).port)] }
  const app = await build(t, { config: { discovery } })
  const [{ config }] = await discover(app)
  writeFileSync(`${app.home}/config.json`, JSON.stringify({ discovery, ...config }))
  t.equal((await app.inject({ method: 'POST', url: '/config/reload' })).statusCode, 200)
  t.match((await app.inject({ method: 'POST', url: '/providers/test' })).json(), { ok: true, model: 'local/small' })
  t.match(await discover(app), [{ provider: 'local', config: undefined, use: /is the provider "local".*"local\/small"/ }])
})

t.test('a found server is connected by its address, and nothing else is', async (t) => {
  const server = await startFakeOpenAI({ models: [{ id: 'small' }, { id: 'large' }] })
  t.teardown(() => server.close())
  const app = await build(t, { config: { discovery: { ports: [Number(new URL(server.url).port)] } } })
  const connect = async (payload: object) => (await app.inject({ method: 'POST', url: '/providers/configure', payload })).json()
  const [{ baseURL }] = await discover(app)
  t.match(await connect({ localServer: 'http://10.0.0.1:11434/v1' }), { statusCode: 400, code: 'ERR_UNKNOWN_PROVIDER' })
  t.match((await app.inject('/providers')).json().active_model, 'offline/', 'nothing has changed')
  t.match(await connect({ localServer: baseURL }), { status: 'configured', active_model: 'local/small' })
  t.match((await app.inject({ method: 'POST', url: '/providers/test' })).json(), { ok: true, model: 'local/small' })
  t.match(await connect({ localServer: baseURL, model: 'local/large' }), { active_model: 'local/large' })
  t.match(JSON.parse(readFileSync(`${app.home}/config.json`, 'utf8')), { providers: { local: { baseURL } }, model: 'local/large' })
})

t.test('a name that is taken is not suggested again', async (t) => {
  const [{ port }] = await start(t, ollama)
  const app = await build(t, { config: { discovery: { ports: [port] }, providers: { ollama: { baseURL: 'http://10.0.0.1:11434/v1' } } } })
  t.match(await discover(app), [{ config: { providers: { ollama2: {} }, model: 'ollama2/qwen3:8b' } }])
})

t.test('whatever else answers at a port is no model server', async (t) => {
  const elsewhere = await startLocalServer(ollama)
  t.teardown(() => elsewhere.close())
  const servers = await start(
    t,
    (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    (_request, response) => response.writeHead(302, { location: `${elsewhere.url}/v1/models` }).end(),
    (_request, response) => response.end(JSON.stringify({ data: [{ id: 'x' }], padding: 'x'.repeat(2 * 1024 * 1024) })),
    (_request, response) => response.writeHead(401).end('{"data":[{"id":"x"}]}'),
    (request) => request.socket.destroy(),
    { '/v1/models': { data: 'none' }, '/api/tags': [] },
    { '/v1/models': { data: [{ id: 'two words' }, { id: 'x'.repeat(300) }, { id: 7 }, null] } }
  )
  const app = await build(t, { config: { discovery: { ports: servers.map(({ port }) => port) } } })
  t.match(await discover(app), [{ server: 'A model server', models: [], config: { model: undefined } }])
  t.equal((await discover(app)).length, 1, 'a list without usable models is told, without a model')
  t.equal(elsewhere.requests.length, 0, 'redirections are not followed')
})

t.test('a server that does not answer is given up after a moment, and the others are told', async (t) => {
  const [silent, other] = await start(t, () => {}, ollama)
  const still = fakeClock()
  const waiting = new Set<AbortSignal>()
  const clock: typeof still = {
    ...still,
    timeout (ms, signal) {
      if (ms === 1_500) {
        waiting.add(signal!)
        signal!.addEventListener('abort', () => waiting.delete(signal!))
      }
      return still.timeout(ms, signal)
    }
  }
  const app = await build(t, { clock, config: { discovery: { ports: [silent.port, other.port] } } })
  const answer = discover(app)
  while (silent.requests.length === 0 || waiting.size > 1) await new Promise((resolve) => setTimeout(resolve, 2))
  await still.advance(1_500)
  t.match((await answer).map(({ server }: any) => server), ['Ollama'])
  while (silent.requests.some(({ socket }) => !socket.destroyed)) await new Promise((resolve) => setTimeout(resolve, 2))
})

t.test('a proxy of the environment is not used', async (t) => {
  const [server] = await start(t, { '/v1/models': { by: 'server' } })
  const proxy = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.teardown(() => proxy.close())
  await once(proxy, 'listening')
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const file = new URL('../../services/models/providers/discovery.ts', import.meta.url).href
  const script = `const url = '${server.url}/v1/models'
    const { getLocalJson } = await import(${JSON.stringify(file)})
    const usual = await fetch(url).then(() => 'reached', () => 'went to the proxy')
    console.log(usual, (await getLocalJson(url, AbortSignal.timeout(5000))).by)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, http_proxy: address, NO_PROXY: '', no_proxy: '' }
  })
  t.equal(stdout.trim(), 'went to the proxy server')
  t.equal(server.requests.length, 1)
})
