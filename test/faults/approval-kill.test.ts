import t from 'tap'
import { prepare, SCENARIOS, survives } from './approval-kill.ts'

// The durable writes of two approved calls: that the service began, what was said, the questions, the answers, the
// next segment, then `executing` and `done` of each.
const MOMENTS = {
  'before the first call has begun': '5 after',
  'when the first call has happened and nobody knows': '6 before',
  'before the second call has begun': '7 after'
}

t.test('killed around an approved call, the service doubles no effect, and the conversation goes on', async (t) => {
  const scenario = SCENARIOS.find(({ name }) => name === 'two calls of one step')!
  const prepared = await prepare(t, scenario)
  for (const [moment, killAt] of Object.entries(MOMENTS)) await t.test(moment, (t) => survives(t, prepared, scenario, killAt))
})

t.test('killed around permitted calls of a run that continues, the service doubles no effect either', async (t) => {
  const scenario = SCENARIOS.find(({ permitted }) => permitted)!
  const prepared = await prepare(t, scenario)
  // After the approved call (writes 5 and 6) come the intent and the outcome of each permitted one.
  const moments = { 'before the first has begun': '7 after', 'when the second has happened and nobody knows': '10 before' }
  for (const [moment, killAt] of Object.entries(moments)) await t.test(moment, (t) => survives(t, prepared, scenario, killAt))
})

t.test('killed while calls are asked about anew, since their folder has changed, the service runs them in no other', async (t) => {
  const scenario = SCENARIOS.find(({ moves }) => moves)!
  const prepared = await prepare(t, scenario)
  // The sixth write holds the new requests and the end of the old ones.
  await survives(t, prepared, scenario, '5 after')
})
