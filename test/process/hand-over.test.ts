import { existsSync, readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import t from 'tap'
import { filesIn, found } from '../harness/canaries.ts'
import { anthropicWire } from '../fakes/anthropic-wire.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { build } from '../harness/helper.ts'
import { spawnService, startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'

const SECRETS = {
  token: 'walnut-TOKEN/0123+456789-canary',
  passphrase: 'walnut-PASSPHRASE/0123+456789-canary',
  gatewayKey: 'walnut-GATEWAY/0123+456789-canary',
  key: 'walnut-DIRECT/0123+456789-canary'
}
const { key, ...rest } = SECRETS
const LINE = `${JSON.stringify({ ...rest, keys: { openai: key } })}\n`

t.test('secrets from standard input are used, and are in no environment, argument, child, file, log or answer', async (t) => {
  let pid = 0
  const command = () => `env; cat /proc/${pid}/environ /proc/${pid}/cmdline /proc/$$/environ; ls -l /proc/$$/fd; echo done`
  const plans: Array<() => Plan> = [
    () => ({ toolCalls: [{ toolName: 'runCommand', input: { command: command() } }] }),
    () => ({ text: 'so it is' }),
    () => ({ error: { status: 400, type: 'invalid_request_error', message: `Refused Bearer ${SECRETS.gatewayKey}` } })
  ]
  const keys = new Set<string | undefined>()
  const gateway = await startFakeGateway({
    reply (request) {
      keys.add(request.headers.authorization)
      return plans.shift()?.()
    }
  })
  t.teardown(() => gateway.close())
  const dir = t.testdir({
    home: {
      'config.json': JSON.stringify({ model: 'test/model', analysis: false, log: { level: 'trace' }, permissions: { runCommand: 'allow' } })
    },
    work: {}
  })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const env = { AI_GATEWAY_BASE_URL: gateway.url, AI_GATEWAY_API_KEY: 'not-this-one', LOCAL_AGENT_TOKEN: 'not-that-one' }
  const service = await startService(t, { ...where, env, args: ['--stdin'], stdin: LINE })
  pid = service.pid
  const authorization = { authorization: `Bearer ${SECRETS.token}` }
  const run = async () =>
    (await postEvents(`${service.url}/run`, { messages: [{ role: 'user', content: 'look around' }] }, authorization)).text

  t.equal((await fetch(service.url)).status, 401)
  t.equal(
    (await fetch(service.url, { headers: { authorization: 'Bearer not-that-one' } })).status,
    401,
    "the environment's token is another"
  )
  const answers = [await run(), await run()]
  t.match(answers[0], /PATH=.*done/, 'a command looked')
  t.match(answers[1], /Refused/)
  t.same([...keys], [`Bearer ${SECRETS.gatewayKey}`])
  const seen = process.platform === 'linux'
    ? ['environ', 'cmdline'].map((name) => [name, readFileSync(`/proc/${pid}/${name}`)] as const)
    : []
  t.match(await service.stop(), { code: 0 })

  t.same(
    found(SECRETS, [...seen, ...filesIn(dir), ['the log', Buffer.from(service.log())], ['stdout', Buffer.from(service.out())], [
      'the answers',
      Buffer.from(answers.join())
    ]]),
    []
  )
  t.notOk(existsSync(`${where.home}/master.key`), 'the passphrase encrypts the store')
  t.match(await spawnService(where).exited, { code: 78 })
})

t.test('a key of a provider from standard input is sent to that provider, in place of the one in config.json', async (t) => {
  const provider = await startModelServer(anthropicWire, { apiKey: key })
  t.teardown(() => provider.close())
  const work = { kind: 'anthropic', baseURL: provider.url, apiKey: 'from-config' }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ model: 'work/claude-haiku-5-5', providers: { work } }) }, work: {} })
  const service = await startService(t, {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    args: ['--stdin'],
    stdin: `${JSON.stringify({ keys: { work: key } })}\n`
  })
  const tested = await fetch(`${service.url}/providers/test`, { method: 'POST' })
  t.match(await tested.json(), { ok: true, model: 'work/claude-haiku-5-5' })
  t.match(await service.stop(), { code: 0 })
  t.same(found(SECRETS, [...filesIn(dir), ['the log', Buffer.from(service.log())]]), [])
})

t.test('a key of a provider from standard input is struck out of the log', async (t) => {
  let log = ''
  const app = await build(t, {
    keys: { openai: key },
    log: new Writable({
      write: (chunk, _, done) => {
        log += chunk
        done()
      }
    })
  })
  app.log.info({ given: key }, `it is ${key}`)
  t.match(log, /"given":"\[secret\]".*it is \[secret\]/)
  t.same(found(SECRETS, [['the log', Buffer.from(log)]]), [])
})
