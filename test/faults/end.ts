import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import type { Test } from 'tap'
import { allGone } from '../services/process/alive.ts'
import { startService } from '../sidecar.ts'
import { connectTo, openRaw, startLoaded } from './load.ts'

/** A command that ignores TERM, as does its child; both say who they are. */
const STUBBORN = "trap '' TERM; sleep 60 & echo $$ $! >> pids; sleep 60"
const FLOOD = Array.from({ length: 640 }, () => 'x'.repeat(64 * 1024))

/**
 * SIGTERM while everything is open, `many` of each: streams, commands that ignore TERM, readers that take nothing,
 * requests sent by halves, idle connections, questions, and writes that go on until they are refused.
 */
export async function endWithEverythingOpen (t: Test, many: number) {
  const { service, where } = await startLoaded(t, ({ body }) => {
    const said = JSON.stringify(body.prompt.at(-1))
    if (said.includes('command')) return { toolCalls: [{ toolName: 'runCommand', input: { command: STUBBORN } }] }
    if (said.includes('ask')) return { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'a' } }] }
    if (said.includes('flood')) return { text: FLOOD }
    return { text: ['waiting ', 'never'], ending: 'stall', after: 4 }
  }, { config: { permissions: { runCommand: 'allow' } } })
  const post = (path: string, body: object) => fetch(service.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const say = (content: string) => post('/run', { messages: [{ role: 'user', content }] })
  const each = <T>(open: (n: number) => Promise<T>) => Promise.all(Array.from({ length: many }, (_, n) => open(n)))

  await each(async () => (await say('ask')).text())
  const open = await each(() => say('wait'))
  const endings = open.map((response) => response.text().catch(() => 'cut'))
  await each(() => say('command'))
  await each(async () => once(await openRaw(t, service, '/run', { messages: [{ role: 'user', content: 'flood' }] }), 'readable'))
  await each(async (n) => (await connectTo(t, service)).write('POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"mess'.slice(0, n % 2 === 0 ? undefined : 30)))
  await each(async () => once(await openRaw(t, service, '/health'), 'data'))
  await each(() => connectTo(t, service))
  const pids = () => existsSync(`${where.cwd}/pids`) ? readFileSync(`${where.cwd}/pids`, 'utf8').trim().split(/\s+/).map(Number) : []
  while (pids().length < 2 * many) await new Promise((resolve) => setTimeout(resolve, 20))

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
  t.notMatch(service.log(), /did not close/, 'in time, without being ended')
  for (const ending of endings) t.match(await ending, /"type":"abort"[\s\S]*"type":"finish"/, 'a stream gets its last events')
  await writing
  await t.resolves(allGone(pids(), 0), 'no process is left')

  const again = await startService(t, where)
  const { brain: { facts } } = await (await fetch(`${again.url}/memory/brain`)).json() as { brain: { facts: string[] } }
  t.same(acknowledged.filter((fact) => !facts.includes(fact)), [], `none of ${acknowledged.length} acknowledged writes is lost`)
  const { approvals } = await (await fetch(`${again.url}/approvals`)).json() as { approvals: object[] }
  t.equal(approvals.length, many, 'the questions are still open')
  t.match(await again.stop(), { code: 0 })
}
