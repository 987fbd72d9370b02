import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { openLevel } from '../../../services/store/database.ts'
import { noise } from '../../faults/backup.ts'
import { flip, HARMS, makeStore } from './harm.ts'
import { collect, listeningLog, open, until } from './helper.ts'
import { compacting, KEYS as ROT_KEYS, oldTable, rot, storeWithTable, tablesOf } from './rot.ts'

const KEYS = Array.from({ length: 200 }, (_, i) => `k/${String(i).padStart(3, '0')}`)

/** A store whose records lie in tables and in the log. */
async function fill (t: Parameters<typeof open>[0], dir: string) {
  const store = await open(t, dir)
  for (const key of KEYS) await store.transact([{ type: 'put', key, value: { key, pad: noise(30_000) } }])
  await store.close()
}

const manifest = (dir: string) => join(dir, 'data', readdirSync(join(dir, 'data')).find((name) => name.startsWith('MANIFEST'))!)
const current = (dir: string) => join(dir, 'data', 'CURRENT')
const damages: Record<string, (dir: string) => void> = {
  'a lost CURRENT': (dir) => rmSync(current(dir)),
  'an empty CURRENT': (dir) => writeFileSync(current(dir), ''),
  'a CURRENT that points nowhere': (dir) => writeFileSync(current(dir), 'MANIFEST-999999\n'),
  'a lost MANIFEST': (dir) => rmSync(manifest(dir)),
  'a garbled MANIFEST': (dir) => writeFileSync(manifest(dir), Buffer.alloc(500, 7)),
  'a MANIFEST cut short': (dir) => writeFileSync(manifest(dir), readFileSync(manifest(dir)).subarray(0, 20))
}

for (const [what, damage] of Object.entries(damages)) {
  t.test(`${what} is repaired with every record, said so, and the damaged files are kept`, async (t) => {
    const dir = t.testdir()
    await fill(t, dir)
    damage(dir)
    const { log, lines } = listeningLog()

    const store = await open(t, dir, { log })

    t.same((await collect(store.list('k/'))).map(([key]) => key), KEYS)
    t.same(store.status(), { state: 'ok', repaired: true })
    t.match(lines, [/damaged, repairing/, /repaired/])
    await store.close()
    t.same((await open(t, dir)).status(), { state: 'ok' }, 'the next start finds nothing to repair')
    t.equal(readdirSync(dir).filter((name) => name.startsWith('data.damaged-')).length, 1)
    t.notOk(readdirSync(dir).includes('data.repair'))
  })
}

t.test('a repair that was killed between its two renames is completed', async (t) => {
  const dir = t.testdir()
  await fill(t, dir)
  renameSync(join(dir, 'data'), join(dir, 'data.repair'))

  t.equal((await collect((await open(t, dir)).list('k/'))).length, KEYS.length)
})

t.test('what cannot be repaired is refused and left exactly as it was', async (t) => {
  const refusal = { code: 'ERR_STORE_DAMAGED', exitCode: 78 }
  const content = (dir: string) => readdirSync(join(dir, 'data')).sort()

  const dir = t.testdir({ gone: { data: { LOCK: '', LOG: 'all else was deleted' } }, emptied: {} })
  await t.rejects(open(t, `${dir}/gone`), refusal)
  t.notOk(content(`${dir}/gone`).includes('CURRENT'), 'no empty database was put there')
  await t.rejects(open(t, `${dir}/gone`), refusal, 'nor does a second start begin with nothing')

  await fill(t, `${dir}/emptied`)
  const data = join(dir, 'emptied/data')
  for (const name of readdirSync(data)) if (/\.(log|ldb)$/.test(name)) writeFileSync(join(data, name), '')
  const before = content(`${dir}/emptied`)
  await t.rejects(open(t, `${dir}/emptied`), refusal)
  t.same(content(`${dir}/emptied`).filter((name) => /CURRENT|ldb/.test(name)), before.filter((name) => /CURRENT|ldb/.test(name)))
  t.same(readdirSync(join(dir, 'emptied')).sort(), ['data', 'master.key'])
})

t.test('a database whose describing record is missing or garbled is damaged, not new', async (t) => {
  const noVersion = '{"schema":{"base":1},"kid":"00","source":"file"}'
  const noKey = '{"schema":{"base":1,"version":1},"kid":"00","source":"passphrase"}'
  for (const value of [undefined, 'no json', '{}', noVersion, noKey]) {
    const dir = t.testdir()
    const store = await open(t, dir)
    await store.transact([{ type: 'put', key: 'a', value: 1 }])
    await store.close()
    const level = await openLevel(join(dir, 'data'), { createIfMissing: false })
    const key = '!meta'
    await level.batch([value === undefined ? { type: 'del', key } : { type: 'put', key, value: Buffer.from(value) }], { sync: true })
    await level.close()

    await t.rejects(open(t, dir), { code: 'ERR_STORE_DAMAGED', exitCode: 78, message: /describes it/ }, String(value))
  }
})

t.test('a first start that was killed before its database was whole is simply done again', async (t) => {
  const dir = t.testdir({ data: {}, 'data.new': { LOG: '', 'MANIFEST-000001': 'half' } })

  const store = await open(t, dir)
  await store.transact([{ type: 'put', key: 'a', value: 1 }])

  t.same(readdirSync(dir).sort(), ['data', 'master.key', 'service.lock'])
})

const INVENTORY = 'data/INVENTORY'

/** Does something to LevelDB's own records, as somebody without the key could. */
async function behindItsBack (dir: string, change: (level: Awaited<ReturnType<typeof openLevel>>) => Promise<void>) {
  const level = await openLevel(join(dir, 'data'), { createIfMissing: false })
  await change(level)
  await level.close()
}

async function statusOf (t: Test, dir: string) {
  const store = await open(t, dir)
  const status = store.status()
  await store.close()
  return status
}

t.test('a store that was left alone is ok, closed or killed, once and again', async (t) => {
  const { closed, killed } = await makeStore(t.testdir())
  for (const dir of [closed, closed, killed, killed]) t.same(await statusOf(t, dir), { state: 'ok' })
})

t.test('an older value put back in the place of a record is noticed, though it was enciphered for that very record', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  await store.transact([{ type: 'put', key: 'balance', value: 'old' }])
  await store.close()
  let old: Buffer | undefined
  await behindItsBack(dir, async (level) => {
    old = await level.get('balance')
  })
  rmSync(join(dir, INVENTORY))
  const again = await open(t, dir)
  await again.transact([{ type: 'put', key: 'balance', value: 'new' }])
  await again.close()

  await behindItsBack(dir, (level) => level.batch([{ type: 'put', key: 'balance', value: old! }], { sync: true }))

  t.same(await statusOf(t, dir), { state: 'ok', repaired: true })
})

t.test('records that nobody can decipher do not stay in the way of the others', async (t) => {
  const { closed } = await makeStore(t.testdir())
  await behindItsBack(closed, (level) => level.batch([{ type: 'put', key: 'k/0000', value: Buffer.alloc(60, 1) }], { sync: true }))

  const store = await open(t, closed)
  t.same(store.status(), { state: 'ok', repaired: true })
  t.equal((await collect(store.list('k/'))).length, 36)
})

const forgeries: Record<string, (inventory: { session: number, files: object, mac: string }) => object | undefined> = {
  'taken away': () => undefined,
  'of an earlier session': (inventory) => ({ ...inventory, session: inventory.session - 1 }),
  'without its proof': ({ mac, ...inventory }) => inventory,
  'of other things': () => ({ session: 'x' })
}
for (const [what, forge] of Object.entries(forgeries)) {
  t.test(`a list of the files that is ${what} is noticed`, async (t) => {
    const { closed } = await makeStore(t.testdir())
    const forged = forge(JSON.parse(readFileSync(join(closed, INVENTORY), 'utf8')))
    if (forged) writeFileSync(join(closed, INVENTORY), JSON.stringify(forged))
    else rmSync(join(closed, INVENTORY))

    t.same(await statusOf(t, closed), { state: 'ok', repaired: true })
    t.same(await statusOf(t, closed), { state: 'ok' }, 'it is said once')
  })
}

t.test('the log of a whole session that vanished after a crash is noticed', async (t) => {
  const { killed } = await makeStore(t.testdir())
  rmSync(join(killed, 'data', readdirSync(join(killed, 'data')).find((name) => name.endsWith('.log'))!))

  t.same(await statusOf(t, killed), { state: 'ok', repaired: true })
})

t.test('a copy of a closed store is as good as the store', async (t) => {
  const dir = t.testdir()
  const { closed } = await makeStore(dir)
  cpSync(closed, `${dir}/copy`, { recursive: true })

  t.same(await statusOf(t, `${dir}/copy`), { state: 'ok' })
})

t.test('of the copies kept before repairs the newest two stay', async (t) => {
  const { closed } = await makeStore(t.testdir())
  const copies = () => readdirSync(closed).filter((name) => name.startsWith('data.damaged-')).sort()
  const seen = new Set<string>()
  for (const harm of [HARMS['its last byte changed'], HARMS['cut in half'], flip(() => 30)]) {
    const table = readdirSync(join(closed, 'data')).filter((name) => name.endsWith('.ldb')).at(-1)!
    harm(join(closed, 'data', table))
    t.same(await statusOf(t, closed), { state: 'ok', repaired: true })
    for (const copy of copies()) seen.add(copy)
  }
  t.equal(seen.size, 3)
  t.same(copies(), [...seen].sort().slice(-2))
})

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
  await store.transact(ROT_KEYS.map((key) => ({ type: 'put', key, value: noise(3_000) })))
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
