import { readdirSync, readFileSync, renameSync, rmSync, statSync, chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { filesIn, found } from '../../harness/canaries.ts'
import { noise } from '../../faults/backup.ts'
import { collect, open } from './helper.ts'
import { rewrite } from './rewrite.ts'

const CANARY = 'the user is allergic to walnuts'
const passphrase = 'correct horse battery staple'
const put = (key: string, value: unknown = { text: CANARY }) => ({ type: 'put' as const, key, value })

async function written (t: Parameters<typeof open>[0], dir: string, options = {}) {
  const store = await open(t, dir, options)
  await store.transact([put('a'), put('b', { text: 'something else' })])
  await store.record('brain', () => ({})).update(() => ({ facts: [CANARY] }))
  await store.close()
  return dir
}

t.test('nothing that was stored can be read in any file, whatever its encoding', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  for (let i = 0; i < 300; i++) await store.transact([put(`k/${i}`, { text: CANARY, pad: noise(20_000) })])
  await store.close()

  const files = filesIn(dir)
  t.ok(files.some(([path]) => path.endsWith('.ldb')) && files.some(([path]) => path.endsWith('.log')), 'tables and a log were looked at')
  t.same(found({ CANARY }, files), [])
})

t.test(
  "the directory is the user's alone, and so are its files",
  { skip: process.platform === 'win32' && 'Windows has no such modes' },
  async (t) => {
    const dir = t.testdir()
    chmodSync(dir, 0o755)
    const store = await open(t, dir)
    const mode = (...path: string[]) => (statSync(join(dir, ...path)).mode & 0o777).toString(8)

    t.equal(mode(), '700')
    t.equal(mode('data'), '700')
    t.equal(mode('master.key'), '600')
    t.equal(mode('service.lock'), '600')
    await store.close()
    chmodSync(join(dir, 'master.key'), 0o644)
    await open(t, dir)
    t.equal(mode('master.key'), '600', 'a key file that others could read is closed to them')
  }
)

t.test('a ciphertext copied onto another record, cut short or altered is refused without telling contents', async (t) => {
  const dir = await written(t, t.testdir())
  await rewrite(dir, async (get) => {
    const [a, b] = [await get('a'), await get('b')]
    const flipped = Buffer.from(a)
    flipped[flipped.length - 20] ^= 1
    return [
      { type: 'put', key: 'swapped', value: b },
      { type: 'put', key: 'short', value: a.subarray(0, 20) },
      { type: 'put', key: 'flipped', value: flipped },
      { type: 'put', key: 'empty', value: Buffer.alloc(0) },
      { type: 'put', key: 'plain', value: Buffer.from(JSON.stringify({ text: 'planted, quite long for a short plain text' })) }
    ]
  })
  const store = await open(t, dir)

  for (const key of ['swapped', 'short', 'flipped', 'empty', 'plain']) {
    const error: Error = await store.get(key).then(() => t.fail('it was read'), (error) => error)
    t.match(error, { code: 'ERR_RECORD_DAMAGED' }, key)
    t.notMatch(error.message + error.stack, /something else|walnuts|planted/)
  }
  await t.rejects(collect(store.list('s')), { code: 'ERR_RECORD_DAMAGED' })
  const named: string[] = []
  t.same(
    (await collect(store.list('', {
      damaged: (key) => {
        named.push(key)
      }
    }))).map(([key]) => key),
    ['a', 'b'],
    'unless the listing is told what to do with them'
  )
  t.same(named, ['empty', 'flipped', 'plain', 'short', 'swapped'])
  t.same(await collect(store.keys('s')), ['short', 'swapped'], 'keys can be had without')
  t.same(await store.get('a'), { text: CANARY }, 'the others can still be read')
  t.match(store.status(), { damaged: true })
})

t.test('two writes of the same value look different on disk', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  await store.transact([put('x', 1), put('y', 1)])
  await store.close()

  await rewrite(dir, async (get) => {
    t.notSame((await get('x')).subarray(5), (await get('y')).subarray(5))
    return []
  })
})

t.test('data whose key file is gone, or another one, is left alone', async (t) => {
  const dir = await written(t, t.testdir())
  const key = join(dir, 'master.key')
  renameSync(key, `${key}.away`)

  const refusal = { code: 'ERR_STORE_KEY', exitCode: 78 }
  await t.rejects(open(t, dir), { ...refusal, message: /master\.key is missing.*backup/ })
  t.notOk(readdirSync(dir).includes('master.key'), 'no new key is made')
  writeFileSync(key, Buffer.alloc(32, 7))
  await t.rejects(open(t, dir), { ...refusal, message: /is not the key/ })
  writeFileSync(key, 'too short')
  await t.rejects(open(t, dir), { ...refusal, message: /is not a key file/ })
  renameSync(`${key}.away`, key)

  t.same(await (await open(t, dir)).get('a'), { text: CANARY })
})

t.test('a passphrase protects the data, and no key lies on disk', async (t) => {
  const dir = await written(t, t.testdir(), { passphrase })

  t.notOk(readdirSync(dir).includes('master.key'))
  await t.rejects(open(t, dir, { passphrase: 'wrong' }), { code: 'ERR_STORE_KEY', exitCode: 78, message: /not the passphrase/ })
  for (const none of [undefined, '']) {
    await t.rejects(open(t, dir, { passphrase: none }), { code: 'ERR_STORE_KEY', exitCode: 78, message: /Set LOCAL_AGENT_PASSPHRASE/ })
  }
  t.same(await (await open(t, dir, { passphrase })).get('a'), { text: CANARY })
  t.notOk(readdirSync(dir).includes('master.key'))
})

t.test('a passphrase given for data of a key file is refused', async (t) => {
  const dir = await written(t, t.testdir())

  await t.rejects(open(t, dir, { passphrase }), { code: 'ERR_STORE_KEY', exitCode: 78, message: /Unset LOCAL_AGENT_PASSPHRASE/ })
})

t.test('a key file outlives its data: a new store is made with it', async (t) => {
  const dir = await written(t, t.testdir())
  const key = readFileSync(join(dir, 'master.key'))
  rmSync(join(dir, 'data'), { recursive: true })

  const store = await open(t, dir)

  t.same(await collect(store.list('')), [])
  t.same(readFileSync(join(dir, 'master.key')), key)
})
