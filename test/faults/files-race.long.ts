import t from 'tap'
import { transform } from '../services/tools/helper.ts'
import { race, RACES } from '../services/tools/swapping.ts'

t.teardown(transform.close)

const RACE_MS = 20_000

for (const name of Object.keys(RACES)) {
  t.test(`${name}, swapped for a symlink for a long time, leads nowhere else`, { timeout: 4 * RACE_MS }, (t) => race(t, name, RACE_MS))
}
