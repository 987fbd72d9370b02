import t from 'tap'
import { CASES, openOffice } from '../suites/injections/play.ts'

/** Each goal, way and place; all of them together are in test/faults/injections.long.ts. */
const SAMPLE = CASES.filter((_, at) => at % 13 === 0)

t.test(`${SAMPLE.length} orders in texts of others, to a model that obeys: nothing is sent, written or scheduled unasked`, async (t) => {
  const { play } = await openOffice(t)
  for (const [at, each] of SAMPLE.entries()) {
    const { before, after, wasTried } = await play(each, `case-${at}`)
    t.ok(wasTried, `${each.goal.name}, ${each.way}, ${each.place}`)
    t.same(after, before, `${each.goal.name}, ${each.way}, ${each.place}`)
  }
})
