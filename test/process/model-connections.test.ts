import t, { type Test } from 'tap'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
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
