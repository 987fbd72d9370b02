import t from 'tap'
import { createLedger } from '../../../services/approvals/ledger.ts'
import { createRunRepository } from '../../../services/runs/run-repository.ts'
import { facts } from '../../harness/facts.ts'
import { createTaskRepository } from '../../../services/tasks/task-repository.ts'
import { createUsageRepository } from '../../../services/usage/usage-repository.ts'
import { createDigest } from '../../../services/tasks/digest/digest.ts'
import type { Store } from '../../../services/store/store-types.ts'
import { fakeClock } from '../../harness/clock.ts'
import { testStore } from '../../harness/store.ts'
import { seedPast } from './past.ts'
import { newId } from '../../../services/lib/ids.ts'
import { outcomeOfRun } from '../../../services/tasks/schedule/outcomes.ts'

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
    accepted: async () => undefined
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
  const repository = createTaskRepository({
    store,
    clock,
    runs: createRunRepository({ store, clock, facts }),
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
    accepted: async () => undefined
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
})
