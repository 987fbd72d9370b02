import t from 'tap'
import { prepareWrites, stepsOf, survivesWrite } from './journal-kill.ts'

t.test('killed at a step of a run that writes and deletes, the service has what was changed, and an undo brings it back', async (t) => {
  const prepared = await prepareWrites(t)
  const steps = await stepsOf(t, prepared)
  // All of them: test/faults/journal.long.ts.
  for (let n = 2; n < steps; n += 4) {
    await t.test(`step ${n} of ` +
    `${steps}`, (t) => survivesWrite(t, prepared, `${n} ${n % 8 === 2 ? 'before' : 'after'}`))
  }
})
