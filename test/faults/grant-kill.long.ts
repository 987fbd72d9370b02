import t from 'tap'
import { countMarkWrites, prepareMarks, survivesGrant } from './grant-kill.ts'

t.test('killed at any write of a run with a grant', async (t) => {
  const prepared = await prepareMarks(t)
  const writes = await countMarkWrites(t, prepared)
  for (let n = 0; n < writes; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} write ${n}`, (t) => survivesGrant(t, prepared, `${n} ${when}`))
  }
})
