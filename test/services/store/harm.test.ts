import t from 'tap'
import { filesOf, harmEach, HARMS, makeStore } from './harm.ts'

const few = Object.fromEntries(Object.entries(HARMS).filter(([what]) => /middle|half|removed|another/.test(what)))

t.test('whatever is done to a file of a closed store: all records are there, or that some are missing is said, or the start is ' +
  'refused', async (t) => {
  const dir = t.testdir({ one: {}, other: {} })
  const { closed } = await makeStore(`${dir}/one`)
  // Of tables one; test/faults/damage.long.ts takes all, and every byte.
  const files = filesOf(closed).filter((file) => /CURRENT|MANIFEST|INVENTORY|data\W000008\.ldb|\.log|key$/.test(file))
  t.equal(files.length, 6)
  const { wrong, verdicts } = await harmEach(t, closed, { files, harms: few, otherStore: (await makeStore(`${dir}/other`)).closed })

  t.same(wrong, [])
  t.match(Object.keys(verdicts).sort(), ['refused', 'told', 'whole'], 'each is met')
})

t.test('nor is a log that was harmed after a crash taken for whole, or a table that cannot be read', async (t) => {
  const dir = t.testdir({ one: {}, other: {} })
  const { killed } = await makeStore(`${dir}/one`)
  const files = filesOf(killed).filter((file) => /log$|data\W000008\.ldb$/.test(file))
  t.equal(files.length, 2)
  const { wrong } = await harmEach(t, killed, { files, harms: few, otherStore: (await makeStore(`${dir}/other`)).killed })

  t.same(wrong, [])
})
