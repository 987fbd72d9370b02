import t from 'tap'
import { interleave } from './bindings.ts'

t.test('10,000 times: no byte of another program is lost, nothing is written unseen', { timeout: 1_100_000 }, async (t) => {
  const { found, lost } = await interleave(t, { rounds: 10_000, mayRename: 0 })
  t.comment(JSON.stringify(found))
  t.same(lost, [])
})
