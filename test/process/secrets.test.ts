import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { anthropicWire } from '../fakes/anthropic-wire.ts'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { filesIn, found } from '../harness/canaries.ts'
import { build } from '../harness/helper.ts'
import { spawnService, startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'

const SECRETS = {
  configured: 'walnut-CONFIGURED/0123+456789-canary',
  environment: 'walnut-ENVIRONMENT/0123+456789-canary',
  direct: 'walnut-DIRECT/0123+456789-canary',
  token: 'walnut-TOKEN/0123+456789-canary',
  passphrase: 'walnut-PASSPHRASE/0123+456789-canary'
}
const PRIVATE = { fact: 'is allergic to WALNUTS, says the canary', message: 'where do WALNUT canaries nest in winter' }

/** Refuses every call with the key it was sent, in all the ways a server may. */
function echoes (key: string): Plan[] {
  const error = (more: object) => ({ error: { status: 400, type: 'invalid_request_error', message: 'no', ...more } })
  return [
    error({ message: `Refused Bearer ${key}` }),
    error({ message: `Refused key=${encodeURIComponent(key)} ${Buffer.from(key).toString('base64')} ${Buffer.from(key).toString('hex')}` }),
    error({ status: 422, body: JSON.stringify({ error: { message: { authorization: key }, type: key, param: { [key]: key } } }) }),
    error({ status: 422, body: `<html>${key}</html>` }),
    error({ status: 401, headers: { 'www-authenticate': `Bearer realm="${encodeURIComponent(key)}"` } }),
    error({ status: 302, headers: { location: `http://127.0.0.1/${encodeURIComponent(key)}/${key}?key=${key}` } }),
    { text: 'word '.repeat(3), ending: { error: { message: `overloaded for ${key}`, type: key, code: key } } }
  ]
}

/** An OpenAI-compatible server that ends each stream with an error that holds the key, byte by byte. */
async function startEcho (teardown: (end: () => void) => unknown) {
  const server = createServer(async ({ headers }, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const byte of `data: ${JSON.stringify({ error: { message: `Refused ${headers.authorization}` } })}\n\n`) {
      res.write(byte)
      await wait(0)
    }
    res.end('data: [DONE]\n\n')
  }).listen(0, '127.0.0.1')
  teardown(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

t.test('no secret is in a file, a log, an answer or a crash report, though servers repeat it; what the user said is in no file or ' +
  'log', async (t) => {
  const plans: Array<Plan> = [{ toolCalls: [{ toolName: 'runCommand', input: { command: 'env; cat /proc/self/environ' } }] }, {
    text: 'done'
  }, ...echoes(SECRETS.environment)]
  const keys = new Set<string | undefined>()
  const gateway = await startFakeGateway({
    reply (request) {
      keys.add(request.headers.authorization)
      return plans.shift()
    },
    listing: () => ({ error: { status: 500, type: 'internal_server_error', message: `no list for ${SECRETS.configured}` } })
  })
  t.teardown(() => gateway.close())
  const config = {
    model: 'test/model',
    analysis: false,
    log: { level: 'trace' },
    permissions: { runCommand: 'allow' },
    providers: { own: { baseURL: await startEcho((end) => t.teardown(end)), apiKey: ['$', '{OWN}'].join('') } },
    notes: { anything: `the key is ${SECRETS.direct}` }
  }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ ...config, notes: undefined }) }, work: {} })
  const [home, cwd] = [`${dir}/home`, `${dir}/work`]
  const env = {
    AI_GATEWAY_API_KEY: SECRETS.environment,
    AI_GATEWAY_BASE_URL: gateway.url,
    LOCAL_AGENT_TOKEN: SECRETS.token,
    LOCAL_AGENT_PASSPHRASE: SECRETS.passphrase,
    OWN: SECRETS.direct,
    // The compiled code lies in its home, where it is searched, too.
    NODE_COMPILE_CACHE: undefined
  }
  const crash = `data:text/javascript,process.on("SIGWINCH", () => { process.report.writeReport(${
    JSON.stringify(`${home}/report.json`)
  }); throw new Error("boom") })`
  const service = await startService(t, { home, cwd, env, preload: [crash] })
  const authorization = { authorization: `Bearer ${SECRETS.token}` }
  const answers: Array<readonly [string, Buffer]> = []
  const ask = async (path: string, body?: object, method = body ? 'POST' : 'GET', headers: Record<string, string> = authorization) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { ...headers, ...body && { 'content-type': 'application/json' } },
      ...body && { body: JSON.stringify(body) },
      signal: AbortSignal.timeout(60_000)
    })
    // A stream that stays open is not waited for.
    const text = response.headers.get('content-type')?.startsWith('text/event-stream') && method === 'GET' ? '' : await response.text()
    answers.push([`${method} ${path}`, Buffer.from(`${JSON.stringify([...response.headers])} ${text}`)])
    return text
  }
  const run = async () => {
    const { text } = await postEvents(`${service.url}/run`, { messages: [{ role: 'user', content: PRIVATE.message }] }, authorization)
    answers.push(['a run', Buffer.from(text)])
    return text
  }

  await ask('/memory/brain/fact', { fact: PRIVATE.fact })
  t.match(await run(), /PATH=/, 'a command showed its environment')
  while (plans.length > 1) t.match(await run(), /"finishReason":"error"/)
  t.match(await run(), /"data-retry".*overloaded for \[key\]/, 'an answer that broke off is asked again, and the reason has no key')
  plans.push(...echoes(SECRETS.configured))
  await ask('/providers/configure', { gateway_key: SECRETS.configured })
  while (plans.length > 0) t.match(JSON.parse(await ask('/providers/test', {})), { ok: false })
  await ask('/providers/configure', { model: 'own/model' })
  t.match(await run(), /Refused/, 'the repetition was told, without the key')
  await ask('/providers/test', { model: 'own/model' })
  writeFileSync(`${home}/config.json`, JSON.stringify({ ...config, notes: undefined, model: 5, providers: { own: { apiKey: 7 } } }))
  await ask('/config/reload', undefined, 'POST')
  const { endpoints } = JSON.parse(await ask('/')) as { endpoints: string[] }
  for (const [method, path] of endpoints.map((endpoint) => endpoint.split(' '))) {
    if (method === 'GET') await ask(path.replaceAll(/:\w+/g, 'x'))
    await ask(path.replaceAll(/:\w+/g, 'x'), undefined, method, { authorization: `Bearer ${SECRETS.token}x` })
  }
  await ask('/providers/configure', { gateway_key: SECRETS.configured, [SECRETS.configured.slice(0, 3)]: 1 })
  // What the user wrote into config.json by hand stays there, and is shown nowhere.
  writeFileSync(`${home}/config.json`, JSON.stringify(config))
  t.match(JSON.parse(await ask('/config/reload', undefined, 'POST')), { status: 'reloaded' })
  t.match(JSON.parse(await ask('/config')), { notes: { anything: 'the key is ••••' } })
  await service.stop('SIGWINCH')

  t.same([...keys], [SECRETS.environment, SECRETS.configured].map((key) => `Bearer ${key}`), 'the keys were used')
  t.match(service.log(), /Error: boom/)
  const files = filesIn(home)
  for (const part of ['report.json', '/cache/', '/data/']) t.ok(files.some(([path]) => path.includes(part)), part)
  const logs = [['the log', Buffer.from(service.log())], ['stdout', Buffer.from(service.out())]] as const
  t.same(found(SECRETS, [...files.filter(([path]) => !path.endsWith('config.json')), ...logs, ...answers]), [])
  t.same(found(PRIVATE, [...files, ...logs]), [])
})

t.test('under any umask, and in a folder that was open to others, everything lies in folders that are closed to them', {
  skip: process.platform === 'win32'
}, async (t) => {
  const modes = (dir: string) => {
    const of = (path: string) => (statSync(path).mode & 0o777).toString(8)
    return {
      home: of(dir),
      data: of(`${dir}/data`),
      cache: of(`${dir}/cache`),
      key: of(`${dir}/master.key`),
      config: of(`${dir}/config.json`)
    }
  }
  const closed = { home: '700', data: '700', cache: '700', key: '600', config: '600' }
  const umask = (mask: string) => `data:text/javascript,process.umask(0o${mask})`
  const dir = t.testdir({ work: {} })
  for (const mask of ['000', '077', '022']) {
    const home = `${dir}/made-${mask}`
    const service = await startService(t, { home, cwd: `${dir}/work`, preload: [umask(mask)] })
    await fetch(`${service.url}/providers/configure`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"offline/assistant"}'
    })
    await service.stop()
    t.same(modes(home), closed, mask)
  }
  const opened = `${dir}/made-000`
  chmodSync(opened, 0o777)
  for (const name of ['config.json', 'master.key']) chmodSync(`${opened}/${name}`, 0o666)
  mkdirSync(`${dir}/elsewhere`)
  writeFileSync(`${dir}/elsewhere/mine.json`, readFileSync(`${opened}/config.json`))
  rmSync(`${opened}/config.json`)
  chmodSync(`${dir}/elsewhere/mine.json`, 0o644)
  symlinkSync(`${dir}/elsewhere/mine.json`, `${opened}/config.json`)
  symlinkSync(opened, `${dir}/link`)
  const service = await startService(t, { home: `${dir}/link`, cwd: `${dir}/work`, preload: [umask('000')] })
  t.same(modes(opened), closed, 'mended')
  await fetch(`${service.url}/providers/configure`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"model":"offline/scripted"}'
  })
  t.match(
    JSON.parse(readFileSync(`${dir}/elsewhere/mine.json`, 'utf8')),
    { model: 'offline/scripted' },
    'a config.json that is a link stays one'
  )
  await service.stop()
  t.same(modes(opened), closed, 'and when it was written')
})

t.test('a folder that everybody may write to, such as /tmp, is not taken for the configuration directory, and stays as it is', {
  skip: process.platform === 'win32'
}, async (t) => {
  const dir = t.testdir({ shared: {}, work: {} })
  chmodSync(`${dir}/shared`, 0o1777)
  const service = spawnService({ home: `${dir}/shared`, cwd: `${dir}/work` })
  const { code } = await service.exited
  t.equal(code, 78)
  t.match(service.log(), /it is a folder shared with other users.*LOCAL_AGENT_HOME/)
  t.equal(statSync(`${dir}/shared`).mode & 0o7777, 0o1777)
  t.same(readdirSync(`${dir}/shared`), [])
})

t.test(
  'compiled code that others may have put there is not run: such a folder is left alone',
  { skip: process.platform === 'win32' },
  async (t) => {
    const dir = t.testdir({ open: { cache: {} }, closed: {}, work: {} })
    chmodSync(`${dir}/open/cache`, 0o777)
    for (const home of ['open', 'closed']) {
      chmodSync(`${dir}/${home}`, 0o700)
      await (await startService(t, { home: `${dir}/${home}`, cwd: `${dir}/work`, env: { NODE_COMPILE_CACHE: undefined } })).stop()
      t.equal(readdirSync(`${dir}/${home}/cache`).length > 0, home === 'closed', home)
    }
  }
)

const HANDED_OVER = {
  token: 'walnut-TOKEN/0123+456789-canary',
  passphrase: 'walnut-PASSPHRASE/0123+456789-canary',
  gatewayKey: 'walnut-GATEWAY/0123+456789-canary',
  key: 'walnut-DIRECT/0123+456789-canary'
}
const { key, ...rest } = HANDED_OVER
const LINE = `${JSON.stringify({ ...rest, keys: { openai: key } })}\n`

t.test('secrets from standard input are used, and are in no environment, argument, child, file, log or answer', async (t) => {
  let pid = 0
  const command = () => `env; cat /proc/${pid}/environ /proc/${pid}/cmdline /proc/$$/environ; ls -l /proc/$$/fd; echo done`
  const plans: Array<() => Plan> = [
    () => ({ toolCalls: [{ toolName: 'runCommand', input: { command: command() } }] }),
    () => ({ text: 'so it is' }),
    () => ({ error: { status: 400, type: 'invalid_request_error', message: `Refused Bearer ${HANDED_OVER.gatewayKey}` } })
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
  const authorization = { authorization: `Bearer ${HANDED_OVER.token}` }
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
  t.same([...keys], [`Bearer ${HANDED_OVER.gatewayKey}`])
  const seen = process.platform === 'linux'
    ? ['environ', 'cmdline'].map((name) => [name, readFileSync(`/proc/${pid}/${name}`)] as const)
    : []
  t.match(await service.stop(), { code: 0 })

  t.same(
    found(HANDED_OVER, [...seen, ...filesIn(dir), ['the log', Buffer.from(service.log())], ['stdout', Buffer.from(service.out())], [
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
  t.same(found(HANDED_OVER, [...filesIn(dir), ['the log', Buffer.from(service.log())]]), [])
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
  t.same(found(HANDED_OVER, [['the log', Buffer.from(log)]]), [])
})
