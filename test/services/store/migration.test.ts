import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Op } from '../../../services/store/store-types.ts'
import type { Migration } from '../../../services/store/store-types.ts'
import { child as start, collect, open as openStore } from './helper.ts'
import { addCount, KEYS, rename } from './migrations.ts'

/** Opens with the migrations that a test names, and without those of the service. */
const open: typeof openStore = (t, dir, options) => openStore(t, dir, { migrations: [], ...options })

const copies = (dir: string) => readdirSync(dir).filter((name) => name.startsWith('data.'))

async function fill (t: Parameters<typeof open>[0], dir: string) {
  const store = await open(t, dir)
  await store.transact(KEYS.map((key): Op => ({ type: 'put', key, value: { text: key } })))
  await store.record('brain', () => ({})).update(() => ({ facts: ['a'] }))
  await store.close()
}

t.test('data of an older schema is brought forward, and a copy from before is kept that still opens', async (t) => {
  const dir = t.testdir({ old: {} })
  await fill(t, dir)
  const before: Migration = {
    to: 2,
    async * migrate (data) {
      const brain = await data.get<{ facts: string[] }>('!record/brain')
      yield [{ type: 'put', key: '!record/brain', value: { ...brain, patterns: [] } }]
    }
  }

  const store = await open(t, dir, { migrations: [addCount, before] })

  t.same(await collect(store.list('task/')), KEYS.map((key) => [key, { text: key, count: 1 }]))
  t.same(await store.record('brain', () => ({})).get(), { facts: ['a'], patterns: [] })
  await store.close()
  await (await open(t, dir, { migrations: [addCount, before] })).close()
  t.match(copies(dir), [/^data\.v1-\d{4}-\d\d-\d\dT/], 'one copy, none for an opening that had nothing to do')

  const { cpSync } = await import('node:fs')
  cpSync(join(dir, copies(dir)[0]), join(dir, 'old/data'), { recursive: true })
  cpSync(join(dir, 'master.key'), join(dir, 'old/master.key'))
  t.same(await (await open(t, join(dir, 'old'))).get(KEYS[0]), { text: KEYS[0] })
})

t.test('data of a newer schema is refused and left alone', async (t) => {
  const dir = t.testdir()
  await fill(t, dir)
  const newer = await open(t, dir, { migrations: [rename] })
  await newer.close()

  await t.rejects(open(t, dir), { code: 'ERR_STORE_NEWER', exitCode: 78, message: /newer version.*schema 2.*knows 1/ })

  t.same((await collect((await open(t, dir, { migrations: [rename] })).list('job/'))).length, KEYS.length)
})

t.test('a new store is of the newest schema at once', async (t) => {
  const dir = t.testdir()
  const failing: Migration = {
    to: 2,
    migrate () {
      throw new Error('nothing to migrate')
    }
  }

  await open(t, dir, { migrations: [failing] })

  t.same(copies(dir), [])
})

t.test('a migration that was killed midway is finished by the next start, with the copy from before it all', async (t) => {
  const dir = t.testdir()
  await fill(t, dir)

  for (const killAt of ['1', '3']) {
    const victim = start(t, new URL('migrations.ts', import.meta.url), dir, killAt)
    t.equal(await victim.line(), `killed at batch ${killAt}`)
    if (victim.process.signalCode === null) await new Promise((resolve) => victim.process.once('exit', resolve))
    await t.rejects(
      open(t, dir, {
        migrations: [{
          to: 2,
          migrate () {
            throw new Error('still of schema 1')
          }
        }]
      }),
      { message: 'still of schema 1' }
    )
  }
  const store = await open(t, dir, { migrations: [rename, { ...addCount, to: 3 }] })

  t.same(await collect(store.list('task/')), [])
  t.same((await collect(store.list('job/'))).length, KEYS.length)
  await store.close()
  t.equal(copies(dir).length, 1)
  const kept = join(dir, copies(dir)[0])
  t.ok(existsSync(join(kept, 'CURRENT')))
  const { renameSync, rmSync } = await import('node:fs')
  rmSync(join(dir, 'data'), { recursive: true })
  renameSync(kept, join(dir, 'data'))
  t.same((await collect((await open(t, dir)).list('task/'))).map(([key]) => key), KEYS)
})
