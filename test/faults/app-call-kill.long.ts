import t from 'tap'
import { countWrites, prepare, SCENARIOS, survives } from './app-call-kill.ts'

for (const scenario of SCENARIOS) {
  t.test(`${scenario.name}: killed at any durable write, each call of the application is executed once`, async (t) => {
    const prepared = await prepare(t, scenario)
    const writes = await countWrites(t, prepared, scenario)
    t.comment(`${writes} durable writes`)
    for (let n = 0; n < writes; n++) {
      for (const when of ['before', 'after']) await t.test(`${when} write ${n}`, (t) => survives(t, prepared, scenario, `${n} ${when}`))
    }
  })
}
