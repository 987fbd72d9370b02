import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
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
  t.equal(await next(), undefined)
  t.equal(await exited, 64)
})
