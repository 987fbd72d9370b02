import t from 'tap'
import { WAYS as FRESH } from '../services/sandbox/cases/obeyed-ways-fresh-held.ts'
import { WAYS as FRESH_2 } from '../services/sandbox/cases/obeyed-ways-fresh-held-2.ts'
import { WAYS as FRESH_3 } from '../services/sandbox/cases/obeyed-ways-fresh-held-3.ts'
import { WAYS as HELD } from '../services/sandbox/cases/obeyed-ways-held.ts'
import { WAYS as MORE } from '../services/sandbox/cases/obeyed-ways-more.ts'
import { WAYS as OPEN } from '../services/sandbox/cases/obeyed-ways-open.ts'
import { type ObeyedWay, tryWays } from '../services/sandbox/obeyed-ways.ts'

const limits = { skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux', timeout: 600_000 }

const HALVES = [
  ['open', OPEN, 0], ['further', MORE, 0], ['held', HELD, 1], ['fresh', [...FRESH, ...FRESH_2], 0], ['newest', FRESH_3, 1]
] as const

// Some of the held ways still do.
for (const [half, ways, most] of HALVES) {
  t.test(`of the ${half} ways ${most} at most has the user run what a command in the box left`, limits, async (t) => {
    const tripped = await tryWays(ways)
    t.ok(tripped.length <= most, `${tripped.length} of ${ways.length}`)
  })
}

t.test('without the box nearly all of them do', limits, async (t) => {
  const all = HALVES.flatMap(([, ways]): readonly ObeyedWay[] => ways)
  const tripped = await tryWays(all, { isBoxed: false })
  t.ok(tripped.length >= 0.9 * all.length, `${tripped.length} of ${all.length}`)
})
