import fc from 'fast-check'
import t from 'tap'
import { collect, open } from './helper.ts'
import { historyKey } from '../../../services/store/keys.ts'

t.test('what was written is there after the store was closed and opened again', async (t) => {
  const dir = t.testdir()
  const before = await open(t, dir)
  await before.transact([
    { type: 'put', key: 'task/1', value: { goal: 'Tidy up', tags: ['a', 'ü'], at: 1.5, none: null } },
    { type: 'put', key: 'task/2', value: 'text' }
  ])
  await before.transact([{ type: 'del', key: 'task/2' }])
  await before.close()

  const after = await open(t, dir)

  t.same(await after.get('task/1'), { goal: 'Tidy up', tags: ['a', 'ü'], at: 1.5, none: null })
  t.equal(await after.get('task/2'), undefined)
  t.same(after.status(), { state: 'ok' })
})

t.test('a value is stored as it was when transact was called', async (t) => {
  const store = await open(t, t.testdir())
  const value = { count: 1 }

  const written = store.transact([{ type: 'put', key: 'value', value }])
  value.count = 2
  await written

  t.same(await store.get('value'), { count: 1 })
})

t.test('a listing gives the keys of its prefix, in order, in pages, from either end', async (t) => {
  const store = await open(t, t.testdir())
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '/', '~', '"', '0'), minLength: 1, maxLength: 4 })
  const page = fc.record({
    prefix: fc.oneof(part, fc.constant('')),
    limit: fc.option(fc.nat(5), { nil: undefined }),
    reverse: fc.boolean(),
    after: fc.option(fc.oneof(part, fc.constant('')), { nil: undefined })
  })

  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(part, { maxLength: 20 }), fc.array(page, { maxLength: 10 }), async (keys, pages) => {
      const old = await collect(store.list(''))
      await store.transact([
        ...old.map(([key]) => ({ type: 'del' as const, key })),
        ...keys.map((key) => ({ type: 'put' as const, key, value: { key } }))
      ])
      for (const { prefix, ...options } of pages) {
        const { after, limit, reverse } = options
        const ordered = reverse ? keys.toSorted().toReversed() : keys.toSorted()
        const wanted = ordered
          .filter((key) => key.startsWith(prefix) && (after === undefined || (reverse ? key < after : key > after)))
          .slice(0, limit)
        t.strictSame(await collect(store.list(prefix, options)), wanted.map((key) => [key, { key }]))
      }
    }),
    { numRuns: 50 }
  )
})

t.test('a listing shows the moment it began, whatever is written meanwhile', async (t) => {
  const store = await open(t, t.testdir())
  const keys = Array.from({ length: 500 }, (_, seq) => historyKey('run', 'x', seq))
  await store.transact(keys.map((key) => ({ type: 'put', key, value: 1 })))

  const seen: string[] = []
  for await (const [key] of store.list('run/x/')) {
    if (seen.length === 0) await store.transact(keys.map((key) => ({ type: 'del', key })))
    seen.push(key)
  }

  t.same(seen, keys)
  t.same(await collect(store.list('run/')), [])
})

t.test('a listing ends when its signal aborts, and one that is left early lets the store close', async (t) => {
  const store = await open(t, t.testdir())
  await store.transact(Array.from({ length: 300 }, (_, seq) => ({ type: 'put', key: historyKey('run', 'x', seq), value: seq })))
  const stop = new AbortController()
  const seen: string[] = []

  const listing = (async () => {
    for await (const [key] of store.list('run/', { signal: stop.signal })) {
      if (seen.push(key) === 10) stop.abort(new Error('enough'))
    }
  })()
  await t.rejects(listing, { message: 'enough' })
  const left = store.list('run/')[Symbol.asyncIterator]()
  await left.next()
  await left.return?.()
  await store.close()

  t.equal(seen.length, 10)
})

t.test('a history is listed in the order of its sequence numbers', async (t) => {
  const store = await open(t, t.testdir())
  for (const seq of [10, 9, 100, 1]) await store.transact([{ type: 'put', key: historyKey('run', 'id', seq), value: seq }])

  t.same((await collect(store.list<number>('run/id/'))).map(([, seq]) => seq), [1, 9, 10, 100])
  t.equal(historyKey('run', 'id', 7), 'run/id/0000000007')
})

t.test("keys that are the store's own, or no plain text, are refused", async (t) => {
  const store = await open(t, t.testdir())
  await store.record('brain', () => ({})).update(() => ({ facts: [] }))

  for (const key of ['', '!meta', '!record/brain', 'a b', 'ü', 'a\n', 'a\0']) {
    await t.rejects(store.get(key), TypeError, JSON.stringify(key))
    await t.rejects(store.transact([{ type: 'put', key, value: 1 }]), TypeError, JSON.stringify(key))
    await t.rejects(store.transact([{ type: 'del', key }]), TypeError, JSON.stringify(key))
  }
  await t.rejects(collect(store.list('!')), TypeError)
  t.same(await collect(store.list('')), [], 'a listing of everything does not show them')
})

t.test('a value that JSON cannot hold is refused before anything is written', async (t) => {
  const store = await open(t, t.testdir())

  await t.rejects(store.transact([{ type: 'put', key: 'a', value: 1 }, { type: 'put', key: 'b', value: undefined }]), TypeError)

  t.equal(await store.get('a'), undefined)
})

t.test('a digest is the same after a restart, and another in another store', async (t) => {
  const dir = t.testdir({ one: {}, two: {} })
  const before = await open(t, `${dir}/one`)
  const digest = before.digest('thread of the caller')
  await before.close()

  t.match(digest, /^[0-9a-f]{64}$/)
  t.equal((await open(t, `${dir}/one`)).digest('thread of the caller'), digest)
  t.not((await open(t, `${dir}/two`)).digest('thread of the caller'), digest)
})

t.test('a closed store refuses everything, after finishing what it had accepted', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  const text = 'x'.repeat(200_000) // more than goes out in one group
  const writes = Array.from({ length: 50 }, (_, i) => store.transact([{ type: 'put', key: `k/${i}`, value: text }]))
  const closing = store.close()

  await t.rejects(store.transact([{ type: 'put', key: 'late', value: 1 }]), { code: 'ERR_STORE_UNAVAILABLE' })
  await Promise.all([...writes, closing, store.close()])

  t.same(store.status(), { state: 'closed' })
  await t.rejects(store.get('k/1'), { code: 'ERR_STORE_UNAVAILABLE', message: /closed/ })
  await t.rejects(collect(store.list('k/')), { code: 'ERR_STORE_UNAVAILABLE' })
  t.equal((await collect((await open(t, dir)).list('k/'))).length, 50)
})
