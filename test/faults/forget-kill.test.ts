import t from 'tap'
import { forgetThroughDeath, prepareForgetting } from './forget-kill.ts'

// One moment of one model; test/faults/forget-kill.long.ts has all of both.
t.test('what a careless model learned, learns meanwhile and reads again stays forgotten over a kill', async (t) => {
  const prepared = await prepareForgetting(t, 'careless')
  const { first } = await forgetThroughDeath(t, prepared, 'count')
  const { died, facts } = await forgetThroughDeath(t, prepared, `${first + 2} before`)
  t.ok(died)
  t.ok(facts.some((fact) => fact.includes('Vänern')), 'what is about something else stays')
  t.notOk(facts.some((fact) => fact.includes('Orta')), facts.join())
})
