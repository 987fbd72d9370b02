import t from 'tap'
import { countMarkWrites, prepareMarks, survivesGrant } from './grant-kill.ts'

t.test('killed at a write of a run with a grant, the service counts each use once and makes no effect twice', async (t) => {
  const prepared = await prepareMarks(t)
  const writes = await countMarkWrites(t, prepared)
  // All of them: test/faults/grant-kill.long.ts.
  for (let n = 3; n < writes; n += 4) {
    const when = n % 8 === 3 ? 'before' : 'after'
    await t.test(`${when} write ${n} of ${writes}`, (t) => survivesGrant(t, prepared, `${n} ${when}`))
  }
})
