import t from 'tap'
import { prepare, survives } from './chat-kill.ts'

t.test('killed within a chat, the service keeps what it told, says what is unknown, and does nothing twice', async (t) => {
  const prepared = await prepare(t)
  const writes = await survives(t, prepared, { write: 'count' }, { resumable: false }) as number
  // All moments: test/faults/chat-kill.long.ts.
  for (const n of [2, 3, Math.floor(writes / 2), writes - 2]) {
    await t.test(`before write ${n}`, async (t) => { await survives(t, prepared, { write: `${n} before` }, { resumable: n % 2 === 0 }) })
  }
})
