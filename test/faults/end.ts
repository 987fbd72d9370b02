import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import type { Test } from 'tap'
import { allGone } from '../services/process/alive.ts'
import { misbehaving } from '../harness/mcp.ts'
import { startService } from '../harness/sidecar.ts'
import { connectTo, openRaw, startLoaded } from './load.ts'

/** A command that ignores TERM, as does its child; both say who they are. */
const STUBBORN = "trap '' TERM; sleep 60 & echo $$ $! >> pids; sleep 60"
const FLOOD = Array.from({ length: 640 }, () => 'x'.repeat(64 * 1024))

/** Task runs that work at once, by default. */
const WORKING = 4

/**
 * SIGTERM while everything is open, `many` of each: streams, synchronous runs, commands that ignore TERM, also of task
 * runs, event listeners, readers that take nothing, requests and a backup sent by halves, idle connections, questions, and writes that
 * go on until they are refused; and a tool server. On a machine that is `loaded` the end may be cut off.
 */
export async function endWithEverythingOpen (t: Test, many: number, { loaded = false } = {}) {
  const { service, where } = await startLoaded(t, ({ body }) => {
    const said = JSON.stringify(body.prompt.at(-1))
    if (body.prompt.at(-1).role === 'user' && said.includes('command')) {
      return { toolCalls: [{ toolName: 'runCommand', input: { command: STUBBORN } }] }
    }
    if (said.includes('ask')) return { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'a' } }] }
    if (said.includes('flood')) return { text: FLOOD }
    return { text: ['waiting ', 'never'], ending: 'stall', after: 4 }
  }, { config: { permissions: { runCommand: 'allow' }, commands: { sandbox: 'off' } } })
  const post = (path: string, body: object) =>
    fetch(service.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const say = (content: string) => post('/run', { messages: [{ role: 'user', content }] })
  const working = Math.min(many, WORKING)
  const each = <T>(open: (n: number) => Promise<T>) => Promise.all(Array.from({ length: many }, (_, n) => open(n)))

  await each(async () => (await say('ask')).text())
  const open = await each(() => say('wait'))
  const endings = open.map((response) => response.text().catch(() => 'cut'))
  const synchronous = Array.from(
    { length: many },
    () => post('/run/sync', { messages: [{ role: 'user', content: 'wait' }] }).then(({ status }) => status, () => 'cut')
  )
  t.match(await (await post('/mcp/connect', misbehaving())).json(), { status: 'connected' })
  await each(async () => once(await openRaw(t, service, '/tasks/events'), 'data'))
  for (let n = 0; n < working; n++) {
    const { id } =
      await (await post('/tasks', { goal: 'a command', approval: { mode: 'never' }, plan: { phases: [{ description: 'run' }] } }))
        .json() as { id: string }
    await fetch(`${service.url}/tasks/${id}/start`, { method: 'POST' })
  }
  // Read to their ends: fetch drops a connection whose response nobody holds, and the service stops the run of a client that is gone.
  endings.push(...(await each(() => say('command'))).map((response) => response.text().catch(() => 'cut')))
  await each(async () => once(await openRaw(t, service, '/run', { messages: [{ role: 'user', content: 'flood' }] }), 'readable'))
  await each(async (n) =>
    (await connectTo(t, service)).write(
      'POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"mess'.slice(
        0,
        n % 2 === 0 ? undefined : 30
      )
    )
  )
  await each(async () => once(await openRaw(t, service, '/health'), 'data'))
  await each(() => connectTo(t, service))
  ;(await connectTo(t, service)).write(
    'POST /import HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nX-Export-Passphrase: a ' +
    'passphrase\r\nContent-Length: 100000\r\n\r\nbegun'
  )
  const pids = () => existsSync(`${where.cwd}/pids`) ? readFileSync(`${where.cwd}/pids`, 'utf8').trim().split(/\s+/).map(Number) : []
  while (pids().length < 2 * (many + working)) await new Promise((resolve) => setTimeout(resolve, 20))

  const acknowledged: string[] = []
  const wrote = Promise.withResolvers<void>()
  const writing = each(async (n) => {
    for (let seq = 0; ; seq++) {
      const fact = `fact ${n} ${seq}`
      const answer = await post('/memory/brain/fact', { fact }).catch(() => undefined)
      if (answer?.status !== 200) return
      acknowledged.push(fact)
      wrote.resolve()
    }
  })
  await wrote.promise
  const { code, signal } = await service.stop()
  t.same({ code, signal }, { code: 0, signal: null })
  if (!loaded) {
    t.notMatch(service.log(), /did not (close|end)/, 'in time, without being cut off')
    for (const ending of endings) t.match(await ending, /"type":"abort"[\s\S]*"type":"finish"/, 'a stream gets its last events')
    t.same(await Promise.all(synchronous), Array(many).fill(200), 'and a synchronous run its answer')
  }
  await writing
  await t.resolves(allGone(pids(), loaded ? 5_000 : 0), 'no process is left')

  const again = await startService(t, where)
  const { brain: { facts } } = await (await fetch(`${again.url}/memory/brain`)).json() as { brain: { facts: string[] } }
  t.same(acknowledged.filter((fact) => !facts.includes(fact)), [], `none of ${acknowledged.length} acknowledged writes is lost`)
  const { approvals } = await (await fetch(`${again.url}/approvals`)).json() as { approvals: object[] }
  t.equal(approvals.length, many, 'the questions are still open')
  t.match(await again.stop(), { code: 0 })
}
