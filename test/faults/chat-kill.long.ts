import t from 'tap'
import { prepare, survives } from './chat-kill.ts'

for (const resumable of [false, true]) {
  t.test(`killed at any durable write of a ${resumable ? 'resumable ' : ''}chat`, async (t) => {
    const prepared = await prepare(t)
    const writes = await survives(t, prepared, { write: 'count' }, { resumable }) as number
    t.comment(`${writes} durable writes`)
    for (let n = 0; n < writes; n++) {
      for (const when of ['before', 'after']) {
        await t.test(`${when} write ${n}`, async (t) => { await survives(t, prepared, { write: `${n} ${when}` }, { resumable }) })
      }
    }
  })

  t.test(`killed at random moments of a ${resumable ? 'resumable ' : ''}chat`, async (t) => {
    const prepared = await prepare(t, 60)
    for (let n = 0; n < 40; n++) {
      const afterMs = Math.floor(Math.random() * 3_000)
      await t.test(`after ${afterMs} ms`, async (t) => { await survives(t, prepared, { afterMs }, { resumable }) })
    }
  })
}
