import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { startFakeGateway, type FakeGatewayOptions } from '../fakes/gateway.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'

const MiB = 1024 * 1024

/** The built service with a model behind a gateway. */
export async function startLoaded (
  t: Test,
  reply: FakeGatewayOptions['reply'],
  { config, files = {} }: { config?: object, files?: Record<string, string> } = {}
) {
  const gateway = await startFakeGateway({ reply, record: false })
  t.teardown(() => gateway.close())
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ model: 'test/model', analysis: false, ...config }) }, work: files })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  return { where, service: await startService(t, { ...where, env: { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url } }) }
}

/** A connection that says nothing yet. */
export async function connectTo (t: Test, { url }: Sidecar): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** A connection that has sent a request and reads nothing unless it is told to. */
export async function openRaw (t: Test, service: Sidecar, path: string, body?: object): Promise<Socket> {
  const socket = await connectTo(t, service)
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
  socket.write(`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: localhost\r\n${head}\r\n${text}`)
  return socket
}

export const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
export const openFiles = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

const FORMS = [
  { path: '/run', message: (text: string) => ({ role: 'user', content: text }) },
  { path: '/run?protocol=ui', message: (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] }) },
  { path: '/run?protocol=ui5', message: (text: string) => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] }) },
  { path: '/run/sync', message: (text: string) => ({ role: 'user', content: text }) }
]

/** Runs side by side, in all dialects, each with a word of its own in its message and one in a file that its tool reads. */
export async function crosstalk (t: Test, runs: number) {
  const words = (text: string) => new Set(text.match(/canary-\d+-/g))
  const canary = (n: number) => `canary-${n}-`
  const foreign: string[] = []
  const { service } = await startLoaded(t, ({ body }) => {
    const heard = [...words(JSON.stringify(body.prompt))]
    if (heard.length !== 1) foreign.push(heard.join())
    const isFirst = body.prompt.at(-1).role === 'user'
    const pieces = Array.from({ length: 20 }, (_, n) => `${n} ${heard[0]} `)
    return isFirst
      ? { text: pieces, toolCalls: [{ toolCallId: 'call_0', toolName: 'readFile', input: { path: `${heard[0]}.txt` } }], partMs: 1 }
      : { text: pieces, partMs: 1 }
  }, { files: Object.fromEntries(Array.from({ length: runs }, (_, n) => [`${canary(n)}.txt`, `in the file: ${canary(n)}`])) })

  const answers = await Promise.all(Array.from({ length: runs }, async (_, n) => {
    const { path, message } = FORMS[n % FORMS.length]
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [message(canary(n))] })
    })
    return { status: response.status, text: await response.text(), thread: response.headers.get('x-thread-id') }
  }))
  t.same(foreign, [], 'no model hears of another conversation')
  for (const [n, { status, text }] of answers.entries()) {
    const whole = status === 200 && text.includes(`in the file: ${canary(n)}`) && text.includes(`19 ${canary(n)}`)
    if (!whole || words(text).size !== 1) t.fail(`run ${n} was told ${status} ${[...words(text)]}`, { text })
  }
  const threads = answers.flatMap(({ thread }) => thread ?? [])
  t.equal(new Set(threads).size, threads.length, 'each has a conversation of its own')
  t.match(await service.stop(), { code: 0 })
}

/** As many runs as may be, all at once: the next one is refused until one has ended, and then is not. */
export async function fullHouse (t: Test, limit: number) {
  const { service } = await startLoaded(t, () => ({ text: ['waiting ', 'never'], ending: 'stall', after: 4 }), {
    config: limit === 128 ? {} : { limits: { liveRuns: limit } }
  })
  const sockets = await Promise.all(
    Array.from({ length: limit + 10 }, (_, n) =>
      openRaw(t, service, '/run', { messages: [{ role: 'user', content: 'go' }], id: `chat ${n}`, resumable: true }))
  )
  const told = await Promise.all(
    sockets.map(async (socket, n) => ({ id: `chat ${n}`, status: Number(String((await once(socket, 'data'))[0]).slice(9, 12)) }))
  )
  t.equal(told.filter(({ status }) => status === 200).length, limit)
  t.equal(told.filter(({ status }) => status === 429).length, 10)
  const live = told.filter(({ status }) => status === 200)
  const run = (id: string) =>
    fetch(`${service.url}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'me too' }], id })
    })
  for (const { id } of live.slice(0, 5)) {
    const refused = await run('late')
    t.match([refused.status, await refused.json()], [429, { code: 'ERR_TOO_MANY_RUNS' }])
    t.equal((await fetch(`${service.url}/run/${encodeURIComponent(id)}/stop`, { method: 'POST' })).status, 200)
    const taken = await run(`after ${id}`)
    t.equal(taken.status, 200, 'the place of the one that ended is free at once')
    t.teardown(() => taken.body?.cancel().catch(() => {}))
  }
  t.equal((await fetch(`${service.url}/health`)).status, 200)
  t.match(await service.stop(), { code: 0 })
}

/**
 * Readers that take nothing until they are told to, through buffers of a few KiB: those that systems give to loopback
 * connections may hold more than a whole stream, and Node cannot make them smaller.
 */
async function silentReaders (t: Test, { url }: Sidecar, { count, path }: { count: number, path: string }) {
  const child = spawn('perl', [fileURLToPath(new URL('silent-readers.pl', import.meta.url)), new URL(url).port, String(count), path], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return {
    /** Takes what is there until each connection ends: so many bytes each. */
    async readNow (): Promise<number[]> {
      child.stdin.end('go\n')
      const { value } = await lines.next()
      return value!.split(' ').map(Number)
    }
  }
}

/** Returns a text of this length that no other number has, and that repeats nothing of itself. */
const distinct = (n: number, length: number): string =>
  Array.from({ length: Math.ceil(length / 8) }, (_, at) => (n * 1_000 + at).toString(36).padStart(7, '0') + ' ').join('').slice(0, length)

/**
 * Many follow one run, some of them never read. Those get the dialect that says everything twice: so much, 4 KiB a
 * piece, must be more than the service's buffers and those of its sockets hold.
 */
export async function readers (t: Test, { reading, silent, pieces }: { reading: number, silent: number, pieces: number }) {
  const piece = 'x'.repeat(4096)
  const everybody = Promise.withResolvers<void>()
  const { service } = await startLoaded(t, async ({ body }) => {
    if (JSON.stringify(body.prompt.at(-1)).includes('quick')) return { text: 'quick' }
    await everybody.promise
    // Each differs: a text that repeats its own tail is cut off.
    return { text: Array.from({ length: pieces }, (_, n) => distinct(n, piece.length)), partMs: 1 }
  })
  const quick = () => postEvents(`${service.url}/run`, { messages: [{ role: 'user', content: 'quick' }] })
  await quick()
  const before = { memory: memoryOf(service.pid), files: openFiles(service.pid) }
  let most = 0
  const checks = { stop: false, statuses: new Set<number>(), slowest: 0 }
  const checking = (async () => {
    while (!checks.stop) {
      const asked = performance.now()
      checks.statuses.add((await fetch(`${service.url}/health`)).status)
      checks.slowest = Math.max(checks.slowest, performance.now() - asked)
      most = Math.max(most, memoryOf(service.pid))
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()

  const starter = await openRaw(t, service, '/run', { messages: [{ role: 'user', content: 'long' }], id: 'chat', resumable: true })
  const follow = async () => {
    const socket = await openRaw(t, service, '/run/chat/stream?protocol=ui')
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    let bytes = 0
    let end = ''
    return {
      read () {
        socket.on('data', (chunk) => {
          begun.resolve()
          bytes += chunk.length
          end = (end + chunk.subarray(-1_000)).slice(-1_000)
          if (end.includes('"finish"')) ended.resolve()
        })
        socket.on('close', () => ended.resolve())
        return this
      },
      socket,
      begun: begun.promise,
      ended: ended.promise,
      isWhole: () => bytes > pieces * piece.length && end.includes('"finish"')
    }
  }
  await once(starter, 'data')
  starter.resume()
  const idle = await silentReaders(t, service, { count: silent, path: '/run/chat/stream?protocol=documented' })
  const active = await Promise.all(Array.from({ length: reading }, async () => (await follow()).read()))
  await Promise.all(active.map(({ begun }) => begun))
  everybody.resolve()
  await Promise.all(active.map(({ ended }) => ended))
  t.equal(active.filter(({ isWhole }) => isWhole()).length, reading, 'all who read get all of it')
  t.equal((await quick()).status, 200)
  for (const { socket } of active) socket.destroy()
  starter.destroy()
  while (openFiles(service.pid) > before.files + 2) await new Promise((resolve) => setTimeout(resolve, 50))
  const taken = await idle.readNow()
  t.equal(taken.length, silent)
  t.same(taken.filter((bytes) => bytes > 2 * pieces * piece.length), [], 'those who did not read were dropped')
  checks.stop = true
  await checking
  t.same([...checks.statuses], [200], 'the service says all the while that it is well')
  const grown = (most - before.memory) / MiB
  t.comment(
    `${reading + silent} readers, ${silent} silent: ${grown.toFixed(0)} MiB more at most, /health within ${checks.slowest.toFixed(0)} ms`
  )
  t.match(await service.stop(), { code: 0 })
  return grown
}
