import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { openStore } from '../../services/store/open.ts'
import { filesOf, flip, harmEach, makeStore, unseen, type Harm } from '../services/store/harm.ts'

t.test('every way to harm every file, of a closed store and of one whose process was killed', async (t) => {
  const dir = t.testdir({ one: {}, other: {} })
  const [one, other] = [await makeStore(`${dir}/one`), await makeStore(`${dir}/other`)]
  for (const state of ['closed', 'killed'] as const) {
    const { wrong, verdicts } = await harmEach(t, one[state], { otherStore: other[state] })
    t.comment(`${state}: ${JSON.stringify(verdicts)}`)
    t.same(wrong, [], state)
  }
})

/** Each costs a repair in a process of its own; so some are taken. */
const EVERY = 13
const places = (length: number) => Array.from({ length: Math.ceil(length / EVERY) }, (_, n) => n * EVERY)

t.test('a change of a single byte anywhere in a closed store is noticed or does no harm', async (t) => {
  const { closed } = await makeStore(t.testdir())
  for (const file of filesOf(closed)) {
    const { length } = readFileSync(join(closed, file))
    const harms = Object.fromEntries(places(length).map((at): [string, Harm] => [`byte ${at}`, flip(() => at)]))
    const { wrong, verdicts } = await harmEach(t, closed, { files: [file], harms })
    t.same(wrong, [], `${file}: ${JSON.stringify(verdicts)}`)
  }
})

t.test('so is one that shows in no inode, size or time of a table: a start trusts it, and the check tells', async (t) => {
  const { closed } = await makeStore(t.testdir())
  await (await openStore({ dir: closed, clock: systemClock })).close()
  const verdicts: object[] = []
  for (const file of filesOf(closed).filter((path) => /data\W\d+\.ldb$/.test(path))) {
    const { length } = readFileSync(join(closed, file))
    const harms = Object.fromEntries(places(length).map((at): [string, Harm] => [`byte ${at}`, unseen(flip(() => at))]))
    const { wrong, verdicts: found } = await harmEach(t, closed, { files: [file], harms, isOpened: true })
    t.same(wrong, [], file)
    verdicts.push(found)
  }
  t.comment(verdicts)
})

t.test('so is a change of any single byte of the log and of a table that a crash leaves behind', async (t) => {
  const { killed } = await makeStore(t.testdir())
  for (const file of filesOf(killed).filter((path) => /log$|000008/.test(path))) {
    const { length } = readFileSync(join(killed, file))
    const harms = Object.fromEntries(
      (file.endsWith('.log') ? [...Array(length).keys()] : places(length)).map((at): [string, Harm] => [`byte ${at}`, flip(() => at)])
    )
    const { wrong, verdicts } = await harmEach(t, killed, { files: [file], harms })
    t.same(wrong, [], `${file}: ${JSON.stringify(verdicts)}`)
  }
})
