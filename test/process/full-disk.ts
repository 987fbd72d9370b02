// The built service on the small disk at the directory given: runs it full, makes room again, restarts, starts with no
// room at all; prints what was seen as one line of JSON.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { spawnService, startService } from '../sidecar.ts'
import { postEvents } from '../sse.ts'

const home = process.argv[2]
const cwd = '/'
const ballast = `${home}/ballast`
const own = { teardown () {} }
writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024))
writeFileSync(`${home}/config.json`, '{"mine": "kept", "permissions": {"listDirectory": "ask"}}')

function fill () {
  try {
    for (;;) appendFileSync(ballast, Buffer.alloc(4096))
  } catch {}
}

let service = await startService(own, { home, cwd })
const post = async (path: string, body: object) => {
  const response = await fetch(service.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() as any }
}
const get = async (path: string) => (await fetch(service.url + path)).json() as any
const facts = async () => (await get('/memory/brain')).brain.facts as string[]
const run = async (content: string) => {
  const { status, text, events } = await postEvents(`${service.url}/run`, { messages: [{ role: 'user', content }], id: 'chat' })
  return { status, events, text }
}

const asked = (await run('list the files here')).events.find(({ type }) => type === 'tool-approval-request')
const acknowledged: string[] = []
const learn = async (n: number) => {
  const fact = `${n} ${'x'.repeat(1_900)}`
  const answer = await post('/memory/brain/fact', { fact })
  if (answer.status === 200) acknowledged.push(fact)
  return answer
}
let refusal = await learn(0)
for (let n = 1; refusal.status === 200 && n < 1_000; n++) refusal = await learn(n)
// What the store's own attempts leave free must not be enough either.
fill()
const full = {
  refusal,
  health: await get('/health'),
  brain: (await fetch(`${service.url}/memory/brain`)).status,
  run: await run('hello'),
  approve: await postEvents(`${service.url}/run/approve`, { messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId: asked!.approvalId, approved: true }] }] }).then(({ status, events }) => ({ status, events })),
  configure: await post('/providers/configure', { model: 'offline/scripted' }),
  key: await post('/providers/configure', { gateway_key: 'a-key-that-finds-no-room' }),
  about: await get('/'),
  config: readFileSync(`${home}/config.json`, 'utf8')
}

rmSync(ballast)
const freed = performance.now()
while ((await get('/health')).status !== 'ok' && performance.now() - freed < 30_000) await wait(50)
const after = {
  health: await get('/health'),
  brain: await facts(),
  learned: (await learn(1_000)).status,
  configured: (await post('/providers/configure', { model: 'offline/scripted' })).status,
  config: JSON.parse(readFileSync(`${home}/config.json`, 'utf8')),
  approved: (await postEvents(`${service.url}/run/approve`, { messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId: asked!.approvalId, approved: true }] }] })).events.map(({ type }) => type)
}
await service.stop()
service = await startService(own, { home, cwd })
const again = { health: await get('/health'), brain: await facts() }
await service.stop()

fill()
const hopeless = spawnService({ home, cwd })
const { code } = await hopeless.exited
const refused = { code, out: hopeless.out(), log: hopeless.log() }
rmSync(ballast)
service = await startService(own, { home, cwd })
const back = { health: await get('/health'), brain: await facts() }
await service.stop()
console.log(JSON.stringify({ acknowledged, full, after, again, refused, back }))
