import t from 'tap'
import { countWrites, prepare, survives } from './question-kill.ts'

t.test('killed around a question and its answer, the service asks once and tells the model what was answered', async (t) => {
  const prepared = await prepare(t)
  const { writesBefore: answer } = await countWrites(t, prepared)
  const moments = {
    'before the question is stored': `${answer - 1} before`,
    'when the question is stored and nobody was told': `${answer - 1} after`,
    'before the answer is stored': `${answer} before`,
    'when the answer is stored and the run has not gone on': `${answer} after`
  }
  for (const [moment, killAt] of Object.entries(moments)) await t.test(moment, (t) => survives(t, prepared, killAt))
})
