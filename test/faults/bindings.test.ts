import t from 'tap'
import { interleave } from './bindings.ts'

t.test('another program changes a file around question, answer and write: no byte of it is lost, nothing is written unseen', async (t) => {
  const { found, lost } = await interleave(t, { rounds: 100, mayRename: 0 })
  t.comment(JSON.stringify(found))
  t.same(lost, [])
  t.ok(found.askedAgain > 10, 'the two met')
})
