import t from 'tap'
import { fakeClock } from '../../harness/clock.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { createIdempotency } from '../../../services/http/idempotency.ts'
import type { Op } from '../../../services/store/store-types.ts'
import { testStore } from '../../harness/store.ts'

async function setUp (t: Parameters<typeof testStore>[0]) {
  const store = await testStore(t)
  let effects = 0
  const effect = async (remember: (answer: { n: number }) => Op[]) => {
    const n = ++effects
    await store.transact([{ type: 'put', key: `effect/${n}`, value: n }, ...remember({ n })])
    return { n }
  }
  return { store, idempotency: createIdempotency({ store, clock: systemClock }), effect, count: () => effects }
}
const request = { route: 'POST /things', key: 'abc', body: { a: 1 } }

t.test('a repeated key gets the first answer and takes no effect', async (t) => {
  const { idempotency, effect, count, store } = await setUp(t)
  const answers = await Promise.all(Array.from({ length: 20 }, () => idempotency.once(request, effect)))
  t.same(answers, Array(20).fill({ n: 1 }))
  t.equal(count(), 1)
  t.equal(await store.get('effect/1'), 1)
})

t.test('without a key, with another one or on another route it takes effect each time', async (t) => {
  const { idempotency, effect } = await setUp(t)
  await idempotency.once(request, effect)
  t.same(await idempotency.once({ ...request, key: undefined }, effect), { n: 2 })
  t.same(await idempotency.once({ ...request, key: 'abd' }, effect), { n: 3 })
  t.same(await idempotency.once({ ...request, route: 'POST /others' }, effect), { n: 4 })
})

t.test('the same key for another request is refused', async (t) => {
  const { idempotency, effect, count } = await setUp(t)
  await idempotency.once(request, effect)
  await t.rejects(idempotency.once({ ...request, body: { a: 2 } }, effect), { code: 'ERR_IDEMPOTENCY_KEY_REUSED' })
  t.equal(count(), 1)
})

t.test('an effect that fails leaves the key free', async (t) => {
  const { idempotency, effect } = await setUp(t)
  await t.rejects(
    idempotency.once(request, async () => {
      throw new Error('not now')
    }),
    /not now/
  )
  t.same(await idempotency.once(request, effect), { n: 1 })
})

t.test('the oldest of too many keys are forgotten, and each after a day', async (t) => {
  const { store, effect } = await setUp(t)
  const clock = fakeClock()
  const open = () => createIdempotency({ store, clock, mostKeys: 10 })
  const send = async (idempotency: ReturnType<typeof open>, n: number) => {
    await clock.advance(1_000)
    return idempotency.once({ ...request, key: `key ${n}` }, effect)
  }
  const before = open()
  for (let n = 1; n <= 8; n++) await send(before, n)
  const idempotency = open()
  for (let n = 9; n <= 40; n++) await send(idempotency, n)
  let kept = 0
  for await (const key of store.keys('idempotency/')) if (key !== '') kept++
  t.equal(kept, 10)
  t.same(await send(idempotency, 40), { n: 40 }, 'the newest is known')
  t.same(await send(idempotency, 1), { n: 41 }, 'the oldest is new again')
  await clock.advance(24 * 60 * 60 * 1000)
  t.same(await send(idempotency, 40), { n: 42 })
})
