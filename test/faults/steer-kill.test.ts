import t from 'tap'
import { prepare, survives } from './steer-kill.ts'

// All moments, in both forms of a thread: test/faults/steer-kill.long.ts.
t.test('killed while it is told something, the service keeps what it has acknowledged, read once or marked as unread', async (t) => {
  await survives(t, await prepare(t), '8 after', { isChat: true })
})
