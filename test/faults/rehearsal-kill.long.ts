import t from 'tap'
import { countRehearsalWrites, prepareRehearsal, survivesRehearsal } from './rehearsal-kill.ts'

t.test('killed at any write of a rehearsal', async (t) => {
  const prepared = await prepareRehearsal(t)
  const writes = await countRehearsalWrites(t, prepared)
  for (let n = 0; n < writes; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} write ${n}`, (t) => survivesRehearsal(t, prepared, `${n} ${when}`))
  }
})
