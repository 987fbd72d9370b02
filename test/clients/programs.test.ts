import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type GatewayRequest, type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { atEnd } from '../harness/at-end.ts'
import { startService } from '../harness/sidecar.ts'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const HOME = process.env.HOME

/** Runs a program of examples/. */
function start (t: Test, args: string[], { env, cwd }: { env?: NodeJS.ProcessEnv, cwd?: string } = {}) {
  const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env.PATH, HOME, ...env }, stdio: 'pipe' })
  const exited = once(child, 'close').then(([code]) => code as number)
  atEnd(t, () => {
    child.kill('SIGKILL')
    return exited
  })
  return { child, exited }
}

t.test('examples/client.ts runs the agent and asks before it writes', async (t) => {
  const dir = t.testdir({ home: {}, desk: {} })
  const cwd = `${dir}/desk`
  const env = { LOCAL_AGENT_TOKEN: 'a-token-of-the-shell' }
  const service = await startService(t, { home: `${dir}/home`, cwd, env })
  for (const [answer, said] of [['y', /\[writeFile is done\][\s\S]*stop; go on with id/], ['n', /stop; go on with id/]] as const) {
    const { child, exited } = start(t, [path('examples/client.ts'), `write "${answer}" to hello.txt`, service.url], { env })
    let out = ''
    let log = ''
    child.stderr.on('data', (text) => {
      log += text
    })
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text
      if (text.includes('[y/N]')) child.stdin.write(`${answer}\n`)
    })
    t.equal(await exited, 0, log)
    t.match(out, /offline\/assistant knows 0 facts/)
    t.match(out, said)
  }
  t.equal(readFileSync(`${cwd}/hello.txt`, 'utf8'), 'y', 'only what was allowed was written')
})

t.test("examples/client.ts says in the service's words what is wrong", async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env: { LOCAL_AGENT_TOKEN: 'a-token-of-the-shell' } })
  const { child, exited } = start(t, [path('examples/client.ts'), 'hello', service.url])
  let log = ''
  child.stderr.on('data', (text) => {
    log += text
  })
  t.equal(await exited, 1)
  t.match(log, /^This service needs a token/)
})

/** The supervisor over a command (the built service by default), and what it tells. */
function supervise (t: Test, { command, options = [], env }: { command?: string[], options?: string[], env?: NodeJS.ProcessEnv } = {}) {
  const dir = t.testdir({ home: {}, work: {} })
  const { child, exited } = start(t, [
    path('examples/supervisor.ts'),
    '--backoff-ms',
    '10',
    ...options,
    '--',
    ...command ?? [process.execPath, path('dist/server.js'), '--port', '0']
  ], { cwd: `${dir}/work`, env: { LOCAL_AGENT_HOME: `${dir}/home`, ...env } })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    exited,
    /** What it tells next. */
    async next (): Promise<any> {
      const { value, done } = await lines.next()
      return done ? undefined : JSON.parse(value)
    }
  }
}

t.test('examples/supervisor.ts restarts a service that crashes, and ends it when told to end', async (t) => {
  const { child, next, exited } = supervise(t)
  t.equal((await next()).event, 'starting')
  const { pid } = await next()
  process.kill(pid, 'SIGKILL')
  t.match(await next(), { event: 'exit', signal: 'SIGKILL' })
  t.match(await next(), { event: 'restart', attempt: 1 })
  t.equal((await next()).event, 'starting')
  const ready = await next()
  t.equal((await fetch(`${ready.url}/health`)).status, 200)
  child.kill('SIGTERM')
  t.match(await next(), { event: 'exit', code: 0 })
  t.equal(await exited, 0)
  await t.rejects(fetch(`${ready.url}/health`))
})

t.test('examples/supervisor.ts does not repeat what cannot work', async (t) => {
  const { next, exited } = supervise(t, { command: [process.execPath, path('dist/server.js'), '--port', 'nonsense'] })
  t.equal((await next()).event, 'starting')
  t.match(await next(), { event: 'exit', code: 64 })
  t.match(await next(), { event: 'gave-up', code: 64, message: /it was started with wrong arguments/ })
  t.equal(await next(), undefined)
  t.equal(await exited, 64)
})

const examplePath = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))

/** The built service with a model that says what `reply` says, and a runner of examples that finds the service by itself. */
async function shop (t: Test, reply: (nth: number, request: GatewayRequest) => Plan) {
  let calls = 0
  const gateway = await startFakeGateway({ reply: (request) => reply(calls++, request) })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  const token = 'a-token-of-the-shell'
  await startService(t, {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    env: { LOCAL_AGENT_TOKEN: token, AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url }
  })
  return {
    gateway,
    /** Runs an example and returns its exit code and what it printed. */
    run: (name: string, args: string[] = [], { input = '', home = `${dir}/home` }: { input?: string, home?: string } = {}) =>
      new Promise<{ code: number, stdout: string, stderr: string }>((resolve) => {
        const env = { PATH: process.env.PATH, LOCAL_AGENT_HOME: home, LOCAL_AGENT_TOKEN: token }
        const child = execFile(process.execPath, [examplePath(name), ...args], { env }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }))
        child.stdin!.end(input)
      })
  }
}

t.test('examples/app-tool.ts executes calls of its own tool', async (t) => {
  const { gateway, run } = await shop(t, (nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'findOrders', input: { state: 'open' } }] } : { text: 'A-1, a lamp.' })
  t.same(await run('app-tool.ts'), { code: 0, stdout: 'A-1, a lamp.\n', stderr: '' })
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /a lamp/, 'the model got the result')
})

t.test('examples/structured-answer.ts answers by its exit code', async (t) => {
  const problems = [{ where: 'a.ts:3', what: 'The result is not checked.' }]
  const answers: Plan[] = [
    { toolCalls: [{ toolName: 'answer', input: { summary: 'All is well.', problems: [] } }] },
    { toolCalls: [{ toolName: 'answer', input: { summary: 'One problem.', problems } }] },
    { error: { status: 401, type: 'authentication_error', message: 'no' } }
  ]
  const { gateway, run } = await shop(t, (nth) => answers[nth])
  const ask = () => run('structured-answer.ts', ['Is it right?'], { input: 'the change' })
  t.same(await ask(), { code: 0, stdout: 'All is well.\n', stderr: '' })
  t.same(await ask(), { code: 1, stdout: 'One problem.\na.ts:3: The result is not checked.\n', stderr: '' })
  t.match(await ask(), { code: 2, stdout: '', stderr: /^ERR_PROVIDER_AUTH: / })
  t.match(JSON.stringify(gateway.requests[0].body.prompt), /Is it right\?\\n\\nthe change/)
})

t.test('examples/cost-of-a-day.ts says what the models of today cost', async (t) => {
  const { run } = await shop(t, (nth) =>
    nth === 0
      ? { toolCalls: [{ toolName: 'findOrders', input: { state: 'open' } }], usage: { inputTokens: 100, outputTokens: 20, cost: '0.25' } }
      : { text: 'One.', usage: { inputTokens: 200, outputTokens: 30, cost: '0.5' } })
  t.match(await run('cost-of-a-day.ts'), { code: 0, stdout: /^\d{4}-\d\d-\d\d: no model was called\n$/ })
  await run('app-tool.ts')
  const { stdout } = await run('cost-of-a-day.ts')
  t.match(stdout, /^\d{4}-\d\d-\d\d: \$0\.7500, 350 tokens, 2 calls\n\nby model\n {2}test\/model: \$0\.7500.*\n\nby thread\n/)
  t.match(stdout, /by thread\n {2}[0-9a-f-]{36}: /)
})

t.test('an example without a service says where it looked', async (t) => {
  const { run } = await shop(t, () => ({}))
  const { code, stderr } = await run('app-tool.ts', [], { home: t.testdir({}) })
  t.equal(code, 1)
  t.match(stderr, /^No service runs here: there is no .*instance\.json\. Start the app that runs it, or local-agent; or set /)
})
