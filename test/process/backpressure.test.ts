import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import t from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { startService } from '../harness/sidecar.ts'
import { postEvents, textOf } from '../harness/sse.ts'

const MiB = 1024 * 1024
const PAUSED = 12
/** The service drops a reader that takes nothing for this long, and its run with it (`docs/limits.md`). Milliseconds. */
const STALL_MS = 30_000
/** More than all the sockets on the way hold, and than a run may say. An answer that repeats itself would be ended. */
const ANSWER = Array.from({ length: 640 }, () => randomBytes(48 * 1024).toString('base64'))

/** Resident memory of a process, bytes. */
const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024

t.test('readers that stop reading cost little memory and hold up nobody else', { skip: process.platform !== 'linux' }, async (t) => {
  const gateway = await startFakeGateway({
    reply: ({ body }) => ({ text: JSON.stringify(body.prompt).includes('quick') ? 'a quick answer' : ANSWER })
  })
  t.teardown(() => gateway.close())
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ model: 'test/model', analysis: false }) }, work: {} })
  const service = await startService(t, {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    // A service with the compiled code of an earlier one begins with less memory, and grows by more.
    env: { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url, NODE_COMPILE_CACHE: undefined }
  })
  const quick = () => postEvents(`${service.url}/run`, { messages: [{ role: 'user', content: 'quick' }] })
  for (let n = 0; n < 20; n++) await quick()
  const startReaders = () => Promise.all(Array.from({ length: PAUSED }, async () => {
    const sent = request(`${service.url}/run`, { method: 'POST', headers: { 'content-type': 'application/json' } })
    sent.on('error', () => {})
    sent.end(JSON.stringify({ messages: [{ role: 'user', content: 'long' }] }))
    const [response] = await once(sent, 'response') as [IncomingMessage]
    response.on('error', () => {})
    await once(response, 'readable')
    return sent
  }))
  // A young service grows by what it compiles, readers or not.
  for (const reader of await startReaders()) reader.destroy()
  for (let n = 0; n < 600; n++) await quick()
  const before = memoryOf(service.pid)
  const earlier = gateway.requests.length

  const startedAt = performance.now()
  const readers = await startReaders()
  for (let n = 0; n < 20; n++) t.equal(textOf((await quick()).events), 'a quick answer')
  const grown = (memoryOf(service.pid) - before) / MiB
  // Unread, the answers are 480 MiB.
  t.ok(grown < 120, `${grown.toFixed(0)} MiB more while ${PAUSED} readers do not read`)

  const long = gateway.requests.slice(earlier).filter(({ body }) => !JSON.stringify(body.prompt).includes('quick'))
  const states = await Promise.all(long.map(({ ended }) => Promise.race([ended, 'held back'])))
  const isOverdue = performance.now() - startedAt > STALL_MS
  // A busy machine may take longer than the service waits for a reader. Then it has dropped them; it has never read on for them.
  const expected = states.map((state) => isOverdue && state === 'aborted' ? state : 'held back')
  t.same(states, expected, 'their models wait, too')
  t.equal(states.length, PAUSED)

  for (const reader of readers) reader.destroy()
  t.match(await service.stop(), { code: 0 })
})
