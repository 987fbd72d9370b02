import t, { type Test } from 'tap'
import type { App } from '../../../app.ts'
import type { TaskStatus } from '../../../schemas/tasks.ts'
import { createLedger } from '../../../services/approvals/ledger.ts'
import { newId } from '../../../services/lib/ids.ts'
import { createRunRepository } from '../../../services/runs/run-repository.ts'
import { TASK_STATES, taskKey } from '../../../services/store/keys.ts'
import type { Op, Store } from '../../../services/store/store-types.ts'
import { createDigest } from '../../../services/tasks/digest/digest.ts'
import { outcomeOfRun } from '../../../services/tasks/schedule/outcomes.ts'
import type { StoredTask } from '../../../services/tasks/task-records.ts'
import { createTaskRepository } from '../../../services/tasks/task-repository.ts'
import { createUsageRepository } from '../../../services/usage/usage-repository.ts'
import { of, say } from '../../harness/agent.ts'
import { fakeClock } from '../../harness/clock.ts'
import { facts } from '../../harness/facts.ts'
import { build } from '../../harness/helper.ts'
import { textOf } from '../../harness/sse.ts'
import { testStore } from '../../harness/store.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import { seedPast } from './past.ts'

const PLAN = { phases: [{ description: 'Look' }] }

/** Adds so many copies of a task in that state to the disk, with their entries in the index unless those are `lost`. */
async function seed ({ store }: App, task: object, status: TaskStatus, count: number, { lost = false } = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, newId)
  const ops = ids.flatMap((id): Op[] => [
    { type: 'put', key: taskKey(id), value: { ...task, id, status } },
    ...lost ? [] : [{ type: 'put' as const, key: `${TASK_STATES}${status}/one_shot/${id}`, value: {} }]
  ])
  for (let at = 0; at < ops.length; at += 2_000) await store.transact(ops.slice(at, at + 2_000))
  return ids
}

/** A record of a task as this version stores it. */
async function template (t: Test): Promise<StoredTask> {
  const app = await build(t)
  const task = (await app.inject({ method: 'POST', url: '/tasks', payload: { goal: 'look around', plan: PLAN } })).json()
  const stored = await app.store.get<StoredTask>(taskKey(task.id))
  await app.close()
  return stored!
}

/** Counts the records of tasks that are read from now on. */
function countReads ({ store }: App) {
  const { get, list } = store
  const read = { tasks: 0 }
  const count = (key: string) => {
    if (key.startsWith('task/')) read.tasks++
  }
  store.get = (key) => {
    count(key)
    return get(key)
  }
  store.list = async function * <T> (...args: Parameters<typeof list>) {
    for await (const entry of list<T>(...args)) {
      count(entry[0])
      yield entry
    }
  } as typeof list
  return read
}

t.test('a filtered list reads the tasks that it shows, and no other', async (t) => {
  const task = await template(t)
  const app = await build(t)
  const planned = await seed(app, task, 'planned', 3)
  await seed(app, task, 'completed', 1_000)
  const newest = await seed(app, task, 'planned', 1)
  const read = countReads(app)
  const list = async (query: string) => (await app.inject(`/tasks?${query}`)).json()
  const idsOf = ({ tasks }: { tasks: Array<{ id: string }> }) => tasks.map(({ id }) => id)

  const first = await list('status=planned&limit=2')
  t.same(idsOf(first), [newest[0], planned[2]], 'newest first')
  t.ok(read.tasks <= 3, `${read.tasks} read`)
  const second = await list(`status=planned&limit=2&cursor=${first.nextCursor}`)
  t.same([idsOf(second), second.nextCursor], [[planned[1], planned[0]], undefined])
  t.same(idsOf(await list('status=failed')), [])
  t.same(idsOf(await list('type=recurring')), [])
  t.ok(read.tasks <= 8, `${read.tasks} read`)

  await app.inject({ method: 'POST', url: `/tasks/${planned[0]}/cancel` })
  await app.inject({ method: 'DELETE', url: `/tasks/${planned[1]}` })
  t.same(idsOf(await list('status=planned&type=one_shot')), [newest[0], planned[2]])
  t.same(idsOf(await list('status=cancelled')), [planned[0]])
})

t.test('a start reads no finished task, and gives tasks whose entries in the index were lost their places again', async (t) => {
  const task = await template(t)
  const first = await build(t)
  await seed(first, task, 'completed', 300)
  const [unlisted] = await seed(first, task, 'failed', 1, { lost: true })
  await seed(first, task, 'planned', 2)
  await first.close()

  for (const expected of [6, 4]) {
    const app = await build(t, { home: first.home, cwd: first.cwd })
    const read = countReads(app)
    await app.tasks.open()
    // Each task that is not finished is read twice, for its times and for its triggers; of the one without an entry first its state, once.
    t.ok(read.tasks <= expected, `${read.tasks} read`)
    t.same((await app.inject('/tasks?status=failed')).json().tasks.map(({ id }: { id: string }) => id), [unlisted])
    await app.close()
  }
})

t.test('of tasks made at the same moment only so many find room; finished ones take none', async (t) => {
  const task = await template(t)
  const app = await build(t)
  const [planned] = await seed(app, task, 'planned', 996)
  const [done] = await seed(app, task, 'completed', 50)
  const tasks = await tasksOf(t, app)
  const create = () => tasks.call('POST', '', { goal: 'look around', plan: PLAN })
  const made = await Promise.all(Array.from({ length: 10 }, create))
  t.same(made.map(({ status }) => status).sort(), [...Array(4).fill(201), ...Array(6).fill(409)])
  const refused = made.find(({ status }) => status === 409)!.body
  t.match(refused, { code: 'ERR_TOO_MANY_TASKS', error: /1000 tasks that are not finished/ })
  t.match(
    await tasks.call('POST', `/${done}/start`),
    { status: 409, body: { code: 'ERR_TOO_MANY_TASKS' } },
    'a finished one that begins anew needs room, too'
  )

  t.equal((await tasks.call('POST', `/${planned}/cancel`)).status, 200)
  t.equal((await create()).status, 201)
  t.equal((await create()).status, 409)
})

t.test('beyond 10,000 finished tasks a new one is a 409 that says to delete some', async (t) => {
  const task = await template(t)
  const app = await build(t)
  const [done] = await seed(app, { id: task.id }, 'completed', 10_000)
  const tasks = await tasksOf(t, app)
  const create = () => tasks.call('POST', '', { goal: 'look around', plan: PLAN })
  t.match(await create(), { status: 409, body: { code: 'ERR_TOO_MANY_TASKS', error: /10000 finished tasks; delete some first/ } })
  t.equal((await tasks.call('DELETE', `/${done}`)).status, 200)
  t.equal((await create()).status, 201)
})

t.test('among 5,000 tasks a conversation makes and lists its own without reading the others, and ten at most', async (t) => {
  const task = await template(t)
  let call: { toolName: string, input: object } | undefined
  const { app } = await withGateway(t, ({ body }) => {
    const { role, content } = body.prompt.at(-1)
    return role === 'user' && call !== undefined ? { toolCalls: [call] } : { text: JSON.stringify(content) }
  }, { structured: () => ({ object: { phases: [{ description: 'look' }], qualityCriteria: [] } }) })
  await seed(app, { ...task, threadId: 'another' }, 'completed', 5_000)
  const tell = async (toolName: string, input: object) => {
    call = { toolName, input }
    const { events } = await say(app, 'please', { id: 'chat' })
    return { text: textOf(events), ids: of(events, 'data-task').map(({ data }) => data.taskId) }
  }
  const make = (n: number) => tell('createTask', { goal: `number ${n}`, when: { every: 'daily', zone: 'UTC' } })
  const { ids: [first] } = await make(1)
  const read = countReads(app)
  for (let n = 2; n <= 10; n++) await make(n)
  t.match((await make(11)).text, /has made 10 tasks already/)
  t.match((await tell('listTasks', {})).text, /number 10.*total.{0,4}5010/)
  t.ok(read.tasks <= 150, `${read.tasks} read`)
  t.equal((await app.inject({ method: 'DELETE', url: `/tasks/${first}` })).statusCode, 200)
  t.equal((await make(11)).ids.length, 1, 'a deleted one makes room')
})

const NO_NOTIFICATIONS = { ops: () => [], closing: () => [], toldBy: () => [] }

/** How many records are read. */
function counting (store: Store) {
  const read = { records: 0 }
  const counted: Store = {
    ...store,
    get (key) {
      read.records++
      return store.get(key)
    },
    async * list<T> (prefix: string, options?: object) {
      for await (const entry of store.list<T>(prefix, options)) {
        read.records++
        yield entry
      }
    }
  }
  return { read, store: counted }
}

t.test('a digest reads the tasks and what came since, however much came before', async (t) => {
  const clock = fakeClock()
  const disk = await testStore(t, clock)
  await seedPast(disk, { tasks: 20, runs: 100, now: clock.now() })
  const { read, store } = counting(disk)
  const ledger = createLedger({ store, clock })
  const liveQuestions = { ofTask: () => [] }
  const usage = createUsageRepository({ store, clock, log: { error () {} } })
  const runs = createRunRepository({ store, clock, facts })
  const repository = createTaskRepository({ store, clock, runs, ledger, usage, notifications: NO_NOTIFICATIONS, emit () {} })
  await repository.index.load()
  read.records = 0
  const { digest } = createDigest({
    ...{ repository, ledger, liveQuestions, store, clock },
    timezone: () => 'UTC',
    missingGrant: async () => ({}),
    accepted: async () => undefined,
    tools: { say: ({ toolName }) => ({ text: toolName, about: '' }), identity: () => undefined, permission: () => 'allow' },
    chats: { threads: { list: async () => ({ threads: [] }) }, runs, grants: { views: async () => [] } }
  })

  const recent = await digest({ since: clock.now() - 59_999, limit: 5 })
  t.match(recent, {
    completed: { items: { length: 5 }, more: 10 },
    failed: { items: { length: 5 }, more: 0 },
    notRun: { items: { length: 5 }, more: 15 }
  })
  t.ok(read.records < 20 + 20 + 20 + 2 * 5 + 10, `${read.records} records read`)

  read.records = 0
  const all = await digest({ since: 0, limit: 5 })
  t.match(all, { completed: { items: { length: 5 }, more: 995 }, failed: { more: 495 } })
  t.match(all.text, /at least 1000 runs completed, 500 runs failed/)
  t.ok(read.records < 20 + 1_001 + 500 + 2_000 + 20, `${read.records} records read`)
})

t.test('by task, runs with nothing to do are a number, and hide neither the run that found something nor a failure', async (t) => {
  const clock = fakeClock()
  const store = await testStore(t, clock)
  await seedPast(store, { tasks: 4, runs: 2, now: clock.now() - 60_000 })
  const runs = createRunRepository({ store, clock, facts })
  const repository = createTaskRepository({
    store,
    clock,
    runs,
    ledger: createLedger({ store, clock }),
    usage: createUsageRepository({ store, clock, log: { error () {} } }),
    notifications: NO_NOTIFICATIONS,
    emit () {}
  })
  const { digest, seen } = createDigest({
    repository,
    ledger: createLedger({ store, clock }),
    liveQuestions: { ofTask: () => [] },
    store,
    clock,
    timezone: () => 'UTC',
    missingGrant: async () => ({}),
    accepted: async () => undefined,
    tools: { say: ({ toolName }) => ({ text: toolName, about: '' }), identity: () => undefined, permission: () => 'allow' },
    chats: { threads: { list: async () => ({ threads: [] }) }, runs, grants: { views: async () => [] } }
  })
  const [quiet] = (await repository.index.load()).notFinished()
  const idle = Array.from({ length: 2_016 }, (_, n) =>
    outcomeOfRun('put', {
      taskId: quiet,
      runId: newId(),
      status: 'completed',
      completedAt: clock.now() - 30_000 - n,
      toolCalls: [],
      evaluation: { qualityScore: 1, satisfied: true, issues: [], outcome: 'nothing_to_do' }
    })).flat()
  await store.transact(idle)

  const week = await digest({ since: 0, limit: 10 })
  t.match(week, { nothingToDo: 2_016, completed: { items: { length: 6 }, more: 0 }, text: /6 runs completed, 2 runs failed, 2016 runs/ })
  t.equal(week.tasks.items.length, 4)
  const [first] = week.tasks.items
  t.equal(first.taskId, quiet, 'what is newest comes first')
  t.match(week.tasks.items.find(({ taskId }) => taskId === quiet), {
    nothingToDo: 2_016,
    runs: { items: [{ status: 'completed', output: /found/ }, { status: 'completed' }], more: 0 },
    passed: [{ fate: 'skipped', reason: 'overlap', count: 2, text: /2 times from/ }],
    text: /: 2 runs, 2016 others with nothing to do, 2 planned times without a run\.$/
  })

  await t.rejects(digest({ limit: 1 }), { code: 'ERR_BAD_REQUEST' })
  t.equal((await digest({ client: 'phone', limit: 1 })).since, clock.now() - 86_400_000, 'a reader that has seen none begins a day ago')
  t.same(await seen({ client: 'phone', until: clock.now() - 40_000 }), { client: 'phone', until: clock.now() - 40_000 })
  t.same(await seen({ client: 'phone', until: 1 }), { client: 'phone', until: clock.now() - 40_000 }, 'it never goes back')
  t.match(await digest({ client: 'phone', limit: 1 }), { since: clock.now() - 40_000, completed: { items: [] } })
  t.match(await digest({ client: 'phone', since: 0, limit: 1 }), { since: 0 })
  const [now, earlier] = [clock.now(), clock.now() - 10_000]
  await Promise.all([seen({ client: 'phone', until: now }), seen({ client: 'phone', until: earlier })])
  t.equal((await digest({ client: 'phone', limit: 1 })).since, now, 'nor of two that say so at once')
})
