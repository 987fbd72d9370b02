import t from 'tap'
import { prepare, SCENARIOS, survives } from './app-call-kill.ts'

// Some of the durable writes from the call on; the long form takes all of them.
const MOMENTS = { chat: ['9 before', '12 after'], task: ['15 after', '20 before'] }

for (const [as, moments] of Object.entries(MOMENTS)) {
  const scenario = SCENARIOS.find((each) => each.as === as && each.steps.length === 2)!
  t.test(`${scenario.name}, killed, has each call of the application executed once`, async (t) => {
    const prepared = await prepare(t, scenario)
    for (const killAt of moments) await t.test(killAt, (t) => survives(t, prepared, scenario, killAt))
  })
}
