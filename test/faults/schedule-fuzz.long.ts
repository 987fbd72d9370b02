import t from 'tap'
import { fuzz } from './schedule-fuzz.ts'

for (let seed = 1; seed <= 10; seed++) {
  t.test(`thousands of things done to tasks leave them as the rules have it, seed ${seed}`, async (t) => {
    const steps = await fuzz(t, { lives: 30, seed })

    t.comment(`${steps} steps`)
    t.ok(steps > 500)
  })
}
