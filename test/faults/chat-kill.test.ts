import t from 'tap'
import { prepare, survives } from './chat-kill.ts'
import { prepare as prepareSteering, survives as survivesSteering } from './steer-kill.ts'

t.test('killed within a chat, the service keeps what it told, says what is unknown, and does nothing twice', async (t) => {
  const prepared = await prepare(t)
  const writes = await survives(t, prepared, { write: 'count' }, { resumable: false }) as number
  // All moments: test/faults/chat-kill.long.ts.
  for (const n of [2, 3, Math.floor(writes / 2), writes - 2]) {
    await t.test(`before write ${n}`, async (t) => { await survives(t, prepared, { write: `${n} before` }, { resumable: n % 2 === 0 }) })
  }
})

// All moments, in both forms of a thread: test/faults/steer-kill.long.ts.
t.test('killed while it is told something, the service keeps what it has acknowledged, read once or marked as unread', async (t) => {
  await survivesSteering(t, await prepareSteering(t), '8 after', { isChat: true })
})
