import t from 'tap'
import { prepare, survives } from './steer-kill.ts'

t.test('killed while it is told something, the service keeps what it has acknowledged, read once or marked as unread', async (t) => {
  const prepared = await prepare(t)
  const writes = await survives(t, prepared, 'count', { isChat: true })
  // All moments: test/faults/steer-kill.long.ts.
  for (const [n, when] of [[Math.floor(writes * 0.4), 'after'], [Math.floor(writes * 0.6), 'before']] as const) {
    await t.test(`${when} write ${n}`, async (t) => { await survives(t, prepared, `${n} ${when}`, { isChat: n % 2 === 0 }) })
  }
})
