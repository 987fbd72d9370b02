import t from 'tap'
import { checkNight } from './nights-checks.ts'

/** NIGHTS=7 lives through the seventh night alone, NIGHTS=7-12 through those. */
const [first = 1, last = first] = (process.env.NIGHTS ?? '1-50').split('-').map(Number)

for (let seed = first; seed <= last; seed++) {
  const name = `in the morning of night ${seed} everything planned has a fate, every claim its call and every act its reason`
  t.test(name, { timeout: 900_000 }, (t) => checkNight(t, seed))
}
