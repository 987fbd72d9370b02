import t from 'tap'
import { countWrites, prepare, survives } from './question-kill.ts'

t.test('killed at any durable write, the service asks once and tells the model what was answered', async (t) => {
  const prepared = await prepare(t)
  const { writes } = await countWrites(t, prepared)
  for (let n = 0; n < writes; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} write ${n}`, (t) => survives(t, prepared, `${n} ${when}`))
  }
})
