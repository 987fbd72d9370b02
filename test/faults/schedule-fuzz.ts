import fc from 'fast-check'
import type { Test } from 'tap'
import type { App } from '../../app.ts'
import { type StoredRun } from '../../services/tasks/task-records.ts'
import { build } from '../harness/helper.ts'
import { agree } from './schedule-agree.ts'
import { Engine, LOOK_MS, setClock, type Mode } from './schedule-engine.ts'
import { ALLOWED, ModelTask, scheduleOf, type Wanted } from './schedule-model.ts'
import { runKey, taskRunKey } from '../../services/store/keys.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TASKS = 2

type Action =
  | { kind: 'verb', pick: number, task: number }
  | { kind: 'put', task: number, wanted: Wanted }
  | { kind: 'mode', task: number, mode: Mode }
  | { kind: 'move', ms: number }
  | { kind: 'kill', soon: boolean }
  | { kind: 'restart' }

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
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      ms: fc.constantFrom(
        LOOK_MS,
        ...Array<number>(5).fill(10 * MINUTE),
        11 * MINUTE,
        25 * MINUTE,
        HOUR,
        HOUR,
        DAY,
        3 * DAY,
        -MINUTE,
        -25 * MINUTE,
        -2 * HOUR,
        -2 * DAY
      )
    })
  },
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
      goal: `system info for ${names[n]}`,
      taskType: 'recurring',
      schedule: scheduleOf(model.wanted),
      approval: { mode: 'never' },
      budget: { maxMinutesPerRun: 1_440 },
      plan: { phases: [{ description: names[n] }] }
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
      while (model.live !== undefined) model.end(mode === 'ok' ? 'completed' : 'failed', clock.now())
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
      const verbs = engine.tasks as unknown as Record<string, (id: string, more?: unknown) => Promise<unknown>>
      const { runs } = await engine.tasks.runs(ids[task], { limit: 500 })
      // The one at work, else the last.
      const run = model.live === undefined ? runs[0] : runs.find(({ runNumber }) => runNumber === model.runs.indexOf(model.live!) + 1)
      if (verb === 'cancelRun' && run === undefined) return
      const more: Record<string, unknown> = { run: {}, steer: { comment: 'be brief', runNow: true }, cancelRun: run?.runId }
      const refused = await verbs[verb](ids[task], more[verb]).then(() => undefined, (error) => error)
      if (refused !== undefined && refused.code !== 'ERR_TASK_STATE') throw refused
      if ((refused === undefined) !== allowed) throw new Error(`${verb} of a task that is ${model.status}: ${refused ?? 'was allowed'}`)
      if (allowed) model.act(verb, clock.now())
    },
    async put ({ task, wanted }: Extract<Action, { kind: 'put' }>) {
      await engine.tasks.update(ids[task], { schedule: scheduleOf(wanted) })
      models[task].put(wanted, clock.now())
    },
    async mode ({ task, mode }: Extract<Action, { kind: 'mode' }>) {
      engine.mode(names[task], mode)
    },
    async move ({ ms }: Extract<Action, { kind: 'move' }>) {
      await move(ms)
      for (const model of models) model.look(clock.now())
    },
    async kill () {
      await engine.kill()
      for (const [n, model] of models.entries()) {
        const number = model.live && model.runs.indexOf(model.live) + 1
        const place = number && await app.store.get<{ runId: string }>(taskRunKey(ids[n], number))
        const run = place ? await app.store.get<StoredRun>(runKey(place.runId)) : undefined
        if (run?.status !== 'running') continue
        const crashes = run.crashes + (run.suspended ? 0 : 1)
        if (crashes > model.live!.crashes + 1) throw new Error(`${crashes} crashes counted of ${model.live!.crashes + 1}`)
        model.live!.crashes = crashes
        if (crashes >= 3) model.end('interrupted', clock.now())
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

/** Random lives of two tasks, against the model. */
export async function fuzz (t: Test, { lives, seed }: { lives: number, seed: number }) {
  const app = await build(t, { config: { analysis: false } })
  let steps = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 40, size: 'max' }), async (actions) => {
      steps += actions.length
      await live(app, actions)
    }),
    { numRuns: lives, seed, endOnFailure: true, includeErrorInReport: true }
  )
  return steps
}
