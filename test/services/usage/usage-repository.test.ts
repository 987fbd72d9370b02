import t from 'tap'
import { createUsageRepository } from '../../../services/usage/usage-repository.ts'
import { noUsage } from '../../../services/usage/usage-sums.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { testStore } from '../../harness/store.ts'

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
