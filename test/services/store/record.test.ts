import t from 'tap'
import { open, watched } from './helper.ts'

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
