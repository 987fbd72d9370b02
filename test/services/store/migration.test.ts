import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Migration, Op } from '../../../services/store/store-types.ts'
import { commitReplacement, finishReplacementLocked } from '../../../services/store/replacement/replace.ts'
import { child as start, collect, open as openStore, watched } from './helper.ts'
import { addCount, KEYS, rename } from './migrations.ts'
import { damage, ofEarlierBuild } from './rewrite.ts'

/** Opens with the migrations that a test names, in place of those of the service. */
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

  cpSync(join(dir, copies(dir)[0]), join(dir, 'old/data'), { recursive: true })
  cpSync(join(dir, 'master.key'), join(dir, 'old/master.key'))
  t.same(await (await open(t, join(dir, 'old'))).get(KEYS[0]), { text: KEYS[0] })
})

t.test('data of a newer schema is refused and left alone', async (t) => {
  const dir = t.testdir()
  await fill(t, dir)
  const newer = await open(t, dir, { migrations: [rename] })
  await newer.close()

  await t.rejects(open(t, dir), { code: 'ERR_STORE_NEWER', exitCode: 78, message: /newer version.*schema \d+\.2.*knows \d+\.1/ })

  t.same((await collect((await open(t, dir, { migrations: [rename] })).list('job/'))).length, KEYS.length)
})

t.test('data of an earlier build is refused with what to do, whichever number its schema has, and left alone', async (t) => {
  const dir = t.testdir()
  await fill(t, dir)
  for (const schema of [1, 4]) {
    const before = await ofEarlierBuild(dir, schema)
    const refusal = { code: 'ERR_STORE_OLDER', exitCode: 78, message: /earlier build.*Start that build.*or move \/.*data away to start/ }
    await t.rejects(open(t, dir), refusal)
    await t.rejects(open(t, dir, { migrations: [rename] }), refusal, 'no migration starts from there')
    t.same(await ofEarlierBuild(dir, schema), before)
  }
  t.same(copies(dir), [])
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
  rmSync(join(dir, 'data'), { recursive: true })
  renameSync(kept, join(dir, 'data'))
  t.same((await collect((await open(t, dir)).list('task/'))).map(([key]) => key), KEYS)
})

t.test('a migration that is cut off at any write is finished by the next start', async (t) => {
  const dir = t.testdir()
  await fill(t, `${dir}/old`)
  const migrations = [rename, { ...addCount, to: 3 }]
  const migrated = KEYS.map((key) => [key.replace('task/', 'job/'), { text: key }])
  let cut = 0
  for (let done = false; !done; cut++) {
    const here = `${dir}/home-${cut}`
    cpSync(`${dir}/old`, here, { recursive: true })
    let left = cut
    const { openDatabase } = watched({
      async onBatch () {
        if (left-- === 0) throw new Error('cut off')
      }
    })
    done = await open(t, here, { migrations, openDatabase }).then((store) => store.close()).then(() => true, ({ message }) => {
      t.match(message, /cut off/)
      return false
    })
    const store = await open(t, here, { migrations })
    t.same([await collect(store.list('task/')), await collect(store.list('job/'))], [[], migrated], `after ${cut} writes`)
    t.same(store.status(), { state: 'ok' })
    await store.close()
    t.ok(copies(here).length >= 1, 'a copy is kept')
  }
  t.ok(cut > KEYS.length, `${cut} writes`)
})

t.test('a damaged record is left as it is, and keeps a migration from no other', async (t) => {
  const dir = t.testdir()
  await fill(t, dir)
  await damage(dir, [KEYS[1]])

  const store = await open(t, dir, { migrations: [rename] })

  t.same((await collect(store.list('job/'))).length, KEYS.length - 1)
  await t.rejects(store.get(KEYS[1]), { code: 'ERR_RECORD_DAMAGED' })
})

t.test('imported data of an older schema is brought forward by the next start', async (t) => {
  const dir = t.testdir()
  await fill(t, `${dir}/from`)
  const from = await open(t, `${dir}/from`)
  const to = await open(t, `${dir}/to`, { migrations: [rename] })
  const { schema, digestKey, records } = from.contents(new AbortController().signal, () => {})
  const next = await to.stage({ schema, digestKey })
  for await (const record of records) await next.put([record])
  await next.finish()
  await to.closeFor(() => commitReplacement(`${dir}/to`, { key: 'keep', copies: false }))
  await finishReplacementLocked(`${dir}/to`)

  const store = await open(t, `${dir}/to`, { migrations: [rename] })

  t.same((await collect(store.list('job/'))).length, KEYS.length)
})
