import t from 'tap'
import { countRehearsalWrites, prepareRehearsal, survivesRehearsal } from './rehearsal-kill.ts'

t.test('killed at a write of a rehearsal, the service leaves the folder as it was, and ends the rehearsal', async (t) => {
  const prepared = await prepareRehearsal(t)
  const writes = await countRehearsalWrites(t, prepared)
  // All of them: test/faults/rehearsal-kill.long.ts.
  for (let n = 3; n < writes; n += 6) {
    const when = n % 12 === 3 ? 'before' : 'after'
    await t.test(`${when} write ${n} of ${writes}`, (t) => survivesRehearsal(t, prepared, `${n} ${when}`))
  }
})
