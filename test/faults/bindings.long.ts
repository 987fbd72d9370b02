import t from 'tap'
import { interleave } from './bindings.ts'

for (let part = 1; part <= 4; part++) {
  t.test(`2,500 times (${part} of 4): no byte of another program is lost, nothing is written unseen`, { timeout: 600_000 }, async (t) => {
    const { found, lost } = await interleave(t, { rounds: 2_500, mayRename: 0 })
    t.comment(JSON.stringify(found))
    t.same(lost, [])
  })
}
