// The built service on the small disk at the directory given: runs it full, makes room again, restarts, starts with no
// room at all; prints what was seen as one line of JSON.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { encryptBackup } from '../../services/store/backup/backup-format.ts'
import { migrations, newestOf } from '../../services/store/migrations.ts'
import { imported, noise, PASSPHRASE } from '../faults/backup.ts'
import { rotate } from '../faults/rotate.ts'
import { sendBytes } from '../harness/raw.ts'
import { spawnService, startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'

const home = process.argv[2]
// Elsewhere, so that what a run works on takes none of the room.
const cwd = mkdtempSync(join(tmpdir(), 'full-disk-'))
const ballast = `${home}/ballast`
// Also when this fails: no service is left, nor the folder.
const own = { teardown: (end: () => unknown) => process.once('exit', end) }
own.teardown(() => rmSync(cwd, { recursive: true, force: true }))
// Compiled code would be kept on this disk, too, whenever it is written: what finds room would be left to chance.
const disk = { home, cwd, env: { NODE_DISABLE_COMPILE_CACHE: '1' } }
// Fewer facts fit beside it (less than 1.5 MiB) than can be known. They are written twice when the store comes back.
writeFileSync(ballast, Buffer.alloc(10.5 * 1024 * 1024))
// Each attempt of the store to come back frees a page for a moment, which a small file could find by chance.
const long = 'x'.repeat(256 * 1024)
const config = JSON.stringify({ mine: 'kept', permissions: { listDirectory: 'ask' }, long })
writeFileSync(`${home}/config.json`, config)

function fill () {
  try {
    for (;;) appendFileSync(ballast, Buffer.alloc(4096))
  } catch {}
}

let service = await startService(own, disk)
const post = async (path: string, body: object) => {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: await response.json() as any }
}
const get = async (path: string) => (await fetch(service.url + path)).json() as any
const facts = async () => (await get('/memory/brain')).brain.facts as string[]
const run = async (content: string) => {
  const { status, text, events } = await postEvents(`${service.url}/run`, { messages: [{ role: 'user', content }], id: 'chat' })
  return { status, events, text }
}

const first = await run('list the files here')
const asked = first.events.find(({ type }) => type === 'tool-approval-request')
if (asked === undefined) throw new Error(`no approval was asked for: ${first.text}`)
const acknowledged: string[] = []
const learn = async (n: number) => {
  const fact = `${n} ${noise(1_425)}`
  const answer = await post('/memory/brain/fact', { fact })
  if (answer.status === 200) acknowledged.push(fact)
  return answer
}
let refusal = await learn(0)
for (let n = 1; refusal.status === 200 && n < 1_000; n++) refusal = await learn(n)
if (refusal.status === 200) throw new Error('the disk did not run full while facts were learned')
// What the store's own attempts leave free must not be enough either.
fill()
const full = {
  refusal,
  health: await get('/health'),
  brain: (await fetch(`${service.url}/memory/brain`)).status,
  run: await run('hello'),
  approve: await postEvents(`${service.url}/run/approve`, {
    messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId: asked.approvalId, approved: true }] }]
  }).then(({ status, events }) => ({ status, events })),
  configure: await post('/providers/configure', { model: 'offline/scripted' }),
  key: await post('/providers/configure', { gateway_key: 'a-key-that-finds-no-room' }),
  about: await get('/'),
  isConfigAsBefore: readFileSync(`${home}/config.json`, 'utf8') === config
}

rmSync(ballast)
const freed = performance.now()
while ((await get('/health')).status !== 'ok' && performance.now() - freed < 30_000) await wait(50)
const saved = () => {
  const { long: kept, ...others } = JSON.parse(readFileSync(`${home}/config.json`, 'utf8'))
  return { ...others, isLongKept: kept === long }
}
const after = {
  health: await get('/health'),
  brain: await facts(),
  learned: (await learn(1_000)).status,
  configured: (await post('/providers/configure', { model: 'offline/scripted' })).status,
  config: saved(),
  approved:
    (await postEvents(`${service.url}/run/approve`, {
      messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId: asked.approvalId, approved: true }] }]
    })).events.map(({ type }) => type)
}

// Backups for which there is no room: as sent, and as new data beside what was sent.
const send = async (backup: Buffer) => ({
  ...await imported(service.url, backup),
  left: readdirSync(home).filter((name) => /next|import/.test(name)),
  health: (await get('/health')).status,
  brain: await facts()
})
const { bavail, bsize } = statfsSync(home)
const record = JSON.stringify(['message/x/0', { text: noise(200_000) }])
const head = [{ backup: 1, schema: newestOf(migrations), digestKey: noise(32), createdAt: 1, version: '0' }, { config: {} }]
  .map((line) => JSON.stringify(line))
const count = Math.floor(bavail * bsize * 0.7 / record.length)
const pieces: Buffer[] = []
for await (
  const piece of encryptBackup([...head, ...Array<string>(count).fill(record), JSON.stringify({ end: count })], PASSPHRASE)
) pieces.push(piece)
const tooLarge = Buffer.alloc(64 * 1024 * 1024)
const checked = (await imported(service.url, Buffer.concat(pieces), {}, '/import/check')).body
const imports = [await send(tooLarge), await send(Buffer.concat(pieces)), await send(tooLarge)]
// The client reads the refusal although more than 16 MiB are still to be sent; the connection is closed then.
const connection = [
  'POST /import HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\nx-export-passphrase: ' +
  `${PASSPHRASE}\r\nContent-Length: ${tooLarge.length}\r\n\r\n`,
  tooLarge
]
const { status: whileSending } = await sendBytes(Number(new URL(service.url).port), ...connection)

await service.stop()
service = await startService(own, disk)
await post('/threads', { messages: [{ role: 'user', content: noise(700_000) }] })
await post('/threads', { messages: [{ role: 'user', content: noise(700_000) }] })
const again = { health: await get('/health'), brain: await facts() }
await service.stop()

writeFileSync(ballast, Buffer.alloc(statfsSync(home).bavail * bsize - 1024 * 1024))
const unchanged = await rotate(home)
rmSync(ballast)
fill()
const hopeless = spawnService(disk)
const { code } = await hopeless.exited
const refused = { code, out: hopeless.out(), log: hopeless.log() }
rmSync(ballast)
service = await startService(own, disk)
const back = { health: await get('/health'), brain: await facts() }
await service.stop()
console.log(JSON.stringify({ acknowledged, full, after, imports, whileSending, again, unchanged, refused, back, checked }))
