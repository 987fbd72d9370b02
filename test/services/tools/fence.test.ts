import t from 'tap'
import { createFence } from '../../../services/tools/fence.ts'

t.test('only the newest attempt at a run passes', async (t) => {
  const fence = createFence()
  const first = fence.enter('a')
  fence.check('a', first)
  const other = fence.enter('b')
  const second = fence.enter('a')
  t.throws(() => fence.check('a', first), { code: 'ERR_STALE_ATTEMPT' })
  fence.check('a', second)
  fence.check('b', other)
})

t.test('a run that left lets nobody pass, and coming back it never repeats a number', async (t) => {
  const fence = createFence()
  const seen = new Set<number>()
  for (let round = 0; round < 5; round++) {
    const attempt = fence.enter('a')
    seen.add(attempt)
    fence.leave('a')
    t.throws(() => fence.check('a', attempt), { code: 'ERR_STALE_ATTEMPT' })
  }
  t.equal(seen.size, 5)
  t.throws(() => fence.check('never', 1), { code: 'ERR_STALE_ATTEMPT' })
})
