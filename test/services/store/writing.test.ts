import t from 'tap'
import { collect, listeningLog, manualClock, open, until, watched } from './helper.ts'
import { onSmallDisk } from '../../harness/small-disk.ts'
import { filesOf, harmEach, HARMS, makeStore } from './harm.ts'

const put = (key: string, value: unknown = 1) => ({ type: 'put' as const, key, value })
const noSpace = (path: string) =>
  Object.assign(new Error(`IO error: ${path}/data/000007.log: No space left on device`), { code: 'LEVEL_IO_ERROR' })
const refused = { code: 'ERR_STORE_UNAVAILABLE' }

t.test('while a write is on its way others gather, and go out together in one synced batch', async (t) => {
  const gate = Promise.withResolvers<void>()
  const raw = watched({
    onBatch: async (ops) => {
      if (ops[0].key === 'first') await gate.promise
    }
  })
  const store = await open(t, t.testdir(), { openDatabase: raw.openDatabase })
  raw.batches.length = 0

  const first = store.transact([put('first')])
  await until(() => raw.batches.length === 1, 'the first write went out')
  const others = Array.from({ length: 200 }, (_, i) => store.transact([put(`k/${i}`), put(`l/${i}`)]))
  gate.resolve()
  await Promise.all([first, ...others])

  t.same(raw.batches.map((ops) => ops.length), [1, 400])
  t.same(raw.unsynced, [])
  t.equal((await collect(store.list(''))).length, 401)
})

t.test('a write whose thread sleeps is on disk as soon as the thread is woken', async (t) => {
  const woken = Promise.withResolvers<void>()
  const raw = watched({ onBatch: ([{ key }]) => key === 'asleep' ? woken.promise : Promise.resolve() })
  let wake = () => {}
  const store = await open(t, t.testdir(), { openDatabase: raw.openDatabase, noteWork: () => wake() })
  wake = woken.resolve

  await store.transact([put('asleep')])
  t.equal(await store.get('asleep'), 1)
})

t.test('a group stays within 4 MiB, and no transaction is split', async (t) => {
  const raw = watched()
  const store = await open(t, t.testdir(), { openDatabase: raw.openDatabase })
  raw.batches.length = 0
  const text = 'x'.repeat(1024 * 1024)

  await Promise.all(Array.from({ length: 6 }, (_, i) => store.transact([put(`a/${i}`, text), put(`b/${i}`, text)])))

  t.same(raw.batches.map((ops) => ops.length), [2, 2, 2, 2, 2, 2])
})

t.test('more than 64 MiB waiting for the disk is refused, and nothing that was accepted is lost', async (t) => {
  const gate = Promise.withResolvers<void>()
  const raw = watched({
    onBatch: async (ops) => {
      if (ops[0].key === 'first') await gate.promise
    }
  })
  const store = await open(t, t.testdir(), { openDatabase: raw.openDatabase })
  const first = store.transact([put('first')])
  await until(() => raw.batches.at(-1)?.[0].key === 'first', 'the first write went out')

  const text = 'x'.repeat(8 * 1024 * 1024)
  const outcomes = Array.from({ length: 10 }, (_, i) => store.transact([put(`k/${i}`, text)]).then(() => 'written', (error) => error.code))
  gate.resolve()
  await first

  const all = await Promise.all(outcomes)
  const written = all.filter((outcome) => outcome === 'written').length
  t.equal(written, 7)
  t.equal(all.filter((outcome) => outcome === 'ERR_STORE_BUSY').length, 3)
  t.equal((await collect(store.list('k/'))).length, written)
  t.equal(store.status().state, 'ok')
})

t.test('a failing write fails its group and what waits behind it, and latches the store', async (t) => {
  const dir = t.testdir()
  const { clock, sleeps } = manualClock()
  const gate = Promise.withResolvers<void>()
  let full = false
  const raw = watched({
    onBatch: async (ops) => {
      if (ops[0].key === 'a') await gate.promise
      if (full) throw noSpace(dir)
    }
  })
  const { log, lines } = listeningLog()
  const store = await open(t, dir, { openDatabase: raw.openDatabase, clock, log })
  await store.transact([put('before')])
  const brain = store.record('brain', () => ({ facts: ['none'] }))
  await brain.update(() => ({ facts: ['known'] }))
  const listing = store.list('')[Symbol.asyncIterator]()
  await listing.next()

  const group = [store.transact([put('a')]), store.transact([put('b')])]
  await until(() => raw.batches.at(-1)?.[0].key === 'a', 'the group went out')
  const waiting = [store.transact([put('c')]), brain.update(() => ({ facts: ['lost'] }))]
  full = true
  gate.resolve()

  const [first] = await Promise.all(
    [...group, ...waiting].map((write: Promise<unknown>) => t.rejects(write, { ...refused, message: /No space left on device/ }))
  )
  t.notMatch(String(first), dir, 'paths stay out of errors')
  t.same(store.status(), { state: 'latched', error: 'No space left on device' })
  await t.rejects(store.get('before'), refused)
  await t.rejects(store.transact([put('d')]), refused)
  await t.rejects(brain.get(), refused, 'what was in memory is not trusted any more')
  await t.rejects(collect(store.list('')), refused)

  await until(() => sleeps.length === 1, 'the first probe failed')
  sleeps[0].wake()
  await until(() => sleeps.length === 2, 'the second probe failed')
  t.same(sleeps.map(({ ms }) => ms), [100, 200])
  t.equal(store.status().state, 'latched')
  full = false
  sleeps[1].wake()
  await until(() => store.status().state === 'ok', 'the store recovered')

  t.same((await collect(store.list(''))).map(([key]) => key), ['before'])
  t.same(await brain.get(), { facts: ['known'] })
  await store.transact([put('after')])
  t.match(lines, [
    'a write failed; the store is unavailable until the disk accepts writes again',
    /still unavailable/,
    /still unavailable/,
    'the store is available again'
  ])
})

t.test('a latched store can be closed, and lets go of its directory', async (t) => {
  const dir = t.testdir()
  const { clock } = manualClock()
  let full = false
  const raw = watched({
    onBatch: async () => {
      if (full) throw noSpace(dir)
    }
  })
  const store = await open(t, dir, { openDatabase: raw.openDatabase, clock })
  full = true
  await t.rejects(store.transact([put('a')]), refused)

  await store.close()

  t.same(store.status(), { state: 'closed' })
  t.same(await collect((await open(t, dir)).list('')), [])
})

t.test('while the database cannot even be opened again, the store keeps trying', async (t) => {
  const dir = t.testdir()
  const { clock, sleeps } = manualClock()
  let broken = false
  const raw = watched({
    onBatch: async () => {
      if (broken) throw noSpace(dir)
    }
  })
  const store = await open(t, dir, {
    clock,
    openDatabase: async (location, options) => {
      if (broken) throw noSpace(dir)
      return await raw.openDatabase(location, options)
    }
  })
  broken = true
  await t.rejects(store.transact([put('a')]), refused)

  for (let tries = 1; tries <= 10; tries++) {
    await until(() => sleeps.length === tries, 'it tried again')
    if (tries === 10) broken = false
    sleeps.at(-1)?.wake()
  }
  await until(() => store.status().state === 'ok', 'the store recovered')

  t.equal(Math.max(...sleeps.map(({ ms }) => ms)), 10_000)
  await store.transact([put('a')])
})

t.test('on a disk that runs full no acknowledged write is lost, and the store comes back once there is room', async (t) => {
  const seen = onSmallDisk(t.testdir(), new URL('full-disk.ts', import.meta.url))
  if (!seen) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })

  t.match(seen.failure, /ERR_STORE_UNAVAILABLE.*No space left/)
  t.equal(seen.latched.state, 'latched')
  t.match(seen.late, /ERR_STORE_UNAVAILABLE/)
  t.ok(seen.acknowledged.length > 50, 'the disk took some writes')
  t.equal(seen.acknowledged.at(-1), 'k/room')
  t.same(seen.found, seen.acknowledged)
  t.same(seen.kept, seen.acknowledged)
  return undefined
})

const few = Object.fromEntries(Object.entries(HARMS).filter(([what]) => /middle|half|removed|another/.test(what)))

t.test('whatever is done to a file of a closed store: all records are there, or that some are missing is said, or the start is ' +
  'refused', async (t) => {
  const dir = t.testdir({ one: {}, other: {} })
  const { closed } = await makeStore(`${dir}/one`)
  // Of tables one; test/faults/damage.long.ts takes all, and every byte.
  const files = filesOf(closed).filter((file) => /CURRENT|MANIFEST|INVENTORY|data\W000008\.ldb|\.log|key$/.test(file))
  t.equal(files.length, 6)
  const { wrong, verdicts } = await harmEach(t, closed, { files, harms: few, otherStore: (await makeStore(`${dir}/other`)).closed })

  t.same(wrong, [])
  t.match(Object.keys(verdicts).sort(), ['refused', 'told', 'whole'], 'each is met')
})

t.test('nor is a log that was harmed after a crash taken for whole, or a table that cannot be read', async (t) => {
  const dir = t.testdir({ one: {}, other: {} })
  const { killed } = await makeStore(`${dir}/one`)
  const files = filesOf(killed).filter((file) => /log$|data\W000008\.ldb$/.test(file))
  t.equal(files.length, 2)
  const { wrong } = await harmEach(t, killed, { files, harms: few, otherStore: (await makeStore(`${dir}/other`)).killed })

  t.same(wrong, [])
})
