import t from 'tap'
import { countWrites, prepare, survives } from './outage-kill.ts'

t.test('killed at any durable write of an outage, a run is neither lost nor doubled, nor is what it does', async (t) => {
  const prepared = await prepare(t)
  const { writes } = await countWrites(t, prepared)
  t.comment(`${writes} durable writes`)
  for (let n = 0; n < writes; n++) {
    for (const when of ['before', 'after']) {
      await t.test(`${when} write ${n}`, async (t) => {
        const refusals = await survives(t, prepared, `${n} ${when}`)
        t.ok(refusals === 1 || refusals === 2, `refused ${refusals} times`)
      })
    }
  }
})
