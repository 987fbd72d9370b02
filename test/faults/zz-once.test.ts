import t from 'tap'
import { countWrites, prepare, SCENARIOS, survives } from './tasks-kill.ts'
const scenario = SCENARIOS.moved
t.test(scenario.name, async (t) => {
  const prepared = await prepare(t, scenario)
  const writes = await countWrites(t, prepared, scenario)
  t.comment(`${writes} durable writes`)
  for (let n = 0; n < writes; n++) for (const when of ['before', 'after']) await t.test(`${when} write ${n}`, (t) => survives(t, prepared, scenario, `${n} ${when}`))
})
