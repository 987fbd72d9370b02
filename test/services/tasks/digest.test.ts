import t from 'tap'
import { createLedger } from '../../../services/approvals/ledger.ts'
import { createRunRepository } from '../../../services/runs/run-repository.ts'
import { createTaskRepository } from '../../../services/tasks/task-repository.ts'
import { createUsageRepository } from '../../../services/usage/usage-repository.ts'
import { createDigest } from '../../../services/tasks/digest/digest.ts'
import type { Store } from '../../../services/store/store-types.ts'
import { fakeClock } from '../../harness/clock.ts'
import { testStore } from '../../harness/store.ts'
import { seedPast } from './past.ts'

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
  const repository = createTaskRepository({ store, clock, runs: createRunRepository({ store, clock }), ledger, usage, emit () {} })
  await repository.index.load()
  read.records = 0
  const digest = createDigest({ repository, ledger, liveQuestions, store, clock, timezone: () => 'UTC' })

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
