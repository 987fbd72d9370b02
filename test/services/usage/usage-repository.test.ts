import t, { type Test } from 'tap'
import { createUsageRepository } from '../../../services/usage/usage-repository.ts'
import { noUsage } from '../../../services/usage/usage-sums.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { build } from '../../harness/helper.ts'
import { testStore } from '../../harness/store.ts'

const usage = { inputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0, costUsd: 0.1 }
const call = { model: 'test/model', role: 'fast' as const, usage }
const thread = { kind: 'thread' as const, id: 'chat' }

async function open (t: Test) {
  const app = await build(t)
  const log: string[] = []
  let isRefused = false
  const store = {
    ...app.store,
    transact: (ops: Parameters<typeof app.store.transact>[0]) => isRefused ? Promise.reject(new Error('no disk')) : app.store.transact(ops)
  }
  const parts = { store, clock: app.clock, log: { error: (_details: object, message: string) => log.push(message) } }
  const rows = async (repository: ReturnType<typeof createUsageRepository>) => {
    const days = []
    for await (const [, rows] of repository.days('2000-01-01', '9999-01-01')) days.push(...rows)
    return days
  }
  const repository = createUsageRepository(parts)
  return {
    log,
    repository,
    remove: (owner: typeof thread) => store.transact([repository.forget(owner)]),
    /** Another one, which knows only what is stored. */
    again: () => createUsageRepository(parts),
    rows,
    refuse: (refused: boolean) => {
      isRefused = refused
    }
  }
}

t.test('what the store refuses is stored with the next call', async (t) => {
  const { repository, again, rows, refuse, log } = await open(t)
  refuse(true)
  await repository.add({ ...call, owner: thread })
  await repository.idle()
  t.ok(log.length > 0)
  t.same(await rows(again()), [])
  refuse(false)
  await repository.add({ ...call, owner: thread })
  await repository.idle()
  t.match(await rows(again()), [{ calls: 2, inputTokens: 10, costUsd: 0.2 }])
  t.match(await again().of(thread), { calls: 2 })
})

t.test('a call that ends after the deletion of its thread is in the totals only; one of a new thread of that id is counted', async (t) => {
  const { repository, again, rows, remove } = await open(t)
  const since = repository.deletions()
  await repository.add({ ...call, owner: thread, since })
  await remove(thread)
  await repository.add({ ...call, owner: thread, since })
  t.equal(await repository.of(thread), undefined)
  await repository.add({ ...call, owner: thread, since: repository.deletions() })
  await repository.idle()
  t.match(await again().of(thread), { calls: 1 })
  t.match(await rows(again()), [{ calls: 3 }])
})

t.test('calls that end at the same moment are all counted', async (t) => {
  const { repository, again, rows } = await open(t)
  await Promise.all(Array.from({ length: 50 }, (_, n) => repository.add({ ...call, owner: { kind: 'task', id: `task-${n % 5}` } })))
  await repository.idle()
  t.match(await rows(again()), [{ calls: 50, of: 'task', costUsd: 5 }])
  const counts = []
  for await (const { total } of again().owners('task')) counts.push(total?.calls)
  t.same(counts, [10, 10, 10, 10, 10])
})

t.test('a day holds so many models; what is beyond is counted together', async (t) => {
  const { repository, again, rows } = await open(t)
  for (let n = 0; n < 310; n++) await repository.add({ ...call, model: `test/${n}` })
  await repository.idle()
  const stored = await rows(again())
  t.equal(stored.length, 301)
  t.match(stored.at(-1), { model: 'other', calls: 10 })
})

t.test('no call is lost, however many conversations use models at once', async (t) => {
  const store = await testStore(t)
  const repository = createUsageRepository({ store, clock: systemClock, log: { error: (_details, message) => t.fail(message) } })
  const usage = { ...noUsage(), inputTokens: 1 }
  let calls = 0
  const count = (thread: number) => {
    calls++
    return repository.add({ model: 'a/model', role: 'fast', usage, owner: { kind: 'thread', id: `thread ${thread}` } })
  }
  for (let thread = 0; thread < 1_200; thread += 40) {
    await Promise.all(Array.from({ length: 40 }, (_, nth) => count(thread + nth)))
    await repository.idle()
  }
  let ofDays = 0
  for await (const [, rows] of repository.days('2000-01-01', '9999-12-31')) for (const row of rows) ofDays += row.calls
  let ofThreads = 0
  for await (const { total } of repository.owners('thread')) ofThreads += total!.calls
  t.equal(ofDays, calls)
  t.equal(ofThreads, calls)
})
