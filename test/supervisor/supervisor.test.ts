import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build as bundle } from 'esbuild'
import t, { type Test } from 'tap'
import { createSupervisor, type Notification, ServiceEnded, type SupervisorEvent, type SupervisorOptions } from '../../supervisor/index.ts'
import { followNotifications } from '../../supervisor/follow-notifications.ts'
import { atEnd } from '../harness/at-end.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const posix = process.platform === 'win32' && 'uses signals'
/** A service of a few lines: its ready line, its health, and its end with standard input. It obeys what is posted to it. */
const FAKE = `
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
let healthy = true
const server = createServer((request, response) => {
  if (request.url === '/sick') healthy = false
  if (request.url === '/crash') process.kill(process.pid, 'SIGKILL')
  if (request.url === '/leave') process.exit(0)
  response.statusCode = healthy ? 200 : 503
  response.end('{}')
})
createInterface({ input: process.stdin }).once('line', (line) => {
  console.error('secrets ' + line)
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    console.log(JSON.stringify({ event: 'ready', url: 'http://127.0.0.1:' + port, port, pid: process.pid, version: '1.2.3' }))
  })
}).on('close', () => process.exit(0))
`

const place = (t: Test, script = FAKE) => t.testdir({ 'fake.mjs': script, home: {}, work: {} })

/** A supervisor whose events can be awaited one by one. */
function supervise (t: Test, dir: string, options: SupervisorOptions = {}) {
  const events: SupervisorEvent[] = []
  const log: string[] = []
  let wake = () => {}
  const supervisor = createSupervisor({
    command: process.execPath,
    args: [`${dir}/fake.mjs`],
    onLog: (line) => log.push(line),
    onEvent (event) {
      events.push(event)
      wake()
    },
    ...options,
    limits: { backoffMs: 1, ...options.limits }
  })
  atEnd(t, () => supervisor.stop())
  return {
    supervisor,
    log,
    events,
    /** Resolves when an event of this name has come that was not awaited before. */
    async next (name: SupervisorEvent['event']) {
      for (;;) {
        while (events.length > 0) {
          const event = events.shift()!
          if (event.event === name) return event
        }
        await new Promise<void>((resolve) => { wake = resolve })
      }
    }
  }
}

t.test('starts the service, hands the secrets over and ends it in order', async (t) => {
  const { supervisor, log, events } = supervise(t, place(t), { secrets: { token: 'a-token', keys: { openai: 'sk' } } })
  t.equal(supervisor.ready, undefined)
  const ready = await supervisor.start()
  t.match(ready, { url: `http://127.0.0.1:${ready.port}`, version: '1.2.3' })
  t.same(supervisor.ready, ready)
  t.same(await supervisor.start(), ready, 'a second start starts nothing')
  t.equal((await fetch(`${ready.url}/health`)).status, 200)
  await supervisor.stop()
  t.same(await supervisor.ended, { code: 0, signal: null })
  t.same(events.map(({ event }) => event), ['starting', 'ready', 'exit'], 'an end that was asked for is no failure')
  t.equal(supervisor.ready, undefined)
  t.same(log, ['secrets {"token":"a-token","keys":{"openai":"sk"}}'])
})

t.test('restarts after crashes, waits longer each time, and then gives up', { skip: posix }, async (t) => {
  const { supervisor, next } = supervise(t, place(t), { limits: { maxRestarts: 2, backoffMs: 20 } })
  await supervisor.start()
  for (const restart of [{ attempt: 1, delayMs: 20 }, { attempt: 2, delayMs: 40 }, undefined]) {
    await fetch(`${supervisor.ready!.url}/crash`).catch(() => {})
    t.match(await next('exit'), { code: null, signal: 'SIGKILL' })
    if (restart === undefined) break
    t.match(await next('restart'), restart)
    await supervisor.start()
  }
  const why = { message: /ended by SIGKILL; it was restarted 2 times/ }
  t.match(await next('gave-up'), { ...why, signal: 'SIGKILL' }, 'a shell that waits for no start hears it too')
  t.same(await supervisor.ended, { code: null, signal: 'SIGKILL' })
  await t.rejects(supervisor.start(), { name: 'ServiceEnded', ...why })
})

t.test('counts restarts anew after a healthy time', { skip: posix }, async (t) => {
  const { supervisor, next } = supervise(t, place(t), { limits: { maxRestarts: 1, healthyMs: 0 } })
  for (let n = 0; n < 4; n++) {
    const { url } = await supervisor.start()
    await fetch(`${url}/crash`).catch(() => {})
    t.match(await next('restart'), { attempt: 1 })
  }
})

t.test('kills and restarts a service whose health fails', { skip: posix }, async (t) => {
  const { supervisor, next } = supervise(t, place(t), { limits: { healthMs: 30, maxMissed: 2 } })
  const { url, pid } = await supervisor.start()
  await fetch(`${url}/sick`)
  t.match([await next('unhealthy'), await next('unhealthy')], [{ missed: 1 }, { missed: 2 }])
  await next('hung')
  t.match(await next('exit'), { signal: 'SIGKILL' })
  await next('restart')
  t.not((await supervisor.start()).pid, pid)
})

t.test('kills a service that never gets ready or does not end', { skip: posix }, async (t) => {
  const script = 'process.on("SIGTERM", () => {}); process.stdin.resume(); setInterval(() => {}, 1000)'
  const dir = place(t, script)
  const { supervisor, next } = supervise(t, dir, { limits: { readyMs: 200, maxRestarts: 0 } })
  await t.rejects(supervisor.start(), ServiceEnded)
  await next('hung')

  const stubborn = supervise(t, dir, { limits: { endMs: 50 } })
  const refused = t.rejects(stubborn.supervisor.start(), ServiceEnded)
  await stubborn.supervisor.stop()
  t.match(await stubborn.next('exit'), { signal: 'SIGKILL' })
  await refused
})

t.test('does not restart what ended by itself, what cannot work and what does not exist', async (t) => {
  const dir = place(t)
  const left = supervise(t, dir)
  await fetch(`${(await left.supervisor.start()).url}/leave`).catch(() => {})
  t.match(await left.supervisor.ended, { code: 0 })
  t.notOk(left.events.some(({ event }) => event === 'restart'))

  for (const [args, code, sentence] of [
    [[SERVER, '--port', 'nonsense'], 64, /exited with 64: it was started with wrong arguments/],
    [[SERVER, '--no-such-option'], 64, /exited with 64/]
  ] as const) {
    const { supervisor, events } = supervise(t, dir, { args, env: { ...process.env, LOCAL_AGENT_HOME: `${dir}/home` } })
    const error = await supervisor.start().then(() => t.fail('it started'), (error: ServiceEnded) => error)
    t.match(error, { message: sentence, exit: { code } })
    t.ok((error as ServiceEnded).log.some((line) => line.includes('--')), 'the log says what was wrong')
    t.notOk(events.some(({ event }) => event === 'restart'))
  }

  for (const [options, sentence] of [
    [{ command: `${dir}/no-such-command` }, /exited with 127: its program was not found \(spawn .*no-such-command ENOENT\)\.$/],
    [{ args: [`${dir}/no-such-file.js`] }, /its program was not found \(The file of the service is not there: .*no-such-file\.js\)\.$/],
    [{ cwd: `${dir}/nowhere` }, /\(The folder in which the service is to start is not there: .*nowhere\)\.$/]
  ] as const) {
    const { supervisor, events } = supervise(t, dir, options)
    await t.rejects(supervisor.start(), { name: 'ServiceEnded', message: sentence })
    t.same(events.map(({ event }) => event), ['starting', 'exit', 'gave-up'], 'it says so at once')
    t.same(await supervisor.ended, { code: 127, signal: null })
  }
})

t.test('finds the service of its package by itself, also out of a bundle of an app', async (t) => {
  const dir = place(t)
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const options = { args: ['--port', '0'], cwd: `${dir}/work`, env: { PATH: '', LOCAL_AGENT_HOME: `${dir}/home` } }
  // The built one, as an application imports it.
  const { createSupervisor } = await import('local-agent-service/supervisor')
  const supervisor = createSupervisor({ ...options, onLog: () => {} })
  atEnd(t, () => supervisor.stop())
  const { url } = await supervisor.start()
  t.equal((await fetch(`${url}/health`)).status, 200)
  await supervisor.stop()

  const app = `
    import { createSupervisor } from 'local-agent-service/supervisor'
    const supervisor = createSupervisor({ ...${JSON.stringify(options)}, onLog () {} })
    supervisor.start().then(({ version }) => console.log(version), ({ message }) => console.log(message)).then(supervisor.stop)
  `
  mkdirSync(`${dir}/node_modules`)
  symlinkSync(root, `${dir}/node_modules/local-agent-service`, 'junction')
  const outfile = `${dir}/app.cjs`
  await bundle({ stdin: { contents: app, resolveDir: root }, outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'silent' })
  const { stdout } = await promisify(execFile)(process.execPath, [outfile])
  t.match(stdout, /^\d+\.\d+\.\d+\+/)
})

t.test('reads a ready line in pieces among broken ones, and keeps no endless line of the log', async (t) => {
  const script = FAKE.replace('console.log(', `
    console.log('{"event":"ready" and broken')
    process.stderr.write('x'.repeat(3_000_000))
    const write = async (line) => {
      for (const piece of line.match(/.{1,9}/g)) await new Promise((resolve) => process.stdout.write(piece, resolve))
      console.log('')
      console.error('')
    }
    write(`)
  const { supervisor, log } = supervise(t, place(t, script))
  t.match(await supervisor.start(), { version: '1.2.3' })
  await supervisor.stop()
  t.same(log.map((line) => line.length < 70_000), [true, true])
  t.match(log[1], /^x+ …$/)
})

t.test('a ready line of a process that an ended service left behind is no service', { skip: posix }, async (t) => {
  const dir = place(t)
  const ready = JSON.stringify({ event: 'ready', url: 'http://127.0.0.1:1', port: 1, pid: 1, version: '1' })
  const child = spawn('sh', ['-c', `(until [ -e '${dir}/go' ]; do sleep 0.02; done; echo '${ready}') & exit 1`])
  const { supervisor, events, next } = supervise(t, dir, { start: () => child, limits: { maxRestarts: 0 } })
  await t.rejects(supervisor.start(), ServiceEnded)
  await next('gave-up')
  writeFileSync(`${dir}/go`, '')
  await once(child.stdout, 'close')
  t.equal(supervisor.ready, undefined)
  t.same(events, [])
})

t.test('an app whose stderr was closed goes on while the service logs', async (t) => {
  const dir = place(t)
  const app = `
    import { once } from 'node:events'
    import { createSupervisor } from '${new URL('../../dist/supervisor/index.js', import.meta.url).href}'
    await once(process.stdin, 'data')
    const supervisor = createSupervisor({ command: process.execPath, args: [${JSON.stringify(`${dir}/fake.mjs`)}] })
    const { version } = await supervisor.start()
    await supervisor.stop()
    process.stdout.write(version, () => process.exit())
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', app])
  const closed = once(child.stderr, 'close')
  child.stderr.destroy()
  await closed
  child.stdin.write('go')
  t.same(await once(child.stdout.setEncoding('utf8'), 'data'), ['1.2.3'])
  t.same(await once(child, 'exit'), [0, null])
})

t.test('a stop ends a wait for the restart, may be repeated, and starts no service that was not started', async (t) => {
  const dir = place(t, 'process.exit(1)')
  const waiting = supervise(t, dir, { limits: { backoffMs: 60_000 } })
  const refused = t.rejects(waiting.supervisor.start(), ServiceEnded)
  await waiting.next('restart')
  await Promise.all([waiting.supervisor.stop(), waiting.supervisor.stop()])
  await refused
  t.notOk(waiting.events.some(({ event }) => event === 'starting'))

  const unused = supervise(t, dir)
  await unused.supervisor.stop()
  await t.rejects(unused.supervisor.start(), /was stopped/)
  t.same(unused.events, [])

  const failing = supervise(t, dir, { start () { throw new Error('no such thing') } })
  await t.rejects(failing.supervisor.start(), /no such thing/)
  await t.resolves(failing.supervisor.stop(), 'who stops it learns nothing new')
})

t.test('runs the real service over kills, always on its first port, with the token from its standard input', { skip: posix }, async (t) => {
  const dir = place(t)
  const { supervisor, next } = supervise(t, dir, {
    args: [SERVER, '--port', '0'],
    cwd: `${dir}/work`,
    env: { PATH: process.env.PATH, LOCAL_AGENT_HOME: `${dir}/home` },
    secrets: { token: 'a-token-of-the-shell' }
  })
  const { url } = await supervisor.start()
  for (let n = 0; n < 2; n++) {
    const { url: now, pid } = await supervisor.start()
    t.equal(now, url)
    t.equal((await fetch(`${url}/threads`)).status, 401)
    t.equal((await fetch(`${url}/threads`, { headers: { authorization: 'Bearer a-token-of-the-shell' } })).status, 200)
    process.kill(pid, 'SIGKILL')
    await next('restart')
  }
  await supervisor.start()
  await supervisor.stop()
  t.same(await supervisor.ended, { code: 0, signal: null })
})

t.test('asks anew for what a person is to be told when the service breaks off, and leaves no connection behind', async (t) => {
  const stop = new AbortController()
  const shown: string[] = []
  const ends: Array<Promise<unknown>> = []
  let events: ServerResponse | undefined
  const server = createServer((request, response) => {
    if (request.url!.startsWith('/events')) {
      events = response
      ends.push(once(response, 'close'))
      response.write('data: {"type":"notif')
      return
    }
    // The second connection is cut within an event.
    if (ends.length === 2) events!.destroy()
    response.statusCode = ends.length === 1 ? 500 : 200
    const open = { notifications: [{ notificationId: 'n', needsShowing: true }] }
    response.end(JSON.stringify(request.method === 'GET' ? open : { first: true }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  atEnd(t, async () => {
    stop.abort()
    server.closeAllConnections()
    server.close()
  })
  const followed = followNotifications({ url: `http://127.0.0.1:${port}`, signal: stop.signal }, {
    onNotification ({ notificationId }) {
      shown.push(notificationId)
      if (ends.length === 3) stop.abort()
    }
  })
  await followed
  await Promise.all(ends)
  t.equal(ends.length, 3)
  t.ok(shown.includes('n'))
})

t.test('hands over what a person is to be told, once, and says when it is over', async (t) => {
  const dir = place(t)
  const told: Notification[] = []
  const closed: string[] = []
  let move = () => {}
  const until = async (isThere: () => boolean) => {
    while (!isThere()) await new Promise<void>((resolve) => { move = resolve })
  }
  const { supervisor } = supervise(t, dir, {
    args: [SERVER, '--port', '0'],
    cwd: `${dir}/work`,
    env: { ...process.env, LOCAL_AGENT_HOME: `${dir}/home` },
    secrets: { token: 'a-token' },
    onNotification (notification) {
      told.push(notification)
      move()
    },
    onNotificationClosed (id) {
      closed.push(id)
      move()
    }
  })
  const { url } = await supervisor.start()
  const headers = { authorization: 'Bearer a-token', 'content-type': 'application/json' }
  const ask = async (path: string, body?: object): Promise<any> =>
    (await fetch(`${url}${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })).json()
  const { id } = await ask('/tasks', { goal: 'write "x" to a.txt', approval: { mode: 'always' } })
  await ask(`/tasks/${id}/run`, {})
  await until(() => told.length > 0)
  t.match(told, [{ kind: 'waiting', taskId: id, title: /approval of a call/, reminder: false }])
  const [{ notificationId, waitsFor: [{ approvalId }], needsShowing }] = (await ask('/notifications')).notifications
  t.same([notificationId, needsShowing], [told[0].notificationId, false], 'it has said that it shows it')
  await ask(`/approvals/${approvalId}`, { approved: false })
  await until(() => closed.length > 0)
  t.same(closed, [notificationId])
})
