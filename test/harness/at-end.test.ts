import { existsSync } from 'node:fs'
import t from 'tap'
import { atEnd } from './at-end.ts'

t.test('what a test has started ends before the folder goes that it writes to', async (t) => {
  const seen: Record<string, boolean> = {}
  await t.test('made first', async (t) => {
    const dir = t.testdir()
    atEnd(t, async () => {
      await new Promise(setImmediate)
      seen.first = existsSync(dir)
    })
  })
  await t.test('made between teardowns', async (t) => {
    t.teardown(() => {
      seen.teardown = existsSync(dir)
    })
    const dir = t.testdir()
    atEnd(t, () => {
      seen.second = existsSync(dir)
    })
  })
  t.same(seen, { first: true, second: true, teardown: true })
})
