import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openLevel } from '../../../services/store/database.ts'
import { collect, listeningLog, open } from './helper.ts'

const KEYS = Array.from({ length: 200 }, (_, i) => `k/${String(i).padStart(3, '0')}`)

/** A store whose records lie in tables and in the log. */
async function fill (t: Parameters<typeof open>[0], dir: string) {
  const store = await open(t, dir)
  for (const key of KEYS) await store.transact([{ type: 'put', key, value: { key, pad: 'x'.repeat(30_000) } }])
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
