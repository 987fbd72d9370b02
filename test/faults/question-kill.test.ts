import t from 'tap'
import { countMarkWrites, prepareMarks, survivesGrant } from './grant-kill.ts'
import { countWrites, prepare, survives } from './question-kill.ts'

t.test('killed around a question and its answer, the service asks once and tells the model what was answered', async (t) => {
  const prepared = await prepare(t)
  const { writesBefore: answer } = await countWrites(t, prepared)
  const moments = {
    'when the question is stored and nobody was told': `${answer - 1} after`,
    'when the answer is stored and the run has not gone on': `${answer} after`
  }
  for (const [moment, killAt] of Object.entries(moments)) await t.test(moment, (t) => survives(t, prepared, killAt))
})

t.test('killed at a write of a run with a grant, the service counts each use once and makes no effect twice', async (t) => {
  const prepared = await prepareMarks(t)
  const writes = await countMarkWrites(t, prepared)
  // All of them: test/faults/grant-kill.long.ts.
  for (let n = 3; n < writes; n += 12) {
    const when = n % 24 === 3 ? 'before' : 'after'
    await t.test(`${when} write ${n} of ${writes}`, (t) => survivesGrant(t, prepared, `${n} ${when}`))
  }
})
