import { cpSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { child as start, open, watched } from './helper.ts'

const module = new URL('child.ts', import.meta.url)
const lockOf = (dir: string) => JSON.parse(readFileSync(join(dir, 'service.lock'), 'utf8'))

t.test('a second opening in the same process is refused, and the first goes on unharmed', async (t) => {
  const dir = t.testdir()
  const first = await open(t, dir)
  const raw = watched()

  await t.rejects(open(t, dir, { openDatabase: raw.openDatabase }), { code: 'ERR_STORE_IN_USE', exitCode: 73, message: `${process.pid}` })
  rmSync(join(dir, 'service.lock'))
  symlinkSync(dir, `${dir}-link`)
  t.teardown(() => rmSync(`${dir}-link`))
  await t.rejects(
    open(t, `${dir}-link`, { openDatabase: raw.openDatabase }),
    { code: 'ERR_STORE_IN_USE' },
    'by another name, its lock file deleted'
  )

  t.same(raw.openings, [], 'LevelDB was not touched')
  const other = start(t, module, 'open', dir)
  t.equal(await other.line(), 'ERR_STORE_IN_USE', "LevelDB's own lock is still held")
  await first.transact([{ type: 'put', key: 'a', value: 1 }])
})

t.test('a second process is refused and told who holds the directory', async (t) => {
  const dir = t.testdir()
  const holder = start(t, module, 'open', dir)
  t.equal(await holder.line(), 'ok')

  await t.rejects(open(t, dir), { code: 'ERR_STORE_IN_USE', exitCode: 73, message: `${holder.process.pid}` })
})

t.test('a copy of a directory that is held opens beside it, and so does a copy of that', async (t) => {
  const dir = t.testdir({ a: {} })
  const holder = start(t, module, 'open', join(dir, 'a'))
  t.equal(await holder.line(), 'ok')
  cpSync(join(dir, 'a'), join(dir, 'b'), { recursive: true })
  const copy = await open(t, join(dir, 'b'))
  await copy.transact([{ type: 'put', key: 'a', value: 1 }])
  await t.rejects(open(t, join(dir, 'a')), { code: 'ERR_STORE_IN_USE' }, 'the first is still held')
  cpSync(join(dir, 'b'), join(dir, 'c'), { recursive: true })
  const second = await open(t, join(dir, 'c'))
  t.equal(await second.get('a'), 1)
})

t.test('a directory that was moved is still held', { skip: process.platform === 'win32' }, async (t) => {
  const dir = t.testdir({ a: {} })
  const holder = start(t, module, 'open', join(dir, 'a'))
  t.equal(await holder.line(), 'ok')
  renameSync(join(dir, 'a'), join(dir, 'moved'))
  await t.rejects(open(t, join(dir, 'moved')), { code: 'ERR_STORE_IN_USE' })
})

t.test('a live process that holds only the lock file keeps others from the database', async (t) => {
  const dir = t.testdir()
  const raw = watched()
  const holder = start(t, module, 'lock', dir)
  t.equal(await holder.line(), 'ok')

  await t.rejects(open(t, dir, { openDatabase: raw.openDatabase }), { code: 'ERR_STORE_IN_USE', exitCode: 73 })

  t.same(raw.openings, [])
})

t.test('the lock of a killed process is taken over at once', async (t) => {
  const dir = t.testdir()
  for (let round = 0; round < 5; round++) {
    const holder = start(t, module, 'open', dir)
    t.equal(await holder.line(), 'ok')
    await holder.kill()
    t.equal(lockOf(dir).pid, holder.process.pid)

    const clock = { ...systemClock, sleep: () => Promise.reject(new Error('it waited')) }
    const store = await open(t, dir, { clock })
    t.equal(lockOf(dir).pid, process.pid)
    await store.close()
  }
})

t.test("without its lock file the database is still guarded by LevelDB's own lock", async (t) => {
  const dir = t.testdir()
  const holder = start(t, module, 'open', dir)
  t.equal(await holder.line(), 'ok')
  rmSync(join(dir, 'service.lock'))

  await t.rejects(open(t, dir), { code: 'ERR_STORE_IN_USE', exitCode: 73, message: /another process/ })
})

t.test('after a crash whose last threads still hold the database, the start waits a moment for them', async (t) => {
  const dir = t.testdir()
  const holder = start(t, module, 'open', dir)
  t.equal(await holder.line(), 'ok')
  writeFileSync(join(dir, 'service.lock'), JSON.stringify({ pid: holder.process.pid, started: 1 }))
  let waits = 0
  const sleep = async () => {
    if (++waits === 3) await holder.kill()
  }

  const store = await open(t, dir, { clock: { ...systemClock, sleep } })

  t.same(store.status(), { state: 'ok' })
  t.equal(waits, 3)
})

t.test(
  'a killed process that its parent has not yet reaped no longer counts',
  { skip: process.platform !== 'linux' && 'asks /proc' },
  async (t) => {
    const dir = t.testdir()
    const parent = start(t, new URL('negligent.ts', import.meta.url), fileURLToPath(module), dir)
    t.equal(await parent.line(), 'zombie')

    await open(t, dir)
    t.equal(lockOf(dir).pid, process.pid)
  }
)

t.test('a lock whose process id now belongs to another process is taken over', async (t) => {
  const dir = t.testdir()
  for (const pid of [process.pid, process.ppid]) {
    writeFileSync(join(dir, 'service.lock'), JSON.stringify({ pid, started: 12 }))
    const store = await open(t, dir)
    t.not(lockOf(dir).started, 12)
    await store.close()
  }
})

t.test('a lock torn by a crash is taken over', async (t) => {
  for (const content of ['', '{"pid":', 'null', '{"pid":-1,"started":1}']) {
    const dir = t.testdir({ 'service.lock': content })
    const store = await open(t, dir)
    t.equal(lockOf(dir).pid, process.pid, content)
    await store.close()
  }
})

t.test('of many that start over a dead lock exactly one wins', async (t) => {
  for (let round = 0; round < 4; round++) {
    const dir = t.testdir({ 'service.lock': JSON.stringify({ pid: 2 ** 22 - 1, started: 1 }) })
    const starters = Array.from({ length: 6 }, () => start(t, module, 'open', dir))
    const outcomes = await Promise.all(starters.map(({ line }) => line()))

    t.equal(outcomes.filter((line) => line === 'ok').length, 1, outcomes.join())
    t.equal(outcomes.filter((line) => line === 'ERR_STORE_IN_USE').length, 5)
    await Promise.all(starters.map(({ process, kill }) => process.exitCode === null ? kill() : undefined))
  }
})

t.test('closing leaves no lock, and no lock is left by a start that failed', async (t) => {
  const dir = t.testdir()
  const store = await open(t, dir)
  await store.close()
  t.same(readdirSync(dir).sort(), ['data', 'master.key'])

  rmSync(join(dir, 'master.key'))
  await t.rejects(open(t, dir), { code: 'ERR_STORE_KEY' })
  t.same(readdirSync(dir), ['data'])
})
