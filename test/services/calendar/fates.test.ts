import t from 'tap'
import { cases, ZONES } from './cases.ts'
import { live } from './simulation.ts'

t.test('through a year of naps, long sleeps, restarts, overlaps and small steps of the clock every time has one fate, and what is ' +
  'foretold is what comes', async (t) => {
  const zones = Object.entries(ZONES)
  let lives = 0
  for (const [i, [timezone, [year]]] of zones.entries()) {
    // Every kind of schedule has its turn in some zone, each zone two of them; croner is slow with those of every hour.
    const kinds = cases(year).filter((_, kind) => kind % zones.length === i)
    for (const kind of kinds) {
      const from = Date.UTC(year, 2, 1)
      t.same(await live(kind, timezone, from, from + 365 * 86_400_000, ++lives), [])
    }
  }
})
