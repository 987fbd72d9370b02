import t from 'tap'
import { interleave } from './bindings.ts'

for (let part = 1; part <= 10; part++) {
  t.test(`1,000 times (${part} of 10): nothing of another program is lost, nothing is written unseen`, { timeout: 300_000 }, async (t) => {
    const { found, lost } = await interleave(t, { rounds: 1_000, mayRename: 0 })
    t.comment(JSON.stringify(found))
    t.same(lost, [])
  })
}
