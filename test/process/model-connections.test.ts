import { once } from 'node:events'
import t, { type Test } from 'tap'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'

const KEY = 'a-long-secret-key-0123456789'
const variable = (name: string) => `\${${name}}`
const MESSAGES = { messages: [{ role: 'user', content: 'go' }] }

interface Served {
  kind: string
  /** Starts the provider and says how a service is told of it. */
  serve(t: Test, reply: () => Plan): Promise<{ connections(): Promise<number>, config?: object, env?: Record<string, string> }>
}

const providers: Served[] = [
  {
    kind: 'gateway',
    async serve (t, reply) {
      const gateway = await startFakeGateway({ reply })
      t.teardown(() => gateway.close())
      const env = { AI_GATEWAY_API_KEY: KEY, AI_GATEWAY_BASE_URL: gateway.url }
      return { connections: gateway.connections, config: { model: 'test/model' }, env }
    }
  },
  ...NATIVE_WIRES.map(({ kind, wire, model }): Served => ({
    kind,
    async serve (t, reply) {
      const server = await startModelServer(wire, { reply })
      t.teardown(() => server.close())
      const providers = { [kind]: { kind, baseURL: server.url, apiKey: variable('THE_KEY') } }
      return { connections: server.connections, config: { model: `${kind}/${model}`, providers }, env: { THE_KEY: KEY } }
    }
  }))
]

for (const { kind, serve } of providers) {
  t.test(`${kind}: a connection that is kept does not outlive the service, and no log holds the key`, async (t) => {
    const plans: Plan[] = [{ text: 'fine' }, { error: { status: 400, type: 'invalid_request_error', message: `bad header: ${KEY}` } }]
    const { connections, config, env } = await serve(t, () => plans.shift() ?? { text: 'fine' })
    const dir = t.testdir({
      home: { 'config.json': JSON.stringify({ analysis: false, threads: { titles: false }, log: { level: 'trace' }, ...config }) },
      work: {}
    })
    const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env })
    const told = [
      await postEvents(`${service.url}/run`, MESSAGES),
      await postEvents(`${service.url}/run`, MESSAGES)
    ].map(({ text }) => text)
    t.match(told[0], 'fine')
    t.match(told[1], /error.*bad header/)
    t.ok(await connections() > 0, 'it is kept')
    t.match(await service.stop(), { code: 0 })
    t.equal(await connections(), 0)
    t.notMatch(`${told.join('')}${service.out()}${service.log()}`, KEY)
  })
}

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
const textOf = (stream: string) =>
  [...stream.matchAll(/"type":"text-delta","id":"[^"]*","delta":"([^"]*)"/g)].map(([, text]) => text).join('')

t.test('a service that is killed while it asks a model again keeps nothing of the try that broke off, and the run can go on', async (t) => {
  const asked: string[] = []
  let calls = 0
  const waiting = Promise.withResolvers<void>()
  const gateway = await startFakeGateway({
    reply ({ body, structured }) {
      if (structured !== undefined) return undefined
      asked.push(JSON.stringify(body.prompt))
      const call = calls++
      if (call === 0) return { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }
      if (call === 1) return { text: ['half of ', 'an answer'], ending: 'cut', after: 4 }
      if (call > 2) return { text: 'The whole answer.' }
      waiting.resolve()
      return { ending: 'stall', after: 0 }
    }
  })
  t.teardown(() => gateway.close())
  const dir = t.testdir({
    home: { 'config.json': JSON.stringify({ model: 'test/model', analysis: false, threads: { titles: false } }) },
    work: {}
  })
  const where = { home: `${dir}/home`, cwd: `${dir}/work`, env: { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url } }
  const request = { id: 'c', messages: [{ role: 'user', content: 'go' }] }
  const key = { 'idempotency-key': 'once' }
  const service = await startService(t, where)
  const response = await post(`${service.url}/run`, request, key)
  const read = response.text().catch(() => '')
  await waiting.promise
  service.child.kill('SIGKILL')
  await once(service.child, 'close')
  await read

  const again = await startService(t, where)
  const thread = await (await fetch(`${again.url}/threads/c`)).text()
  t.match(thread, /listDirectory/, 'the step that was whole is kept')
  t.notMatch(thread, /half of/, 'the thread has nothing of the broken try')
  t.match((await (await fetch(`${again.url}/runs?limit=1`)).json() as any).runs, [{ status: 'interrupted' }])
  t.equal(asked.length, 3, 'no model is called before a reader comes back')
  const rest = await (await fetch(`${again.url}/run/c/stream`)).text()
  t.equal(textOf(rest), 'The whole answer.')
  t.equal(rest.split('"type":"tool-input-available"').length, 2, 'the step that was whole is shown once')
  const told = await (await post(`${again.url}/run/sync`, request, key)).json()
  t.match(told, { text: 'The whole answer.' }, 'the same request is told the same')
  t.equal(asked.length, 4)
  t.notMatch(asked.at(-1), /half of/)
  t.equal(asked.at(-1)!.split('"tool-call"').length, 2, 'the call is told once, and was made once')
  t.notMatch(await (await fetch(`${again.url}/threads/c`)).text(), /half of/)
})
