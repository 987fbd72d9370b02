import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { App } from '../../app.ts'
import type { Clock } from '../../services/clock/clock.ts'
import { createIdempotency } from '../../services/idempotency/idempotency.ts'
import type { Store } from '../../services/store/contract.ts'
import { runKey, type StoredRun } from '../../services/tasks/record.ts'
import { createTasks } from '../../services/tasks/tasks.ts'
import { taskLoop } from '../../services/tasks/worker/loop.ts'
import { build } from '../helper.ts'
import { ALLOWED, ModelTask, scheduleOf, type Wanted } from './schedule-model.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The service looks at the clock at least so often. */
const LOOK_MS = 10_000
const TASKS = 2

type Mode = 'ok' | 'fail' | 'hold'
type Action = { kind: 'verb', pick: number, task: number } | { kind: 'put', task: number, wanted: Wanted } | { kind: 'mode', task: number, mode: Mode } |
  { kind: 'move', ms: number } | { kind: 'kill', soon: boolean } | { kind: 'restart' }

const task = fc.nat(TASKS - 1)
const wanted: fc.Arbitrary<Wanted> = fc.record({
  everyMs: fc.constantFrom(10 * MINUTE, 10 * MINUTE, HOUR, DAY),
  missed: fc.constantFrom('run_once', 'run_once', 'skip'),
  graceMs: fc.constantFrom(0, 45 * MINUTE, DAY),
  maxRuns: fc.option(fc.constantFrom(1, 3), { nil: undefined, freq: 3 })
}, { requiredKeys: ['everyMs', 'missed', 'graceMs'] })
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('verb' as const), pick: fc.nat(999), task }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('put' as const), task, wanted }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mode' as const), task, mode: fc.constantFrom<Mode>('ok', 'fail', 'hold') }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('move' as const), ms: fc.constantFrom(LOOK_MS, ...Array<number>(5).fill(10 * MINUTE), 11 * MINUTE, 25 * MINUTE, HOUR, HOUR, DAY, 3 * DAY, -MINUTE, -25 * MINUTE, -2 * HOUR, -2 * DAY) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), soon: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) }
)

/** Mostly what the state allows, seldom the end of everything. */
function verbFor ({ status }: ModelTask, pick: number): string {
  const all = Object.keys(ALLOWED)
  if (pick < 100) return all[pick % all.length]
  const fitting = all.filter((verb) => verb !== 'cancel' && ALLOWED[verb].includes(status))
  const onwards = fitting.find((verb) => verb === 'start' || verb === 'resume')
  return onwards !== undefined && pick < 700 ? onwards : fitting[pick % fitting.length]
}

/** A clock that is set in both directions, beside one that goes on; who sleeps less than a second wakes at once. */
function setClock () {
  let wall = Date.UTC(2026, 0, 5, 9)
  let elapsed = 0
  const sleepers = new Set<{ at: number, wake: () => void }>()
  const clock: Clock = {
    now: () => wall,
    monotonic: () => elapsed,
    sleep: (ms, signal) => ms < 1_000
      ? turn(undefined, { signal })
      : new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const sleeper = { at: elapsed + ms, wake: resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper)
          reject(signal.reason)
        }, { once: true })
      })
  }
  return {
    clock,
    /** Once the service has looked: the wall clock is so much later, or earlier; in truth it was the time between two looks. */
    async move (ms: number) {
      while (![...sleepers].some(({ at }) => at - elapsed <= LOOK_MS)) await turn()
      wall += ms
      elapsed += LOOK_MS
      for (const sleeper of [...sleepers]) {
        if (sleeper.at > elapsed) continue
        sleepers.delete(sleeper)
        sleeper.wake()
      }
    }
  }
}

/** The same store, until it is taken away as from a service that is killed: what was acknowledged is there. */
function cuttable (store: Store) {
  let dead = false
  const alive = () => { if (dead) throw Object.assign(new Error('the service was killed'), { code: 'ERR_STORE_UNAVAILABLE' }) }
  const cut: Store = {
    ...store,
    async get (key) {
      alive()
      return store.get(key)
    },
    async * list<T> (prefix: string, options?: object) {
      alive()
      yield * store.list<T>(prefix, options)
    },
    async transact (ops) {
      alive()
      await store.transact(ops)
      alive()
    }
  }
  return { store: cut, kill: () => { dead = true } }
}

/** One life: the service's engine, whose runs work in this thread, as the test says. */
class Engine {
  tasks: ReturnType<typeof createTasks>
  modes: Map<string, Mode>
  #held = new Set<() => void>()
  #cut: ReturnType<typeof cuttable>

  constructor (app: App, clock: Clock, modes: Map<string, Mode>) {
    this.modes = modes
    this.#cut = cuttable(app.store)
    const { store } = this.#cut
    this.tasks = createTasks({
      store,
      clock,
      registry: app.providers,
      host: app.tools,
      fence: app.fence,
      idempotency: createIdempotency({ store, clock }),
      config: () => ({}),
      memory: async () => '',
      workspace: app.workspace,
      emit () {},
      log: { info () {}, warn () {}, error () {} }
    } as Parameters<typeof createTasks>[0], {
      run: async (_runId, main, signal) => {
        signal.throwIfAborted()
        const aborted = new Promise<never>((_resolve, reject) => { signal.addEventListener('abort', () => reject(signal.reason), { once: true }) })
        aborted.catch(() => {})
        const { system } = await main.begin()
        const name = /task \d+/.exec(system)![0]
        while (this.modes.get(name) === 'hold') await Promise.race([aborted, new Promise<void>((resolve) => this.#held.add(resolve))])
        if (this.modes.get(name) === 'fail') throw Object.assign(new Error('it failed, as the test says'), { code: 'ERR_TEST' })
        return Promise.race([aborted, taskLoop(main)])
      }
    })
  }

  mode (name: string, mode: Mode) {
    this.modes.set(name, mode)
    for (const resolve of this.#held) resolve()
    this.#held.clear()
  }

  async kill () {
    this.#cut.kill()
    await this.tasks.close()
  }
}

/** Does these actions to the engine and to the model; throws where they differ. */
async function live (app: App, actions: Action[]) {
  const { clock, move } = setClock()
  const modes = new Map<string, Mode>()
  let engine = new Engine(app, clock, modes)
  await engine.tasks.open()
  const models = Array.from({ length: TASKS }, () => new ModelTask({ everyMs: 10 * MINUTE, missed: 'run_once', graceMs: DAY, maxRuns: 8 }))
  const names = models.map((_, n) => `task ${n}`)
  const ids: string[] = []
  for (const [n, model] of models.entries()) {
    const { id } = await engine.tasks.create({
      goal: 'system info', taskType: 'recurring', schedule: scheduleOf(model.wanted), approval: { mode: 'never' }, budget: { maxMinutesPerRun: 1_440 }, plan: { phases: [{ description: names[n] }] }
    })
    ids.push(id)
    modes.set(names[n], 'ok')
    await engine.tasks.start(id)
    model.act('start', clock.now())
  }

  /** What the model's runs come to when nobody touches them. */
  const settle = () => {
    for (const [n, model] of models.entries()) {
      const mode = modes.get(names[n])!
      if (mode === 'hold') continue
      while (model.live !== undefined) model.end(mode === 'ok' ? 'completed' : 'failed')
    }
  }

  async function reopen (again: Engine) {
    engine = again
    await engine.tasks.open()
    for (const model of models) model.look(clock.now())
  }

  const act = {
    async verb ({ pick, task }: Extract<Action, { kind: 'verb' }>) {
      const model = models[task]
      const verb = verbFor(model, pick)
      const allowed = ALLOWED[verb].includes(model.status)
      const verbs = engine.tasks as unknown as Record<string, (id: string, body?: object) => Promise<unknown>>
      const refused = await (verb === 'steer' ? verbs.steer(ids[task], { comment: 'be brief', runNow: true }) : verbs[verb](ids[task])).then(() => undefined, (error) => error)
      if (refused !== undefined && refused.statusCode !== 409) throw refused
      if ((refused === undefined) !== allowed) throw new Error(`${verb} of a task that is ${model.status}: ${refused ?? 'was allowed'}`)
      if (allowed) model.act(verb, clock.now())
    },
    async put ({ task, wanted }: Extract<Action, { kind: 'put' }>) {
      await engine.tasks.update(ids[task], { schedule: scheduleOf(wanted) })
      models[task].put(wanted, clock.now())
    },
    async mode ({ task, mode }: Extract<Action, { kind: 'mode' }>) { engine.mode(names[task], mode) },
    async move ({ ms }: Extract<Action, { kind: 'move' }>) {
      await move(ms)
      for (const model of models) model.look(clock.now())
    },
    async kill () {
      await engine.kill()
      for (const [n, model] of models.entries()) {
        const run = model.live && await app.store.get<StoredRun>(runKey(ids[n], model.runs.indexOf(model.live) + 1))
        if (run?.status !== 'running') continue
        const crashes = run.crashes + (run.putDown ? 0 : 1)
        if (crashes > model.live!.crashes + 1) throw new Error(`${crashes} crashes counted of ${model.live!.crashes + 1}`)
        model.live!.crashes = crashes
        if (crashes >= 3) model.end('interrupted')
      }
      await reopen(new Engine(app, clock, modes))
    },
    async restart () {
      await engine.tasks.close()
      await reopen(new Engine(app, clock, modes))
    }
  }

  try {
    for (const [n, each] of actions.entries()) {
      await act[each.kind](each as never)
      // A kill may come while what was just acknowledged is still under way.
      const following = actions[n + 1]
      if (following?.kind === 'kill' && following.soon && each.kind === 'verb') continue
      settle()
      await agree(engine, ids, models, `after action ${n}, ${JSON.stringify(each)}`)
    }
  } finally {
    for (const id of ids) await engine.tasks.remove(id).catch(() => {})
    await engine.tasks.close()
  }
}

/** Waits until the engine has come to what the model says. */
async function agree ({ tasks }: Engine, ids: string[], models: ModelTask[], when: string) {
  const deadline = performance.now() + 20_000
  for (;;) {
    const [seen, wanted] = [await Promise.all(ids.map((id, n) => told(tasks, id, models[n].fates))), models.map(expected)]
    if (isDeepStrictEqual(seen, wanted)) return
    if (performance.now() > deadline) {
      for (const [n, each] of seen.entries()) for (const key of Object.keys(each) as Array<keyof typeof each>) if (!isDeepStrictEqual(each[key], wanted[n][key])) throw new Error(`${when}: ${key} of task ${n} is ${JSON.stringify(each[key])}, by the rules ${JSON.stringify(wanted[n][key])}`)
    }
    await turn()
  }
}

async function told (tasks: Engine['tasks'], id: string, hoped: Map<number, string>) {
  const { status, nextRunAt, pausedReason } = await tasks.get(id)
  const { runs } = await tasks.runs(id, { limit: 500 })
  const { upcoming, slots } = await tasks.schedule(id, { upcoming: 1, limit: 500 })
  const fates = new Map<number, string>()
  for (const { at, from = at, count = 1, fate, reason } of slots) {
    const every = count === 1 ? 1 : (at - from) / (count - 1)
    const name = reason === undefined ? fate : `${fate} ${reason}`
    // Once the clock was set back, times that were told of in one line may come again, each for itself.
    for (let time = from; time <= at; time += every) if (!fates.has(time) || hoped.get(time) === name) fates.set(time, name)
  }
  return {
    status,
    nextRunAt,
    pausedReason,
    upcoming: ['scheduled', 'running'].includes(status) && nextRunAt !== undefined ? upcoming[0] : undefined,
    runs: runs.toReversed().map(({ trigger, status, standsFor }) => [trigger, ['queued', 'running'].includes(status) ? 'live' : status, standsFor]),
    fates: [...fates].sort(([a], [b]) => a - b)
  }
}

const expected = ({ status, next, reason, runs, fates, plan }: ModelTask): Awaited<ReturnType<typeof told>> => ({
  status,
  nextRunAt: next,
  pausedReason: reason,
  // What is announced is what is foretold.
  upcoming: ['scheduled', 'running'].includes(status) && plan !== undefined ? next : undefined,
  runs: runs.map(({ trigger, status, standsFor }) => [trigger, status === 'running' ? 'live' : status, standsFor]),
  fates: [...fates].sort(([a], [b]) => a - b)
})

/** Random lives of two tasks, against the model. */
export async function fuzz (t: Test, { lives, seed }: { lives: number, seed: number }) {
  const app = await build(t, { config: { analysis: false } })
  let steps = 0
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 40, size: 'max' }), async (actions) => {
    steps += actions.length
    await live(app, actions)
  }), { numRuns: lives, seed, endOnFailure: true, includeErrorInReport: true })
  return steps
}
