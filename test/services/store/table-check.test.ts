import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import type { StoreOptions } from '../../../services/store/store-types.ts'
import { rotateKey } from '../../../services/store/replacement/rotate-key.ts'
import { collect, listeningLog, open } from './helper.ts'
import { blockEnds, compacting, KEYS, oldTable, rot, storeWithTable, tablesOf } from './rot.ts'

const RESTART = /damaged on the disk\. Restart the service: it repairs/
const LATCHED = { state: 'latched', error: RESTART }
const data = (dir: string, ...names: string[]) => join(dir, 'data', ...names)
const inventory = (dir: string, name = 'INVENTORY') => JSON.parse(readFileSync(data(dir, name), 'utf8'))

// The clock's sleeps keep no process alive.
const alive = setInterval(() => {}, 60_000)
t.teardown(() => clearInterval(alive))

/** A byte in the middle of the block with the 11th record or so. */
const IN_A_VALUE = 30_000

async function damagedStore (t: Test, dir = t.testdir()) {
  await storeWithTable(dir)
  const table = oldTable(dir)
  rot(data(dir, table), IN_A_VALUE)
  return { dir, table }
}

/** The next start repairs, says so, and the one after that has nothing to say. */
async function assertRepaired (t: Test, dir: string, options: Partial<StoreOptions> = {}) {
  const repaired = await open(t, dir, options)
  t.match(repaired.status(), { state: 'ok', repaired: true })
  const left = await collect(repaired.list('k/'))
  t.ok(left.length >= 20 && left.length < KEYS.length, `${left.length} of ${KEYS.length} records`)
  await repaired.checkTables()
  await repaired.close()
  const after = await open(t, dir)
  await after.checkTables()
  t.same(after.status(), { state: 'ok' })
  await after.close()
}

/** Runs `work` and returns the names of the files of which this program reads anything. LevelDB's own reads are not seen. */
async function filesReadBy (work: () => Promise<unknown>): Promise<string[]> {
  const { open, readFile } = fs
  const read: string[] = []
  const watch = (original: any) => (path: string, ...rest: unknown[]) => {
    read.push(String(path))
    return original(path, ...rest)
  }
  Object.assign(fs, { open: watch(open), readFile: watch(readFile) })
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    Object.assign(fs, { open, readFile })
    syncBuiltinESMExports()
  }
  return read
}

t.test('a start reads no table that looks as it was listed, closed or killed; later each is read once', async (t) => {
  const dir = t.testdir({ killed: {} })
  await storeWithTable(`${dir}/closed`)
  const store = await open(t, `${dir}/closed`)
  await store.checkTables()
  // Times and all, but with inodes of their own: these are read first.
  cpSync(`${dir}/closed`, `${dir}/copied`, { recursive: true, preserveTimestamps: true, filter: (path) => !path.endsWith('service.lock') })
  await store.close()

  for (const round of ['closed', 'closed again']) {
    const tables = tablesOf(`${dir}/closed`)
    let opened: Awaited<ReturnType<typeof open>>
    const atStart = await filesReadBy(async () => {
      opened = await open(t, `${dir}/closed`)
    })
    t.ok(atStart.some((path) => path.includes('MANIFEST')), 'what is small is read')
    t.same(atStart.filter((path) => path.endsWith('.ldb')), [], round)
    const later = await filesReadBy(() => opened.checkTables())
    // LevelDB may have put some of them together by then.
    const left = tablesOf(`${dir}/closed`).filter((name) => tables.includes(name))
    t.same(later.map((path) => basename(path)).filter((name) => left.includes(name)).sort(), left)
    await opened!.close()
    t.same(readdirSync(data(`${dir}/closed`, 'unchecked')), [], 'no link is left')
  }

  const copied = tablesOf(`${dir}/copied`)
  const ofCopy = await filesReadBy(() => open(t, `${dir}/copied`))
  t.same(ofCopy.filter((path) => path.endsWith('.ldb')).map((path) => path.slice(-10)).sort(), copied)
})

t.test('so does a start after a crash; tables that nobody has listed are read then', async (t) => {
  const dir = t.testdir()
  await storeWithTable(`${dir}/one`)
  const listed = oldTable(`${dir}/one`)
  const store = await open(t, `${dir}/one`)
  const unlisted = tablesOf(`${dir}/one`).at(-1)!
  t.ok(inventory(`${dir}/one`, 'INVENTORY.open').tables[listed])
  t.notOk(inventory(`${dir}/one`, 'INVENTORY.open').tables[unlisted])
  // As if killed: LevelDB writes nothing as it closes, and the list goes back to what it was.
  cpSync(data(`${dir}/one`, 'INVENTORY.open'), `${dir}/kept`)
  await store.close()
  rmSync(data(`${dir}/one`, 'INVENTORY'))
  cpSync(`${dir}/kept`, data(`${dir}/one`, 'INVENTORY.open'))

  const read = await filesReadBy(() => open(t, `${dir}/one`))
  t.same(read.filter((path) => path.endsWith('.ldb')), [data(`${dir}/one`, unlisted)])
})

t.test('a damaged table that looks as it was listed latches the store when it is checked, and the next start repairs', async (t) => {
  const { dir, table } = await damagedStore(t)
  const { log, lines } = listeningLog()
  const store = await open(t, dir, { log })
  t.same(store.status(), { state: 'ok' })

  await store.checkTables()

  t.match(store.status(), LATCHED)
  t.match(store.status().error, table)
  t.match(lines, [/is damaged on the disk/])
  await t.rejects(store.get(KEYS[0]), { code: 'ERR_STORE_UNAVAILABLE', message: RESTART })
  await t.rejects(store.transact([{ type: 'put', key: 'a', value: 1 }]), { code: 'ERR_STORE_UNAVAILABLE', message: RESTART })
  await store.close()
  await assertRepaired(t, dir)
})

t.test('a damaged table that a compaction has merged into a new one is told all the same', async (t) => {
  for (const end of ['checked at once', 'checked after a restart', 'checked after a crash']) {
    await t.test(end, async (t) => {
      const { dir, table } = await damagedStore(t)
      const { openDatabase, compact } = compacting()
      let store = await open(t, dir, { openDatabase })
      await compact()
      t.notOk(existsSync(data(dir, table)), 'it is gone')
      if (end !== 'checked at once') {
        cpSync(data(dir, 'INVENTORY.open'), `${dir}/kept`)
        await store.close()
        if (end === 'checked after a crash') {
          rmSync(data(dir, 'INVENTORY'))
          cpSync(`${dir}/kept`, data(dir, 'INVENTORY.open'))
        }
        store = await open(t, dir)
        t.same(store.status(), { state: 'ok' })
      }
      await store.checkTables()
      t.match(store.status(), LATCHED)
      await store.close()
      await assertRepaired(t, dir)
    })
  }
})

t.test('a start repairs at once when the database itself comes across the damage', async (t) => {
  const dir = t.testdir()
  await storeWithTable(dir)
  rot(data(dir, oldTable(dir)), blockEnds(data(dir, oldTable(dir))).at(-2)!)
  const { openDatabase, compact } = compacting()
  const opened = async (...args: Parameters<typeof openDatabase>) => {
    const database = await openDatabase(...args)
    await compact().catch(() => {})
    return database
  }
  await assertRepaired(t, dir, { openDatabase: opened })
})

t.test('a read that fails over a damaged table latches the store for good, and the next start repairs', async (t) => {
  const dir = t.testdir()
  await storeWithTable(dir)
  rot(data(dir, oldTable(dir)), blockEnds(data(dir, oldTable(dir))).at(-2)!)
  const store = await open(t, dir)
  await t.rejects(collect(store.list('k/')), { code: 'ERR_STORE_UNAVAILABLE', message: /Restart the service: it repairs/ })
  t.match(store.status(), { state: 'latched', damaged: true, error: /found damage on the disk \(.+\)\. Restart/ })
  await store.close()
  await assertRepaired(t, dir)
})

t.test('a compaction that fails over a damaged table latches the store for good, and the next start repairs', async (t) => {
  const dir = t.testdir()
  await storeWithTable(dir)
  const { openDatabase, compact } = compacting()
  const store = await open(t, dir, { openDatabase })
  rot(data(dir, oldTable(dir)), blockEnds(data(dir, oldTable(dir))).at(-2)!)
  await store.transact([KEYS[0], KEYS.at(-1)!].map((key) => ({ type: 'put', key, value: 'new' })))
  await compact().catch(() => {})

  await t.rejects(store.transact([{ type: 'put', key: 'a', value: 1 }]), {
    code: 'ERR_STORE_UNAVAILABLE',
    message: /Restart the service: it repairs/
  })
  t.match(store.status(), { state: 'latched', error: /found damage on the disk \(.+\)\. Restart/ })
  await store.close()
  await assertRepaired(t, dir)
})

t.test('a check that a close has cut off is done after the next start', async (t) => {
  const { dir } = await damagedStore(t)
  const store = await open(t, dir)
  const checking = store.checkTables()
  await store.close()
  await checking
  t.ok(readdirSync(data(dir, 'unchecked')).length > 0)

  const again = await open(t, dir)
  t.same(again.status(), { state: 'ok' })
  await again.checkTables()
  t.match(again.status(), LATCHED)
})

t.test('where tables cannot be linked they are checked where they lie', async (t) => {
  const { dir } = await damagedStore(t)
  rmSync(data(dir, 'unchecked'), { recursive: true })
  writeFileSync(data(dir, 'unchecked'), 'no folder')
  const { log, lines } = listeningLog()
  const store = await open(t, dir, { log })
  t.match(lines, [/tables cannot be linked/])
  await store.checkTables()
  t.match(store.status(), LATCHED)
})

t.test('a copy of everything does not begin before the tables are checked, and a change of the key repairs first', async (t) => {
  const root = t.testdir()
  await damagedStore(t, `${root}/one`)
  await damagedStore(t, `${root}/other`)
  const store = await open(t, `${root}/one`)
  await t.rejects(collect(store.contents(new AbortController().signal, () => {}).records), {
    code: 'ERR_STORE_UNAVAILABLE',
    message: RESTART
  })

  const said: string[] = []
  await rotateKey({ dir: `${root}/other`, clock: systemClock, report: (line) => said.push(line) })
  t.match(said, [/is damaged, repairing it/, /was repaired/, /encrypted/])
})

t.test('no key is changed while an erasure waits to be finished: that has removed the key', async (t) => {
  const dir = t.testdir({ data: {}, 'erase.json': '{}' })
  const said: string[] = []
  await rotateKey({ dir, clock: systemClock, report: (line) => said.push(line) })
  t.match(said, [/is being erased: start the service/])
})
