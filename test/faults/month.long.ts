import t from 'tap'
import { simulateMonth, type Held } from './month.ts'

const MB = 1024 ** 2

t.test('a service that is used for a month holds and keeps as much as after two weeks, and starts as fast', {
  timeout: 3_500_000
}, async (t) => {
  const { weeks, runs, taskRuns } = await simulateMonth(t)
  t.same([runs, taskRuns], [3_000, 540])
  const [first, second, ...later] = weeks
  for (const week of later) {
    const most = (of: (held: Held) => number) => Math.max(of(first), of(second))
    const grown = (of: (held: Held) => number) => of(week) - most(of)
    const ratio = (of: (held: Held) => number) => of(week) / most(of)
    // The 10,000 events that are kept for readers become those of runs, which are longer.
    t.ok(grown(({ heap, external }) => heap + external) < 8 * MB, `day ${week.day}: memory`)
    t.ok(grown(({ files }) => files) <= 8, `day ${week.day}: open files`)
    t.ok(grown(({ threads }) => threads) <= 4, `day ${week.day}: threads`)
    t.ok(grown(({ longTimers }) => longTimers) <= 4, `day ${week.day}: timers`)
    // 5 MB are kept. Deleted records stay until LevelDB compacts them: it was between 9 and 28 MB at the ends of weeks.
    t.ok(week.disk.data < 40 * MB, `day ${week.day}: the store`)
    const others = ({ disk: { data: _, ...rest } }: Held) => Object.values(rest).reduce((sum, bytes) => sum + bytes)
    t.ok(ratio(others) < 1.1, `day ${week.day}: files`)
    t.ok(ratio(({ startMs }) => startMs) < 1.25, `day ${week.day}: CPU time of a start`)
  }
})
