import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { allGone } from '../services/process/alive.ts'
import { spawnService, startService, type Sidecar } from '../harness/sidecar.ts'
import { parseEvents } from '../harness/sse.ts'

/** Tests find processes by the ids that commands tell, which are others in a box. */
const START = { permissions: { runCommand: 'allow' }, commands: { sandbox: 'off' } }
/** Writes for a minute, a word every 20 ms. */
const SLOW = { model: 'offline/scripted', offline: { script: [{ text: 'word '.repeat(3000), chunkMs: 20 }] } }
const WITHIN_MS = 5_000

function place (t: Test, config: object = {}) {
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  return { home: `${dir}/home`, cwd: `${dir}/work` }
}

/** A run whose stream is being read. */
async function openRun ({ url }: Sidecar, content: string) {
  const response = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content }] })
  })
  let text = ''
  let arrived = Promise.withResolvers<void>()
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true })
      arrived.resolve()
      arrived = Promise.withResolvers()
    }
  })()
  ended.catch(() => {}) // Tests look at it when they are ready to.
  return {
    ended,
    events: () => parseEvents(text),
    /** Resolves once an event of that type has arrived. */
    async seen (type: string) {
      while (!parseEvents(text.slice(0, text.lastIndexOf('\n\n') + 2)).some((event) => event.type === type)) {
        await Promise.race([arrived.promise, ended])
      }
    }
  }
}

/** Lets the agent run a shell line that tells us process ids where it says $TELL, through a pipe that has a name. */
async function openCommand (service: Sidecar, cwd: string, line: string) {
  execFileSync('mkfifo', [`${cwd}/started`])
  const run = await openRun(service, `run \`${line.replace('$TELL', () => 'echo $$ $! > started')}\``)
  const pids = (await readFile(`${cwd}/started`, 'utf8')).trim().split(' ').map(Number)
  return { ...run, pids }
}

/** Ends the service and says how, with the milliseconds it took. */
async function timed (service: Sidecar, signal: NodeJS.Signals) {
  const begun = performance.now()
  return { ...await service.stop(signal), ms: performance.now() - begun }
}

t.test('a service whose threads wait for files that never answer goes on, and ends with 0 and in time', async (t) => {
  const where = place(t)
  execFileSync('mkfifo', [`${where.cwd}/never`])
  const program = `import { open } from 'node:fs'
    process.on('SIGWINCH', () => {
      for (let n = 0; n < 8; n++) open(${JSON.stringify(`${where.cwd}/never`)}, 'r', () => {})
      console.error('all wait')
    })`
  const service = await startService(t, { ...where, env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` } })
  process.kill(service.pid, 'SIGWINCH')
  while (!service.log().includes('all wait')) await new Promise((resolve) => setTimeout(resolve, 2))
  const learned = await fetch(`${service.url}/memory/brain/fact`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    ...{ body: JSON.stringify({ fact: 'Likes tea' }), signal: AbortSignal.timeout(20_000) }
  })
  t.equal(learned.status, 200)
  const { code, ms } = await timed(service, 'SIGTERM')
  t.equal(code, 0)
  t.ok(ms < WITHIN_MS, `${ms} ms`)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} ends an idle service with 0, and it can start again`, async (t) => {
    const where = place(t)
    const { code, ms } = await timed(await startService(t, where), signal)
    t.equal(code, 0)
    t.ok(ms < WITHIN_MS, `${ms} ms`)
    await startService(t, where)
  })

  t.test(`${signal} ends a stream that is open with a last event`, async (t) => {
    const service = await startService(t, place(t, SLOW))
    const run = await openRun(service, 'tell me a long story')
    await run.seen('text-delta')
    const { code, ms } = await timed(service, signal)
    t.equal(code, 0)
    t.ok(ms < WITHIN_MS, `${ms} ms`)
    await t.resolves(run.ended, 'the stream was not cut')
    t.equal(run.events().at(-1)?.type, 'finish')
  })

  t.test(`${signal} ends a command that runs and all it started`, async (t) => {
    const where = place(t, START)
    const service = await startService(t, where)
    const command = await openCommand(service, where.cwd, 'sleep 60 & $TELL; sleep 60')
    const { code, ms } = await timed(service, signal)
    t.equal(code, 0)
    t.ok(ms < WITHIN_MS, `${ms} ms`)
    t.equal(command.pids.length, 2)
    await t.resolves(allGone(command.pids, 0), 'no process of it is left')
    await t.resolves(command.ended, 'its stream was not cut')
    t.equal(command.events().at(-1)?.type, 'finish')
  })
}

t.test('while it shuts down new requests get 503, and /health says that it still lives', async (t) => {
  const where = place(t, START)
  const service = await startService(t, where)
  const command = await openCommand(service, where.cwd, "trap '' TERM; $TELL; sleep 60")
  service.child.kill('SIGTERM')
  await ending(service)

  t.equal((await fetch(`${service.url}/ready`)).status, 503)
  const refused = await fetch(`${service.url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"messages":[{"role":"user","content":"hello"}]}'
  })
  t.equal(refused.status, 503)
  t.match(await refused.json(), { error: /shutting down/, code: 'ERR_DRAINING', statusCode: 503 })
  t.equal((await fetch(service.url)).status, 503)
  t.equal((await fetch(`${service.url}/health`)).status, 200)

  t.match(await service.exited, { code: 0 }, 'a command that ignores TERM is killed in time')
  await allGone(command.pids, 0)
  await t.resolves(command.ended)
})

/** Resolves once the service has begun to end. */
async function ending ({ url }: Sidecar) {
  while ((await fetch(`${url}/ready`)).status === 200);
}

t.test('further signals and errors change nothing of an end that is under way', async (t) => {
  const where = place(t, START)
  const service = await startService(t, {
    ...where,
    preload: ['data:text/javascript,process.on("SIGWINCH", () => { throw new Error("boom") })']
  })
  const command = await openCommand(service, where.cwd, "trap '' TERM; $TELL; sleep 60")
  service.child.kill('SIGTERM')
  await ending(service)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGWINCH'] as const) service.child.kill(signal)

  t.match(await service.exited, { code: 0, signal: null })
  t.match(service.log(), /another error during the shutdown: Error: boom/)
  await t.resolves(command.ended, 'its stream was not cut')
  t.equal(command.events().at(-1)?.type, 'finish')
  await allGone(command.pids, 0)
})

t.test('an end that hangs is cut off in time, with 0, and loses nothing', async (t) => {
  const where = place(t)
  const hang = 'data:text/javascript,import { Server } from "node:http"; Server.prototype.close = function () { return this }'
  const service = await startService(t, { ...where, preload: [hang] })
  await fetch(`${service.url}/memory/brain/fact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"fact":"Prefers tea"}'
  })
  const { code, ms } = await timed(service, 'SIGTERM')
  t.equal(code, 0)
  t.ok(ms < 4 * WITHIN_MS, `${ms} ms`)
  t.match(service.log(), /did not close within/)
  const { url } = await startService(t, where)
  t.match(await (await fetch(`${url}/memory/brain`)).json(), { brain: { facts: ['Prefers tea'] } })
})

t.test('a reader that takes nothing holds up no end', async (t) => {
  const service = await startService(t, place(t, { model: 'offline/scripted', offline: { script: [{ text: 'word '.repeat(2_000_000) }] } }))
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'tell me a long story' }] })
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.write(`POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  socket.on('error', () => {})
  await once(socket, 'readable')
  const { code, ms } = await timed(service, 'SIGTERM')
  t.equal(code, 0)
  t.ok(ms < WITHIN_MS, `${ms} ms`)
  socket.destroy()
})

t.test('a signal during the start ends it with 0', async (t) => {
  // The service gets its SIGTERM the moment it listens for it, when the store is not yet open.
  const early =
    'data:text/javascript,process.on("newListener", function early (event) { if (event === "SIGTERM") process.off("newListener", ' +
    'early), setImmediate(() => process.kill(process.pid, "SIGTERM")) })'
  const where = place(t)
  const service = spawnService({ ...where, preload: [early] })
  t.match(await service.exited, { code: 0, signal: null })
  t.equal(service.out(), '')
  await startService(t, where)
})

for (
  const [what, code] of [['an exception that nobody catches', 'throw new Error("boom")'], [
    'a rejection that nobody handles',
    'Promise.reject(new Error("boom"))'
  ]]
) {
  t.test(`${what} ends the service with 1 and is in its log; streams get a last event`, async (t) => {
    const where = place(t, SLOW)
    const service = await startService(t, { ...where, preload: [`data:text/javascript,process.on("SIGWINCH", () => { ${code} })`] })
    const run = await openRun(service, 'tell me a long story')
    await run.seen('text-delta')
    t.match(await service.stop('SIGWINCH'), { code: 1, signal: null })
    t.match(service.log(), /Error: boom/)
    await t.resolves(run.ended)
    t.equal(run.events().at(-1)?.type, 'finish')
    await startService(t, where)
  })
}

async function logged (service: Sidecar, wanted: RegExp) {
  while (!wanted.test(service.log())) await once(service.child.stderr!, 'data')
}

t.test('SIGHUP reads config.json again, and keeps the last good one over a bad one', async (t) => {
  const where = place(t, { workspace: '/var/tmp' })
  const service = await startService(t, where)
  const workspace = async () => (await (await fetch(service.url)).json() as { workspace: string }).workspace
  t.equal(await workspace(), '/var/tmp')

  writeFileSync(`${where.home}/config.json`, '{"workspace":"/tmp"}')
  service.child.kill('SIGHUP')
  await logged(service, /config\.json was reloaded/)
  t.equal(await workspace(), '/tmp')

  writeFileSync(`${where.home}/config.json`, '{"workspace":')
  service.child.kill('SIGHUP')
  await logged(service, /was not applied: it is not JSON/)
  t.equal(await workspace(), '/tmp')
  t.match(await service.stop(), { code: 0 })
})

t.test('a shell that stops reading does not end the service', async (t) => {
  const where = place(t)
  const service = await startService(t, where)
  service.child.stdout!.destroy()
  service.child.stderr!.destroy()
  service.child.kill('SIGHUP')
  writeFileSync(`${where.home}/config.json`, '{')
  t.equal((await fetch(`${service.url}/config/reload`, { method: 'POST' })).status, 400)
  t.equal((await fetch(`${service.url}/health`)).status, 200)
  t.equal(readFileSync(`${where.home}/config.json`, 'utf8'), '{')
})

t.test('SIGUSR1 opens no debugger', async (t) => {
  const service = await startService(t, place(t))
  service.child.kill('SIGUSR1')
  // The signal is handled before a request that is sent after it.
  for (let n = 0; n < 3; n++) t.equal((await fetch(`${service.url}/health`)).status, 200)
  t.notMatch(service.log(), /Debugger listening/)
  await t.rejects(fetch('http://127.0.0.1:9229/json'))
})
