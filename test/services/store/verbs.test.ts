import fc from 'fast-check'
import t from 'tap'
import { collect, open, watched } from './helper.ts'
import { historyKey } from '../../../services/store/keys.ts'
import { linesOf, readLines } from '../../../services/store/backup/backup.ts'
import { openLevel } from '../../../services/store/database.ts'
import { DIGEST } from '../../../services/store/record-names.ts'
import { finishReplacementLocked, commitReplacement } from '../../../services/store/replacement/replace.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { openStore } from '../../../services/store/open.ts'

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

t.test('a listener that fails neither fails the write, which is on disk, nor keeps it from the other listeners', async (t) => {
  const logged: string[] = []
  const store = await open(t, t.testdir(), { log: { info () {}, warn () {}, error: (_, message) => void logged.push(message) } })
  const told: string[] = []
  store.onCommit(() => {
    throw new Error('bad')
  })
  store.onCommit((ops) => void told.push(...ops.map(({ key }) => key)))

  await store.transact([{ type: 'put', key: 'task/1', value: 1 }])

  t.same(told, ['task/1'])
  t.same(logged, ['a listener of the store failed'])
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

  t.match(digest, /^[0-9a-f]{32}$/)
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

const schema = { base: 1, version: 1 }
async function * of<T> (list: T[]) {
  yield * list
}
const records: Array<[string, unknown]> = [
  ['grant/owner/id', { scope: 'folder' }],
  ['undo/run/id', { key: 'x' }],
  ['thread/a', { title: 'kept' }]
]

t.test('what was granted on a machine, and its copies for undo, go into no backup', async (t) => {
  const lines: string[] = []
  for await (const line of linesOf({ schema, digestKey: Buffer.alloc(32), records: of(records) }, {}, 0)) lines.push(line)
  t.same(lines.slice(2).map((line) => JSON.parse(line)), [records[2], { end: 1 }])
})

t.test('and come out of none, whoever made it', async (t) => {
  const lines = [{ backup: 1, schema, digestKey: '' }, { config: {} }, ...records, { end: 3 }].map((line) => JSON.stringify(line))
  const read: unknown[] = []
  for await (const record of (await readLines(of(lines))).records) read.push(record)
  t.same(read, [records[2]])
})

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

interface Brain {
  facts: string[]
}
const empty = (): Brain => ({ facts: [] })

t.test('200 updates at the same time lose none', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  const brain = store.record('brain', empty)

  await Promise.all(
    Array.from({ length: 200 }, (_, i) => store.record('brain', empty).update(async ({ facts }) => ({ facts: [...facts, `fact ${i}`] })))
  )
  await store.close()

  t.equal((await (await open(t, dir)).record('brain', empty).get()).facts.length, 200)
  t.equal(store.record('brain', empty), brain)
})

t.test('a record that was never written has its initial value', async (t) => {
  const store = await open(t, t.testdir())

  t.same(await store.record('brain', empty).get(), { facts: [] })
})

t.test('an update is on disk when it resolves, and the value it gives is the stored one', async (t) => {
  const raw = watched()
  const store = await open(t, t.testdir(), { openDatabase: raw.openDatabase })
  const brain = store.record<Brain & { gone?: string }>('brain', empty)
  raw.batches.length = 0

  const updated = await brain.update(() => ({ facts: ['a'], gone: undefined }))

  t.equal(raw.batches.length, 1)
  t.strictSame(updated, { facts: ['a'] })
  t.equal(await brain.get(), updated, 'read from memory')
})

t.test('a change that throws alters nothing, even when it had altered its copy', async (t) => {
  const store = await open(t, t.testdir())
  const brain = store.record('brain', empty)
  await brain.update(() => ({ facts: ['kept'] }))

  await t.rejects(
    brain.update((value) => {
      value.facts.push('half done')
      throw new Error('changed my mind')
    }),
    { message: 'changed my mind' }
  )

  t.same(await brain.get(), { facts: ['kept'] })
  t.same(await brain.update(({ facts }) => ({ facts: [...facts, 'next'] })), { facts: ['kept', 'next'] }, 'later updates go on')
})

interface Listed {
  facts: Array<{ id: string, text: string }>
  more?: string[]
  at: number
}

t.test('of a record with items of their own, a change writes those that changed, and all are there after failures', async (t) => {
  const dir = t.testdir()
  let fails = false
  const onBatch = async () => {
    if (fails) throw new Error('the disk is full')
  }
  const raw = watched({ onBatch })
  const initial = (): Listed => ({ facts: [], at: 0 })
  const openRecord = async () => {
    const store = await open(t, dir, { openDatabase: raw.openDatabase })
    return { store, record: store.record<Listed>('items', initial, { facts: ({ id }) => id, more: (word) => word }) }
  }
  let { store, record } = await openRecord()
  t.same(await record.get(), initial())
  const many = Array.from({ length: 100 }, (_, n) => ({ id: `f${n}`, text: `fact ${n}` }))
  await record.update((value) => ({ ...value, facts: many }))
  raw.batches.length = 0
  const added = { id: 'new', text: 'new' }
  const after = await record.update((value) => ({ ...value, facts: [...value.facts.slice(1), added], more: ['a'], at: 1 }))
  t.same(raw.batches[0].map(({ type, key }) => `${type} ${key}`).toSorted(), [
    'del !record/items/facts/f0', 'put !record/items', 'put !record/items/facts/new', 'put !record/items/more/a'
  ])
  t.same(after.facts.at(-1), { id: 'new', text: 'new' })

  let seed = 5
  const random = (below: number) => (seed = Math.imul(seed, 1_103_515_245) + 12_345 >>> 1) % below
  let expected = after
  for (let round = 0; round < 80; round++) {
    const facts = expected.facts.slice()
    for (let n = random(4); n >= 0 && facts.length > 1; n--) {
      const at = random(facts.length)
      const [taken] = facts.splice(at, 1)
      const back = random(2) === 0 ? taken : { ...taken, text: `${n}` }
      if (random(3) > 0) facts.splice(random(2) === 0 ? facts.length : random(facts.length), 0, back)
    }
    if (random(3) === 0) facts.push({ id: `r${round}`, text: 'more' })
    const next: Listed = { facts, ...(random(2) === 0 && { more: ['a', 'b'].slice(random(2)) }), at: round }
    fails = random(6) === 0
    const changed = await (random(5) === 0 ? record.replace(next) : record.update(() => next)).then(() => true, () => false)
    t.equal(changed, !fails)
    if (changed) expected = next
    if (fails || random(4) === 0) {
      fails = false
      await store.close()
      ;({ store, record } = await openRecord())
    }
    t.same(await record.get(), expected)
  }
})

t.test('what a record gives out cannot be changed behind its back', async (t) => {
  const store = await open(t, t.testdir())
  const brain = store.record('brain', empty)

  const value = await brain.update((value) => {
    value.facts.push('a')
    return value
  })

  t.throws(() => value.facts.push('b'), TypeError)
  t.same(await brain.get(), { facts: ['a'] })
})

t.test('a slow first read does not bring back a value that an update has replaced', async (t) => {
  const dir = t.testdir()
  const first = await open(t, dir)
  await first.record('brain', empty).update(() => ({ facts: ['old'] }))
  await first.close()
  const raw = watched()
  const gate = Promise.withResolvers<void>()
  let reads = 0
  const store = await open(t, dir, {
    openDatabase: async (location, options) => {
      const database = await raw.openDatabase(location, options)
      return {
        ...database,
        async get (key) {
          const isFirst = key.startsWith('!record') && ++reads === 1
          const value = await database.get(key)
          if (isFirst) await gate.promise
          return value
        }
      }
    }
  })
  const brain = store.record('brain', empty)

  const slow = brain.get()
  await brain.update(() => ({ facts: ['new'] }))
  gate.resolve()
  await slow

  t.same(await brain.get(), { facts: ['new'] })
})
