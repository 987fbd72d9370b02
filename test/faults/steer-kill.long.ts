import t from 'tap'
import { prepare, survives } from './steer-kill.ts'

for (const isChat of [false, true]) {
  t.test(`killed at any durable write of a ${isChat ? 'chat' : 'conversation'} that is told something`, async (t) => {
    const prepared = await prepare(t)
    const writes = await survives(t, prepared, 'count', { isChat })
    t.comment(`${writes} durable writes`)
    for (let n = 0; n < writes; n++) {
      for (const when of ['before', 'after']) {
        await t.test(`${when} write ${n}`, async (t) => { await survives(t, prepared, `${n} ${when}`, { isChat }) })
      }
    }
  })
}
