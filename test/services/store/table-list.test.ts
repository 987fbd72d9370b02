import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { open, until } from './helper.ts'
import { compacting, KEYS, oldTable, rot, storeWithTable, tablesOf } from './rot.ts'

const data = (dir: string, ...names: string[]) => join(dir, 'data', ...names)
const inventory = (dir: string, name = 'INVENTORY') => JSON.parse(readFileSync(data(dir, name), 'utf8'))

// The clock's sleeps keep no process alive.
const alive = setInterval(() => {}, 60_000)
t.teardown(() => clearInterval(alive))

t.test('tables that there was no time to digest when the store closed are checked by their checksums', async (t) => {
  const root = t.testdir()
  const dir = `${root}/one`
  await storeWithTable(dir)
  let now = 0
  const hurried = await open(t, dir, { clock: { ...systemClock, monotonic: () => now++ * 600 }, ...compacting() })
  for (const key of ['a', 'b', 'c']) await hurried.transact([{ type: 'put', key, value: 'x'.repeat(5_000_000) }])
  await hurried.close()
  const undigested = tablesOf(dir).filter((name) => inventory(dir).files[name] === '')
  t.ok(undigested.length > 0)

  cpSync(dir, `${root}/copy`, { recursive: true })
  const store = await open(t, dir)
  await store.checkTables()
  t.same(store.status().state, 'ok')
  await store.close()
  t.same(Object.values(inventory(dir).files).filter((digest) => digest === ''), [], 'then they are digested')

  rot(data(`${root}/copy`, undigested[0]), 1_000)
  t.match((await open(t, `${root}/copy`)).status(), { repaired: true }, 'of a copy they are read first')
})

t.test('a table that was damaged before it could be listed is found by its checksums', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  await store.transact(KEYS.map((key) => ({ type: 'put', key, value: 'x'.repeat(3_000) })))
  await store.close()
  const again = await open(t, dir)
  rot(data(dir, oldTable(dir)), 30_000)
  await again.close()
  const found = await open(t, dir)
  await found.checkTables()
  t.match(found.status(), { state: 'latched', error: /damaged on the disk/ })
})

t.test('tables that were written since the start are taken up in the list without a close', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  await store.checkTables()
  const listed = (): Array<[ino: number, size: number]> => Object.values(inventory(dir, 'INVENTORY.open').tables)
  t.equal(listed().length, tablesOf(dir).length)
  for (let n = 0; n < 5; n++) await store.transact([{ type: 'put', key: `large/${n}`, value: 'x'.repeat(4_000_000) }])
  await until(() => listed().some(([, size]) => size > 4_000_000), 'a large table is listed')
})
