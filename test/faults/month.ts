import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Task } from '../../schemas/tasks.ts'
import { structuredAnswer } from '../fakes/gateway-plan.ts'
import { type GatewayRequest, type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { freePort } from '../harness/free-port.ts'
import { startService } from '../harness/sidecar.ts'
import { openFiles } from './load.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const DAYS = 30
/** A task runs as often, and time leaps from one of its times to the next. */
const STEP = 80 * MINUTE
const STEPS_A_DAY = DAY / STEP
const CHATS_A_DAY = 20
/** The user deletes a conversation after so many days. */
const KEPT_DAYS = 7
const STARTS = 5
/** As many events are kept for readers that come back. They are there before the month begins, as it brings fewer in two weeks. */
const EVENTS_KEPT = 10_000
const AT_ONCE = 20
const LEAPING = fileURLToPath(new URL('../harness/leaping-process.js', import.meta.url))

/** What the user says in a conversation, which its number decides: five messages, one of them of a kind that comes rarely. */
const RARE = ['command', 'remove', 'leave', 'fail', 'attach', 'follow']
const messagesOf = (chat: number): string[] => ['talk', 'read', 'write', 'talk', RARE[chat % RARE.length]]

/** What the service holds, and what it has on disk, at the end of a week. Bytes, and milliseconds of CPU time until it is ready. */
export interface Held {
  day: number
  heap: number
  external: number
  files: number
  threads: number
  longTimers: number
  disk: Record<string, number>
  startMs: number
}

export interface Month {
  weeks: Held[]
  runs: number
  taskRuns: number
}

/** Lives through a month of tasks and conversations with one service, which is looked at when each week ends. */
export async function simulateMonth (t: Test): Promise<Month> {
  const gateway = await startFakeGateway({ reply, record: false })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', models: { fast: 'test/fast' }, permissions: { writeFile: 'allow', runCommand: 'allow' } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: { 'inbox.txt': 'Two letters.\n' } })
  const env = { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url, TZ: 'UTC' }
  const start = (home: string, more: Record<string, string>) =>
    startService(t, { home, cwd: `${dir}/work`, preload: [LEAPING], env: { ...env, ...more } })
  const port = await freePort()
  const { url, pid, stop } = await start(`${dir}/home`, { LEAPS: port })
  const service = await control(t, port)
  const user = createUser(url)
  const taskId = await user.planTask()
  await user.makeEvents(EVENTS_KEPT)
  const weeks: Held[] = []
  let chats = 0
  let runs = 0
  let taskRuns = 0
  for (let step = 0; step < DAYS * STEPS_A_DAY; step++) {
    await service.ask({ leap: STEP })
    const until = Math.floor((step + 1) * CHATS_A_DAY / STEPS_A_DAY)
    const [ran] = await Promise.all([user.taskEnds(taskId, taskRuns), ...range(chats, until).map(user.talk)])
    taskRuns = ran
    runs += (until - chats) * messagesOf(0).length
    chats = until
    const day = (step + 1) / STEPS_A_DAY
    if (!Number.isInteger(day)) continue
    await user.lookRound()
    if (day > KEPT_DAYS) for (const old of range(0, CHATS_A_DAY)) await user.forget((day - KEPT_DAYS - 1) * CHATS_A_DAY + old)
    if (day % 7 !== 0) continue
    await user.isQuiet()
    const held = await service.ask<Pick<Held, 'heap' | 'external' | 'longTimers'>>({ held: null })
    weeks.push({
      ...{ day, ...held, files: openFiles(pid) },
      threads: readdirSync(`/proc/${pid}/task`).length,
      disk: sizesOf(`${dir}/home`),
      startMs: await measureStart(day)
    })
    t.comment(JSON.stringify(weeks.at(-1)))
  }
  service.close()
  t.match(await stop(), { code: 0 })
  return { weeks, runs, taskRuns }

  /** Returns the CPU time of the main thread until the service is ready, on a copy of its data. */
  async function measureStart (day: number): Promise<number> {
    const home = `${dir}/copy`
    const times: number[] = []
    for (let n = 0; n < STARTS; n++) {
      cpSync(`${dir}/home`, home, { recursive: true, filter: (path) => !path.endsWith('service.lock') })
      const copy = await start(home, { AHEAD_MS: String(day * DAY) })
      times.push(Number(readFileSync(`/proc/${copy.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
      await copy.stop()
      rmSync(home, { recursive: true })
    }
    return times.sort((a, b) => a - b)[STARTS >> 1]
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n)

/** Tells a process to leap, and asks what it holds (test/harness/leaping-process.js). */
async function control (t: Test, port: string) {
  const socket = connect(Number(port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const lines = createInterface({ input: socket })
  return {
    async ask<T> (request: object): Promise<T> {
      socket.write(`${JSON.stringify(request)}\n`)
      return JSON.parse((await once(lines, 'line'))[0])
    },
    close: () => socket.destroy()
  }
}

/** Returns the bytes of the parts of a home. */
function sizesOf (home: string): Record<string, number> {
  const sizes: Record<string, number> = {}
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const [part] = path.slice(home.length + 1).split('/')
    // A file can go between the list and this line.
    sizes[part] = (sizes[part] ?? 0) + (statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  }
  return sizes
}

/** The user of a service, with all of its clients. */
function createUser (url: string) {
  async function ask (method: string, path: string, body?: object | string): Promise<any> {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json'
    const response = await fetch(url + path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text
  }
  const said = (chat: number, content: string | object[], more: object = {}) =>
    ({ id: `chat-${chat}`, messages: [{ role: 'user', content }], ...more })

  /** Reads a stream until its first text has come, and leaves. */
  async function readBeginning (path: string, body?: object): Promise<void> {
    const over = new AbortController()
    const response = await fetch(url + path, {
      ...{ signal: over.signal, method: body === undefined ? 'GET' : 'POST' },
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })
    let text = ''
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString()
      if (body === undefined || text.includes('text-delta')) break
    }
    over.abort()
  }

  const KINDS: Record<string, (chat: number, n: number) => Promise<unknown>> = {
    talk: (chat, n) => ask('POST', '/run?protocol=ui', said(chat, `talk ${chat} ${n}`)),
    read: (chat) => ask('POST', '/run', said(chat, 'read the inbox')),
    write: (chat) => ask('POST', '/run/sync', said(chat, `write file ${chat % 20}`)),
    command: (chat) => ask('POST', '/run', said(chat, 'command')),
    fail: (chat) => ask('POST', '/run', said(chat, 'fail')),
    leave: (chat) => readBeginning('/run', said(chat, 'leave')),
    async remove (chat) {
      const message = said(chat, `remove file ${chat % 20}`, { options: { interactive: true } })
      const { runId, pendingApprovals: [{ approvalId }] } = await ask('POST', '/run/sync', message)
      await ask('POST', `/approvals/${approvalId}`, { approved: true })
      await ask('GET', `/runs/${runId}?waitMs=60000`)
    },
    async attach (chat) {
      const { url: data } = await ask('POST', '/attachments', `The letter number ${chat}. `.repeat(100))
      await ask('POST', '/run', said(chat, [{ type: 'text', text: 'talk about this' }, { type: 'file', data, mediaType: 'text/plain' }]))
    },
    async follow (chat) {
      await readBeginning('/run', said(chat, 'slowly', { resumable: true }))
      await ask('GET', `/run/chat-${chat}/stream`)
    }
  }

  return {
    async planTask (): Promise<string> {
      const goal = 'Look after the notes'
      const { id } = await ask('POST', '/tasks', {
        ...{ goal, taskType: 'recurring', plan: { phases: [{ description: goal }] }, approval: { mode: 'never' } },
        schedule: { interval: '80 minutes', timezone: 'UTC' }
      })
      await ask('POST', `/tasks/${id}/start`)
      return id
    },
    async makeEvents (count: number): Promise<void> {
      for (let made = 0; made < count; made += AT_ONCE) {
        await Promise.all(range(made, made + AT_ONCE).map((n) => ask('PUT', `/threads/old-${n % AT_ONCE}`, { title: `Number ${n}` })))
      }
    },
    /** Resolves to the number of runs of a task when it has run more often than `before`, and no run is open. */
    async taskEnds (id: string, before: number): Promise<number> {
      for (;;) {
        const { status, totalRuns } = await ask('GET', `/tasks/${id}`) as Task
        if (status === 'scheduled' && totalRuns > before) return totalRuns
        await wait(20)
      }
    },
    async talk (chat: number): Promise<void> {
      for (const [n, kind] of messagesOf(chat).entries()) await KINDS[kind](chat, n)
    },
    forget: (chat: number) => ask('DELETE', `/threads/chat-${chat}`),
    async lookRound (): Promise<void> {
      await readBeginning('/events')
      for (const path of ['/threads', '/runs', '/search?q=letter', '/usage', '/approvals', '/tasks/digest?since=0']) await ask('GET', path)
    },
    async isQuiet (): Promise<void> {
      while ((await ask('GET', '/health')).runs?.live > 0) await wait(20)
    }
  }
}

/** What the model answers, by the last message of the user. */
function reply ({ body, structured }: GatewayRequest): Plan | undefined {
  if (structured === 'facts') return { object: { pointers: [], habits: [] } }
  if (structured !== undefined) return { object: structuredAnswer(structured) }
  const last = body.prompt.findLastIndex(({ role }: any) => role === 'user')
  const words: string = JSON.stringify(body.prompt[last].content)
  const isDone = body.prompt.slice(last).some(({ role }: any) => role === 'tool')
  const call = (toolName: string, input: object): Plan => isDone ? { text: 'It is done.' } : { toolCalls: [{ toolName, input }] }
  const path = `notes/${/file (\d+)/.exec(words)?.[1] ?? 'task'}.md`
  if (words.includes('read the inbox')) return call('readFile', { path: 'inbox.txt' })
  if (words.includes('remove file')) return call('deleteFile', { path })
  if (/write file|Look after/.test(words)) return call('writeFile', { path, content: `Notes of ${words.length}.\n`.repeat(20) })
  if (words.includes('command')) return call('runCommand', { command: 'wc -l inbox.txt' })
  if (words.includes('fail')) return { error: { status: 400, type: 'invalid_request_error', message: 'No.' } }
  if (words.includes('leave')) return { text: 'This has a beginning and no end', ending: 'stall', after: 5 }
  if (words.includes('slowly')) return { text: 'One word after the other comes here, and each of them takes its time.', partMs: 5 }
  return { text: `You said ${words.slice(0, 60)}. ${'There is much to say about it. '.repeat(20)}` }
}
