import { Writable } from 'node:stream'
import t from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { filesIn, found } from '../harness/canaries.ts'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { withDirect } from '../harness/with-direct.ts'

const GATEWAY_KEY = 'walnut-GATEWAY-0123456789-canary'
const EARLIER_KEY = 'walnut-EARLIER-0123456789-canary'
const DIRECT_KEY = 'walnut-DIRECT-0123456789-canary'

t.test('a configured key lies in the encrypted store alone: in no file, log or answer, though providers repeat it', async (t) => {
  const told: Array<readonly [string, Buffer]> = []
  const log = new Writable({
    write (chunk, _encoding, done) {
      told.push(['the log', chunk])
      done()
    }
  })
  const echo = ({ headers }: { headers: { authorization?: string } }): Plan => ({
    error: {
      status: 400,
      type: 'invalid_request_error',
      message: `Refused ${headers.authorization}`,
      headers: { 'x-key': String(headers.authorization) }
    }
  })
  const turns: Array<typeof echo | Plan> = [{ toolCalls: [{ toolName: 'runCommand', input: { command: 'env' } }] }, { text: 'done' }, echo]
  const keys: unknown[] = []
  const gateway = await startFakeGateway({
    reply (request) {
      keys.push(request.headers.authorization)
      const turn = turns.shift() ?? echo
      return typeof turn === 'function' ? turn(request) : turn
    }
  })
  t.teardown(() => gateway.close())
  process.env.TEST_DIRECT_KEY = DIRECT_KEY
  t.teardown(() => {
    delete process.env.TEST_DIRECT_KEY
  })
  const { app, reload, config } = await withDirect(t, echo, {
    log,
    gatewayBaseURL: gateway.url,
    provider: { apiKey: ['$', '{TEST_DIRECT_KEY}'].join('') },
    config: { model: 'test/model', log: { level: 'trace' } }
  })
  const keep = (where: string, answer: unknown) => {
    told.push([where, Buffer.from(JSON.stringify(answer))])
  }
  const post = async (url: string, payload: object) => {
    const { body, headers } = await app.inject({ method: 'POST', url, payload })
    keep(url, { body, headers })
  }

  await post('/providers/configure', { gateway_key: EARLIER_KEY })
  await post('/providers/configure', { gateway_key: GATEWAY_KEY })
  const first = await say(app, 'show the environment')
  const last = await answer(app, { [asked(first.events)[0]]: true })
  for (const run of [first, last, await say(app, 'fails at the gateway')]) keep('a run', run)
  await post('/providers/configure', { model: 'ollama/llama3' })
  keep('a run', await say(app, 'fails directly'))
  for (const model of ['test/model', 'ollama/llama3']) await post('/providers/test', { model })
  for (const url of ['/', '/health', '/config', '/providers', '/models', '/approvals']) keep(url, (await app.inject(url)).body)
  await post('/providers/configure', { gateway_key: GATEWAY_KEY, unknown: GATEWAY_KEY })
  keep('reload', (await reload(config)).body)
  await app.close()

  t.ok(keys.includes(`Bearer ${GATEWAY_KEY}`), 'the key was used')
  t.match(JSON.stringify(last.events), /PATH=/, 'the command showed its environment')
  t.match(told.map(([, bytes]) => bytes.toString()).join(), /Refused/, 'the repetition was told, without the key')
  const files = filesIn(app.home)
  t.ok(files.some(([path]) => path.includes('data')))
  t.same(found({ GATEWAY_KEY, EARLIER_KEY, DIRECT_KEY }, [...files, ...told]), [])
})

t.test("the key that was configured is there after a restart, and wins over the environment's", async (t) => {
  const gateway = await startFakeGateway()
  t.teardown(() => gateway.close())
  const settings = { gatewayKey: 'of-the-environment', gatewayBaseURL: gateway.url, config: { model: 'test/model' } }
  const { app } = await withDirect(t, undefined, settings)
  await app.inject({ method: 'POST', url: '/providers/configure', payload: { gateway_key: GATEWAY_KEY } })
  await app.close()
  const { app: again } = await withDirect(t, undefined, { ...settings, home: app.home, cwd: app.cwd })
  await say(again, 'hi')
  t.equal(gateway.requests[0].headers.authorization, `Bearer ${GATEWAY_KEY}`)
})

t.test('a key that can be none is refused by its provider, and stops neither the service nor its next start', async (t) => {
  const { app } = await withDirect(t, undefined, { config: { model: 'test/model' } })
  const payload = { gateway_key: 'half a character: \ud800' }
  t.equal((await app.inject({ method: 'POST', url: '/providers/configure', payload })).statusCode, 200)
  t.match(of((await say(app, 'hi')).events, 'error'), [{ errorText: /is not valid.*in the settings/ }])
  t.equal((await app.inject('/config')).statusCode, 200)
  await app.close()
  const log: string[] = []
  const { app: again } = await withDirect(t, undefined, {
    home: app.home,
    cwd: app.cwd,
    log: new Writable({
      write: (line, _encoding, done) => {
        log.push(String(line))
        done()
      }
    })
  })
  await again.listen({ port: 0 })
  t.match(log.join(''), /Server listening/)
})
