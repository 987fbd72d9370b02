import t from 'tap'
import { openLevel } from '../../../services/store/database.ts'
import { DIGEST } from '../../../services/store/record-names.ts'
import { finishReplacementLocked, commitReplacement } from '../../../services/store/replacement/replace.ts'
import { open } from './helper.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { openStore } from '../../../services/store/open.ts'

/** A store whose contents came from another one. */
async function moved (t: Parameters<typeof open>[0], dir: string) {
  const from = await open(t, `${dir}/from`)
  const to = await openStore({ dir: `${dir}/to`, clock: systemClock })
  const { schema, digestKey, records } = from.contents(new AbortController().signal, () => {})
  await from.transact([{ type: 'put', key: `named/${from.digest('a name')}`, value: 1 }])
  const next = await to.stage({ schema, digestKey })
  for await (const record of records) await next.put([record])
  await next.finish()
  await to.closeFor(() => commitReplacement(`${dir}/to`, { key: 'keep', copies: false }))
  await finishReplacementLocked(`${dir}/to`)
  return from.digest('a name')
}

t.test('names are digested as where the data came from, through every opening', async (t) => {
  const dir = t.testdir()
  const digest = await moved(t, dir)
  for (let n = 0; n < 3; n++) {
    const store = await openStore({ dir: `${dir}/to`, clock: systemClock })
    t.equal(store.digest('a name'), digest)
    t.equal(store.status().repaired, undefined)
    t.equal(await store.get(`named/${digest}`), 1)
    await store.close()
  }
})

t.test('data whose key of names cannot be read are not opened as if they had none', async (t) => {
  const dir = t.testdir()
  await moved(t, dir)
  const level = await openLevel(`${dir}/to/data`, { createIfMissing: false })
  await level.batch([{ type: 'put', key: DIGEST, value: Buffer.from('nonsense') }], { sync: true })
  await level.close()
  await t.rejects(openStore({ dir: `${dir}/to`, clock: systemClock }), { code: 'ERR_STORE_DAMAGED', exitCode: 78 })
})
