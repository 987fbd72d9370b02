import t from 'tap'
import { fuzz } from './schedule-fuzz.ts'

t.test('whatever is done to tasks in whatever order, they are as the rules have it, and every planned time has one fate', async (t) => {
  t.ok(await fuzz(t, { lives: 4, seed: 20_261_121 }) > 80)
})
