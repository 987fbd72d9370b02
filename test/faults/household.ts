import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Digest } from '../../schemas/digest.ts'
import type { Slot } from '../../schemas/schedule.ts'
import type { TaskRun } from '../../schemas/task-runs.ts'
import type { Task } from '../../schemas/tasks.ts'
import { startFakeGateway, type GatewayRequest, type Plan } from '../fakes/gateway.ts'
import { drivenClock } from '../harness/driven-clock.ts'
import { build } from '../harness/helper.ts'
import { DAY, HOUR } from '../harness/schedules.ts'
import { tasksOf } from '../harness/tasks.ts'

const ZONE = 'Europe/Berlin'

/** A span of time in days since the start, from 05:00 UTC on. */
type Span = [from: number, to: number]

/** What happens to the household, and when. A start is a Monday, 05:00 UTC. */
export interface Timeline {
  start: number
  weeks: number
  /** The hours between two looks of the watcher. */
  watchEvery: number
  /** Nobody answers. */
  away: Span
  /** The provider is down, all day long, and from 08:00 to 09:00 UTC. */
  down: Span
  downByHour: Span
  /** The laptop is closed. */
  closed: Span[]
  /** The reader does not reach its goal. */
  unmet: Span
  /** The page changes, and the passport is to be thought of: in days. */
  pageChanges: number
  reminder: number
}

/** The clocks change on 29 March: in the eighth week, and in the fourth. */
export const TWELVE_WEEKS: Timeline = {
  start: Date.UTC(2026, 1, 2, 5),
  weeks: 12,
  watchEvery: 1,
  away: [2, 11],
  down: [21.8, 22.8],
  downByHour: [28, 35],
  closed: [[39.3, 42], [46.3, 49], [51.3, 60.3]],
  unmet: [63, 68],
  pageChanges: 43,
  reminder: 54
}
export const SIX_WEEKS: Timeline = {
  start: Date.UTC(2026, 2, 2, 5),
  weeks: 6,
  watchEvery: 48,
  away: [2, 11],
  down: [11.8, 12.8],
  downByHour: [14, 17],
  closed: [[18.3, 21], [23.3, 32.3]],
  unmet: [33, 38],
  pageChanges: 15,
  reminder: 26
}

interface TaskReport {
  /** The planned times that are over, and what became of them. */
  due: number
  fates: Record<string, number>
  /** Newest first. */
  runs: TaskRun[]
  /** How often a person was asked, by kind. */
  asked: Record<string, number>
  status: Task['status']
  health: Task['health']
}

export interface Report {
  tasks: Record<string, TaskReport>
  /** The digest of each week, as it is read on Monday morning. */
  digests: Digest[]
  /** The files that the tasks wrote. */
  files: string[]
  crashes: number
}

/**
 * The life of a household with eight tasks: nobody answers for nine days, the provider is down for a day and for an hour a day, the
 * laptop is closed over week-ends and for nine days, goals are not met, and the service is killed each week in the middle of a run.
 */
export async function simulateHousehold (t: Test, timeline: Timeline): Promise<Report> {
  const { start, weeks, watchEvery, closed } = timeline
  const at = (day: number, hour = 5) => start + day * DAY + (hour - 5) * HOUR
  const isIn = ([from, to]: Span) => clock.now() >= at(from) && clock.now() < at(to)
  const dir = t.testdir({ home0: {}, work: { 'inbox.txt': 'Two letters.\n', 'bill.txt': 'Rent 900\n', log: {}, reports: {}, done: {} } })
  const cwd = `${dir}/work`
  const clock = drivenClock(start)
  const page = await pageOf(t, () => clock.now() < at(timeline.pageChanges) ? 'The price is 12.' : 'The price is 9.')
  const isDown = () => isIn(timeline.down) || (isIn(timeline.downByHour) && new Date(clock.now()).getUTCHours() === 8)
  const model = await modelOf(t, { clock, url: page.url, isDown, isUnmet: () => isIn(timeline.unmet) })
  const settings = {
    clock,
    cwd,
    gatewayKey: 'the-key',
    gatewayBaseURL: model.url
  }
  const config = {
    model: 'test/model',
    models: { fast: 'test/fast' },
    analysis: false,
    fetch: { allowPrivate: true },
    threads: { titles: false }
  }
  writeFileSync(`${dir}/home0/config.json`, JSON.stringify(config))
  let lives = 0
  let app = await build(t, { ...settings, home: `${dir}/home0` })
  let tasks = await tasksOf(t, app)
  let events = await tasks.watch()
  const asked = new Map<string, Record<string, number>>()
  const seenApprovals = new Set<string>()

  const names = new Map<string, string>()
  const create = async (name: string, goal: string, schedule: object, fields: object = {}) => {
    const { status, body } = await tasks.call('POST', '', {
      goal,
      plan: { phases: [{ description: goal }] },
      schedule,
      ...('once' in schedule ? {} : { taskType: 'recurring' }),
      ...fields
    })
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`)
    names.set(body.id, name)
    await tasks.post(`/${body.id}/start`)
  }
  const local = { timezone: ZONE }
  await create('reader', 'Read inbox.txt and tell me what is new', { ...local, interval: 'daily', at: '07:00' })
  await create('writer', 'Write a diary file of the day', { ...local, interval: 'daily', at: '08:00' })
  await create('watcher', 'Watch the price on the page', { ...local, interval: `${watchEvery} hours`, startAt: at(0, 6) })
  await create('weekly', 'Write the weekly report', { ...local, interval: 'weekly', on: 'monday', at: '09:00' })
  await create('monthly', 'Tell me the monthly bill', { ...local, interval: 'monthly', on: 1, at: '10:00' })
  await create('quarterly', 'Tell me the quarterly bill', { ...local, interval: '0 11 1 1,4,7,10 *' })
  await create('reminder', 'Remind me to renew the passport', { once: at(timeline.reminder) })
  await create('careful', 'Delete the oldest file of done', { ...local, interval: 'weekly', on: 'friday', at: '18:00' }, {
    approval: { mode: 'always' }
  })

  const list = async (): Promise<Task[]> => (await tasks.get('?limit=100')).tasks

  /** Work that goes on now: runs under way, and tasks whose time has come. */
  async function isBusy (): Promise<boolean> {
    const now = clock.now()
    return (await list()).some(({ status, nextRunAt = Infinity, retryAt = Infinity }) =>
      status === 'running' || (status === 'scheduled' && Math.min(nextRunAt, retryAt) <= now))
  }

  /** Resolves when all that is due was done, or waits. Short waits of the service (between tries, between catch-ups) pass at once. */
  async function settled () {
    model.forgetFailure()
    for (let quiet = 0; await isBusy();) {
      const count = events.events.length
      await Promise.race([events.beyond(count), wait(20)])
      if (events.events.length > count || model.inFlight() > 0) quiet = 0
      else if (++quiet >= (model.hasFailed() ? 3 : 50)) {
        await clock.leap(clock.untilNext())
        quiet = 0
      }
    }
    await look()
  }

  /** Counts each new question. */
  async function look () {
    for (const item of await approvals()) {
      if (seenApprovals.has(item.approvalId)) continue
      seenApprovals.add(item.approvalId)
      const of = asked.get(item.taskId) ?? {}
      of[item.kind] = (of[item.kind] ?? 0) + 1
      asked.set(item.taskId, of)
    }
  }
  const approvals = async (): Promise<any[]> => (await app.inject('/approvals?limit=500')).json().approvals

  /** In the evening the person says yes to all that waits. */
  async function answerAll () {
    for (let open = await approvals(); open.length > 0; open = await approvals()) {
      for (const { approvalId, kind, choices } of open) {
        const payload = kind === 'task' ? { choice: choices[0].value } : { approved: true }
        await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload })
      }
      await settled()
    }
  }

  /** The service is killed while a run waits for its model, and starts again on what was on disk at that moment. */
  async function crash () {
    const held = model.holdNext()
    const before = clock.now()
    await clock.leap(Math.max((await nextDue()) - before, 0))
    await Promise.race([held.arrived, wait(2_000)])
    await new Promise(setImmediate)
    cpSync(`${dir}/home${lives}`, `${dir}/home${lives + 1}`, { recursive: true, filter: (path) => !path.endsWith('service.lock') })
    events.leave()
    await Promise.all([app.close(), held.release()])
    lives++
    app = await build(t, { ...settings, home: `${dir}/home${lives}` })
    tasks = await tasksOf(t, app)
    events = await tasks.watch()
    await settled()
  }

  const nextDue = async () => Math.min(...(await list()).flatMap(({ status, nextRunAt = Infinity, retryAt = Infinity }) =>
    status === 'scheduled' ? [nextRunAt, retryAt] : []))

  const digests: Digest[] = []
  let lastDigest = start - 1
  await settled()
  for (let day = 0; day < weeks * 7; day++) {
    if (day % 7 === 0 && day > 0) {
      // The last second of a digest is also that of the next one.
      await clock.leap(2_000)
      const digest = await tasks.get(`/digest?since=${lastDigest}`)
      lastDigest = digest.until
      digests.push(digest)
    }
    const stops = [at(day, 19), at(day + 1, 4)]
    let crashed = day % 7 !== 2
    for (const stop of stops) {
      while (clock.now() < stop) {
        const sleep = closed.find(isIn)
        if (sleep !== undefined) {
          clock.suspend(at(sleep[1]) - clock.now())
          await clock.leap(10_000)
          await settled()
          continue
        }
        const shuts = closed.map(([from]) => at(from)).filter((from) => from > clock.now())
        const due = await nextDue()
        if (!crashed && due < stop) {
          crashed = true
          await crash()
          continue
        }
        await clock.leap(Math.max(Math.min(due, stop, ...shuts) - clock.now(), 1))
        await settled()
      }
      if (stop === stops[0] && !isIn(timeline.away)) await answerAll()
    }
  }
  digests.push(await tasks.get(`/digest?since=${lastDigest}`))

  const all = async <T>(path: string, name: string): Promise<T[]> => {
    const found: T[] = []
    for (let cursor = ''; ;) {
      const page = await tasks.get(`${path}?limit=500${cursor}`)
      found.push(...page[name])
      if (page.nextCursor === undefined) return found
      cursor = `&cursor=${page.nextCursor}`
    }
  }
  const reports: Record<string, TaskReport> = {}
  for (const { id, status, health } of await list()) {
    const slots = await all<Slot>(`/${id}/schedule`, 'slots')
    reports[names.get(id)!] = {
      due: slots.reduce((sum, { count = 1 }) => sum + count, 0),
      fates: tally(slots.map(({ fate, reason, count = 1 }) => [reason === undefined ? fate : `${fate}: ${reason}`, count])),
      runs: await all<TaskRun>(`/${id}/runs`, 'runs'),
      asked: asked.get(id) ?? {},
      status,
      health
    }
  }
  events.leave()
  const files = ['log', 'reports', 'done'].flatMap((folder) => readdirSync(`${cwd}/${folder}`).map((name) => `${folder}/${name}`))
  return { tasks: reports, digests, files, crashes: lives }
}

/** Adds up the numbers of each key. */
export const tally = (pairs: Array<[string, number]>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const [key, count] of pairs) counts[key] = (counts[key] ?? 0) + count
  return counts
}

async function pageOf (t: Test, text: () => string) {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/plain').end(text()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/price` }
}

/** What the reader reports when it does not reach its goal. */
const UNMET = 'I could not tell what is new.'

/** The model of the household: it does what each goal asks, in one call and a report, and is down when the world is. */
async function modelOf (
  t: Test,
  { clock, url, isDown, isUnmet }: { clock: { now(): number }, url: string, isDown: () => boolean, isUnmet: () => boolean }
) {
  let inFlight = 0
  let hasFailed = false
  let isTold = false
  let hold: { arrived: () => void, released: Promise<unknown> } | undefined
  const gateway = await startFakeGateway({
    reply: async (request) => {
      inFlight++
      try {
        if (hold !== undefined && request.structured === undefined) {
          const { arrived, released } = hold
          hold = undefined
          arrived()
          await released
        }
        hasFailed = isDown()
        if (hasFailed) return { error: { status: 503, type: 'internal_server_error', message: 'overloaded' } }
        return answer(request)
      } finally {
        inFlight--
      }
    }
  })
  t.teardown(() => gateway.close())

  function answer (request: GatewayRequest): Plan {
    const said = JSON.stringify(request.body.prompt)
    if (request.structured === 'evaluation') return { object: verdict(said) }
    if (request.structured !== undefined) return {}
    const results = request.body.prompt.filter(({ role }: any) => role === 'tool').flatMap(({ content }: any) => content)
    const time = new Date(clock.now()).toISOString()
    const today = time.slice(0, 10)
    const done = JSON.stringify(results.at(-1)?.output ?? '')
    const first = results.length === 0
    const call = (toolName: string, input: unknown): Plan => ({ toolCalls: [{ toolName, input }] })
    if (said.includes('Read inbox.txt')) {
      return first ? call('readFile', { path: 'inbox.txt' }) : { text: isUnmet() ? UNMET : 'Nothing new: two letters.' }
    }
    if (said.includes('diary')) {
      return first ? call('writeFile', { path: `log/${today}.md`, content: `${time}\n` }) : { text: `I wrote ${written(done)}.` }
    }
    if (said.includes('price on the page')) {
      if (first) return call('fetchUrl', { url })
      if (!done.includes('is 9')) return { text: 'The price is 12, as before.' }
      if (isTold) return { text: 'The price is 9, as before.' }
      isTold = true
      return { text: 'The price changed: it is 9 now.' }
    }
    if (said.includes('weekly report')) {
      return first ? call('writeFile', { path: `reports/${today}.md`, content: `${time}\n` }) : { text: `I wrote ${written(done)}.` }
    }
    if (said.includes('ly bill')) return first ? call('readFile', { path: 'bill.txt' }) : { text: 'The rent is 900.' }
    if (said.includes('Delete the oldest')) {
      return first ? call('writeFile', { path: `done/${today}.txt`, content: `${time}\n` }) : { text: `I wrote ${written(done)}.` }
    }
    return { text: 'Renew the passport.' }
  }

  const written = (output: string) => /(?:log|reports|done)\/[\d-]+\.\w+/.exec(output)?.[0] ?? 'nothing'

  function verdict (said: string) {
    if (said.includes(UNMET)) {
      return { outcome: 'failed', quote: UNMET, claims: [], satisfied: false, score: 0.1, issues: ['The letters were not told.'] }
    }
    const wrote = /I wrote ((?:log|reports|done)\/[\w.-]+\.(?:md|txt))/.exec(said)
    const met = { satisfied: true, score: 1, issues: [] }
    if (wrote !== null) {
      return { ...met, outcome: 'done', claims: [{ quote: wrote[0], claim: wrote[0], effect: 'file', target: wrote[1], call: null }] }
    }
    const isNews = ['The price changed', 'bill', 'passport'].some((news) => said.includes(news))
    return { ...met, outcome: isNews ? 'done' : 'nothing_to_do', claims: [] }
  }

  return {
    url: gateway.url,
    inFlight: () => inFlight,
    /** Whether the newest call was answered with an error: the service tries again after a while of its own clock. */
    hasFailed: () => hasFailed,
    forgetFailure () {
      hasFailed = false
    },
    /** The next call of the agent's model is not answered until it is released. */
    holdNext () {
      const arrived = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      hold = { arrived: arrived.resolve, released: released.promise }
      return {
        arrived: arrived.promise,
        async release () {
          hold = undefined
          released.resolve()
        }
      }
    }
  }
}
