import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import type { TaskRun } from '../../schemas/task-runs.ts'
import type { Task } from '../../schemas/tasks.ts'
import { startFakeGateway, type GatewayRequest, type Plan } from '../fakes/gateway.ts'
import { parseEvents } from '../harness/sse.ts'
import { breakDisk } from '../harness/disk.ts'
import { drivenClock } from '../harness/driven-clock.ts'
import { build } from '../harness/helper.ts'
import { HOUR } from '../harness/schedules.ts'
import { tasksOf } from '../harness/tasks.ts'

const MINUTE = HOUR / 60
/** In the evening, and in the morning; UTC. */
export const EVENING = Date.UTC(2026, 10, 30, 20)
export const MORNING = EVENING + 11 * HOUR
/** Tokens that a run of the poor task may use. */
export const POOR = 60
/** The work of a night, by the word in its goal; `every` is in hours. */
const TASKS: Record<string, { every?: number, fields: object }> = {
  noter: { every: 2, fields: { approval: { mode: 'never' } } },
  keeper: { every: 3, fields: { approval: { mode: 'never' } } },
  granted: { every: 3, fields: { approval: { mode: 'granted' } } },
  liar: { every: 3, fields: { approval: { mode: 'never' } } },
  poor: { every: 4, fields: { approval: { mode: 'never' }, options: { budget: { tokens: POOR } } } },
  asker: { every: 3, fields: { approval: { mode: 'changes' } } },
  reader: { every: 2, fields: {} },
  single: { fields: { approval: { mode: 'never' }, schedule: { once: EVENING + 7 * HOUR } } },
  worker: { fields: { approval: { mode: 'never' }, endsAt: EVENING + 10 * HOUR } },
  waiter: { fields: { approval: { mode: 'changes' }, endsAt: EVENING + 9 * HOUR } }
}
export const periodOf = (name: string): number | undefined => TASKS[name]?.every
export const firstOf = (name: string): number => EVENING + (Object.keys(TASKS).indexOf(name) + 1) * 4 * MINUTE

/** A generator of numbers from 0 to 1 that a seed decides: mulberry32. */
export function randomOf (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Fault = 'sleep' | 'cut' | 'disk' | 'kill' | 'kill in a command' | 'chat'
interface Happening { at: number, what: Fault, ms: number }

/** Draws what happens in a night: each kind of fault at least with a chance of a half, and the two chats, each more than once. */
function drawNight (random: () => number): Happening[] {
  const between = (from: number, to: number) => Math.round(from + random() * (to - from))
  const one = (what: Fault, from: number, to: number): Happening =>
    ({ what, at: EVENING + between(HOUR / 2, 9 * HOUR), ms: between(from, to) })
  const maybe = (what: Fault, from: number, to: number, chance: number) => random() < chance ? [one(what, from, to)] : []
  return [
    ...maybe('sleep', HOUR / 2, 3 * HOUR, 0.8),
    ...maybe('cut', HOUR / 2, 2 * HOUR, 0.8),
    ...maybe('disk', MINUTE, HOUR / 2, 0.7),
    ...maybe('kill', 0, 0, 0.7),
    ...maybe('kill in a command', 0, 0, 0.7),
    ...Array.from({ length: 4 }, () => one('chat', 0, 0))
  ].sort((a, b) => a.at - b.at)
}

/** What was to be read in the morning, over HTTP. */
export interface Found {
  happenings: string[]
  tasks: Record<string, Task & { slots: any[], runs: TaskRun[] }>
  chats: Record<string, any[]>
  approvals: any[]
  digest: any
  /** What the commands of all runs left in one file: a line for each time that one ran. */
  effects: string[]
}

/** Lives through a night of ten tasks and two chats, drawn by the seed. */
export async function simulateNight (t: Test, seed: number): Promise<Found> {
  const random = randomOf(seed)
  const clock = drivenClock(EVENING)
  const dir = t.testdir({ home0: {}, work: { 'inbox.txt': 'Two letters.\n', log: {} } })
  const cwd = `${dir}/work`
  const cut = { until: 0 }
  const model = await startModel(t, { isCut: () => clock.now() < cut.until, random })
  const budget = random() < 0.3 ? { tasksPerDay: { tokens: 400 } } : {}
  writeFileSync(`${dir}/home0/config.json`, JSON.stringify({
    ...{ model: 'test/model', models: { fast: 'test/fast' }, analysis: false, threads: { titles: false }, budget },
    permissions: { runCommand: 'ask', writeFile: 'ask' }
  }))
  const settings = { clock, cwd, gatewayKey: 'the-key', gatewayBaseURL: model.url }
  let lives = 0
  let app = await build(t, { ...settings, home: `${dir}/home0` })
  let tasks = await tasksOf(t, app)
  const ids: Record<string, string> = {}
  for (const [name, { every, fields }] of Object.entries(TASKS)) {
    const schedule = every && { taskType: 'recurring', schedule: { interval: `${every} hours`, startAt: firstOf(name), timezone: 'UTC' } }
    const goal = `The ${name} does its part`
    const { status, body } = await tasks.call('POST', '', { goal, plan: { phases: [{ description: goal }] }, ...schedule, ...fields })
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`)
    ids[name] = body.id
  }
  const grant = { taskId: ids.granted, toolName: 'writeFile', input: { path: 'log/a.md', content: '' }, scope: 'folder' }
  const granted = await app.inject({ method: 'POST', url: '/grants', payload: grant })
  if (granted.statusCode > 201) throw new Error(granted.body)
  for (const id of Object.values(ids)) await tasks.post(`/${id}/start`)

  const list = async (): Promise<Task[]> => {
    const answer = await tasks.get('?limit=100')
    if (answer.tasks === undefined) throw new Error(JSON.stringify(answer))
    return answer.tasks
  }
  const dueOf = ({ status, nextRunAt = Infinity, retryAt = Infinity, endsAt = Infinity }: Task) => Math.min(
    status === 'scheduled' ? Math.min(nextRunAt, retryAt) : Infinity,
    ['scheduled', 'running', 'pending_approval'].includes(status) ? endsAt : Infinity
  )
  const nextDue = async () => Math.min(...(await list().catch(() => [])).map(dueOf))
  const chatting = new Set<Promise<unknown>>()

  /** Resolves when all that is due was done, or waits. Short waits of the service pass at once. */
  async function settled () {
    for (let quiet = 0; ;) {
      const now = clock.now()
      // After a full disk the store comes back in a while.
      const isBusy = await list().then((all) => all.some((task) => task.status === 'running' || dueOf(task) <= now), () => true)
      if (!isBusy && chatting.size === 0) return
      await wait(20)
      if (model.inFlight() > 0) quiet = 0
      else if (++quiet >= 8) {
        await clock.leap(clock.untilNext())
        quiet = 0
      }
    }
  }

  function chat () {
    const id = random() < 0.5 ? 'chat-a' : 'chat-b'
    const messages = [{ role: 'user', content: 'Look round for long' }]
    // A killed service answers nothing more; a full disk is an error.
    const answered = app.inject({ method: 'POST', url: '/run', payload: { id, messages, options: { interactive: true } } })
      .then(({ body, statusCode }) => statusCode === 200 ? parseEvents(body.replace(/data: \[DONE\]\n\n$/, '')) : [], () => [])
    chatting.add(answered)
    void answered.finally(() => chatting.delete(answered))
  }

  /** The service starts again on what was on disk at this moment. */
  async function startAgain () {
    cpSync(`${dir}/home${lives}`, `${dir}/home${lives + 1}`, { recursive: true, filter: (path) => !path.endsWith('service.lock') })
    await Promise.all([app.close(), model.release()])
    lives++
    app = await build(t, { ...settings, home: `${dir}/home${lives}` })
    tasks = await tasksOf(t, app)
  }

  /** Kills the service while a run waits for its model, or while a command of it has done its effect and has not ended. */
  async function kill (isInCommand: boolean) {
    const held = isInCommand ? model.slowNext() : model.holdNext()
    await clock.leap(Math.max(Math.min(await nextDue(), MORNING) - clock.now(), 0))
    const isHeld = () => isInCommand ? readEffects(cwd).includes(held()) : held() !== ''
    for (let tries = 0; !isHeld() && tries < 300; tries++) await wait(10)
    // What else runs comes to the call of its model, which is held.
    model.holdNext()
    await wait(100)
    await startAgain()
    await settled()
  }

  async function happen ({ what, ms }: Happening) {
    switch (what) {
      case 'sleep':
        clock.suspend(ms)
        return clock.leap(10_000)
      case 'cut':
        cut.until = clock.now() + ms
        return
      case 'disk': {
        const { mend } = breakDisk(t)
        for (const end = clock.now() + ms; clock.now() < end;) {
          await clock.leap(Math.max(Math.min(await nextDue() - clock.now(), end - clock.now()), MINUTE))
          await wait(30)
        }
        return mend()
      }
      case 'kill':
        return kill(false)
      case 'kill in a command':
        return kill(true)
      case 'chat':
        return chat()
    }
  }

  const night = drawNight(random)
  const left = [...night]
  await settled()
  while (clock.now() < MORNING) {
    const next = left[0]?.at ?? MORNING
    await clock.leap(Math.max(Math.min(await nextDue(), next, MORNING) - clock.now(), 1))
    if (left.length > 0 && clock.now() >= next) await happen(left.shift()!)
    await settled()
  }
  await clock.leap(2_000)
  await settled()

  const found: Found['tasks'] = {}
  for (const task of await list()) {
    const name = Object.keys(ids).find((key) => ids[key] === task.id)!
    const { slots = [] } = task.schedule === undefined ? {} : await tasks.get(`/${task.id}/schedule?limit=500`)
    const runs: TaskRun[] = []
    for (const { runId } of (await tasks.get(`/${task.id}/runs?limit=500`)).runs) runs.push(await tasks.get(`/${task.id}/runs/${runId}`))
    found[name] = { ...task, slots, runs }
  }
  const get = async (path: string) => (await app.inject(path)).json()
  const chats: Found['chats'] = {}
  for (const id of ['chat-a', 'chat-b']) chats[id] = (await get(`/runs?threadId=${id}&limit=100`)).runs ?? []
  const { approvals } = await get('/approvals?limit=500')
  const digest = await get(`/tasks/digest?since=${EVENING}&limit=100`)
  await app.close()
  const happenings = night.map(({ what, at, ms }) =>
    `${new Date(at).toISOString().slice(11, 16)} ${what}${ms > 0 ? ` ${Math.round(ms / MINUTE)} min` : ''}`)
  return { happenings, tasks: found, chats, approvals, digest, effects: readEffects(cwd) }
}

const readEffects = (cwd: string): string[] =>
  existsSync(`${cwd}/effects.log`) ? readFileSync(`${cwd}/effects.log`, 'utf8').split('\n').filter(Boolean) : []

/** The model of the night: each call of a run has a mark of its own, which its command leaves behind. It lies where it is told to. */
async function startModel (t: Test, { isCut, random }: { isCut: () => boolean, random: () => number }) {
  let inFlight = 0
  let marks = 0
  let hold: { arrived: boolean, over: Promise<void>, release: () => void } | undefined
  let slow: { mark: string } | undefined
  const gateway = await startFakeGateway({
    record: false,
    async reply (request) {
      if (hold !== undefined) {
        hold.arrived = true
        await hold.over
      }
      inFlight++
      try {
        if (isCut()) return { parts: [{ type: 'stream-start', warnings: [] }], ending: 'cut', after: 1 }
        return answer(request)
      } finally {
        inFlight--
      }
    }
  })
  t.teardown(() => gateway.close())

  function command (): Plan {
    const mark = `mark-${++marks}`
    const isSlow = slow?.mark === ''
    if (isSlow) slow!.mark = mark
    return { toolCalls: [{ toolName: 'runCommand', input: { command: `echo ${mark} >> effects.log${isSlow ? '; sleep 20' : ''}` } }] }
  }

  function answer ({ body, structured }: GatewayRequest): Plan {
    const told = JSON.stringify(body.prompt)
    if (structured === 'evaluation') return { object: verdict(told) }
    if (structured !== undefined) return {}
    const done = body.prompt.filter(({ role }: any) => role === 'tool').length
    const name = /The (\w+) does its part/.exec(told)?.[1] ?? 'chat'
    const write = (path: string): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content: 'x' } }] })
    const look: Plan = { toolCalls: [{ toolName: 'readFile', input: { path: 'inbox.txt' } }] }
    switch (name) {
      case 'noter':
      case 'single':
        return done === 0 ? command() : { text: 'I ran the command.' }
      case 'worker':
        return done < 6 ? command() : { text: 'I ran the commands.' }
      case 'keeper':
        return done === 0 ? write('log/kept.md') : { text: 'I wrote log/kept.md.' }
      case 'granted':
        if (done === 0) return write('log/granted.md')
        return done === 1 ? command() : { text: 'I wrote log/granted.md.' }
      case 'liar':
        return done === 0 && random() < 0.5 ? look : { text: 'I wrote log/lie.md and sent it to Anna.' }
      case 'poor':
        return done < 8 ? look : { text: 'I read it.' }
      case 'asker':
      case 'waiter':
        return done === 0 ? command() : { text: 'I ran the command.' }
      case 'reader':
        return done === 0 ? look : { text: 'Nothing new.' }
      default:
        if (done % 12 === 11) return { text: 'I looked round.' }
        return { toolCalls: [{ toolName: 'listDirectory', input: { path: '.', limit: done + 1 } }] }
    }
  }

  /** The judge believes all that it reads. */
  function verdict (told: string) {
    const claims = [...told.matchAll(/I wrote (log\/\w+\.md)/g)].slice(-1).map(([quote, target]) =>
      ({ quote, claim: quote, effect: 'file', target, call: null }))
    const sent = told.includes('sent it to Anna')
      ? [{ quote: 'sent it to Anna', claim: 'Sent it to Anna', effect: 'message', target: 'Anna', call: null }]
      : []
    const outcome = told.includes('Nothing new.') ? 'nothing_to_do' : 'done'
    return { outcome, claims: [...claims, ...sent], satisfied: true, score: 1, issues: [] }
  }

  return {
    url: gateway.url,
    inFlight: () => inFlight,
    /** Holds all calls until they are released. Returns whether one has come, as a text. */
    holdNext () {
      const over = Promise.withResolvers<void>()
      const held = hold ??= { arrived: false, over: over.promise, release: over.resolve }
      return () => held.arrived ? 'held' : ''
    },
    /** The next command goes on after its effect. Returns its mark, once it is known. */
    slowNext () {
      const next = slow = { mark: '' }
      return () => next.mark
    },
    async release () {
      hold?.release()
      hold = slow = undefined
    }
  }
}
