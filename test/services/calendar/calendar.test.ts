import t from 'tap'
import { ZONES } from './cases.ts'
import { compareZone } from './compare.ts'

for (const timezone of Object.keys(ZONES)) {
  t.test(`words, durations and cron lines come when Temporal and croner say in ${timezone}, where its clocks are changed`, async (t) => {
    const { compared, differences } = await compareZone(timezone, { whole: false })

    t.ok(compared > 0)
    t.same(differences, [])
  })
}
