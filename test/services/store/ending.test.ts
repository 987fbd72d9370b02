import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Aborted } from '../../../services/lib/abort.ts'
import { systemClock, type Clock } from '../../../services/lib/clock.ts'
import { identityOf } from '../../../services/process/process-identity.ts'
import { acquireLock, waitForEnding, writeInstance } from '../../../services/store/directory-lock.ts'

const lockIn = (dir: string) => join(dir, 'service.lock')
const instanceIn = (dir: string) => join(dir, 'instance.json')
const instance = { url: 'http://127.0.0.1:3001', version: '1.0.0', startedAt: 5 }
/** Of no process. */
const DEAD = { pid: 2 ** 22 - 1, started: 1 }

/** A directory that a live process, the one that started this test, holds. */
async function held (t: Test, more: object) {
  const dir = t.testdir()
  const holder = (await identityOf(process.ppid))!
  writeFileSync(lockIn(dir), JSON.stringify({ ...holder, ...more }))
  return { dir, pid: holder.pid }
}

/** Time passes only for those who wait; `onWait` sees how long they have. */
function waitingClock (onWait: (ms: number) => void = () => {}) {
  let time = 0
  const clock: Clock = {
    now: () => time,
    monotonic: () => time,
    awake: () => time,
    timeout: (ms, signal) => clock.sleep(ms, signal),
    async sleep (ms, signal) {
      signal?.throwIfAborted()
      onWait(time += ms)
    }
  }
  return { clock, waited: () => time }
}

for (const [who, more] of [['says that it is ending', { ending: true }], ['ends with a parent that is gone', { parent: DEAD }]] as const) {
  t.test(`a holder that ${who} is waited for, by whoever reads only the configuration too`, async (t) => {
    for (const wait of [acquireLock, waitForEnding]) {
      const { dir } = await held(t, more)
      const { clock, waited } = waitingClock((ms) => {
        if (ms >= 3_000) rmSync(lockIn(dir), { force: true })
      })
      const lock = await wait(dir, { clock })
      t.ok(waited() >= 3_000 && waited() < 3_200, 'as long as it takes')
      lock?.release()
    }
  })

  t.test(`a holder that ${who} and does not is refused after 6 s, and named`, async (t) => {
    for (
      const wait of [async (...given: Parameters<typeof acquireLock>) => {
        await acquireLock(...given)
      }, waitForEnding]
    ) {
      const { dir, pid } = await held(t, more)
      const { clock, waited } = waitingClock()
      await t.rejects(wait(dir, { clock }), { exitCode: 73, message: new RegExp(`process ${pid}, which is ending but takes too long`) })
      t.ok(waited() >= 6_000 && waited() < 6_200, `${waited()} ms`)
    }
  })
}

t.test('a holder that is not ending is not waited for, nor is the lock of one that died while it was', async (t) => {
  const { clock, waited } = waitingClock()
  const { dir } = await held(t, { parent: await identityOf(process.pid) })
  await t.rejects(acquireLock(dir, { clock }), { code: 'ERR_STORE_IN_USE' })
  await t.resolves(waitForEnding(dir, { clock }))
  writeFileSync(lockIn(dir), JSON.stringify({ ...DEAD, ending: true }))
  await t.resolves(waitForEnding(dir, { clock }))
  const lock = await acquireLock(dir, { clock })
  t.ok(lock.tookOver)
  lock.release()
  t.equal(waited(), 0)
  await t.resolves(waitForEnding(join(dir, 'missing'), { clock }))
})

t.test('who waits and is told to end waits no longer', async (t) => {
  const told = new AbortController()
  const { clock } = waitingClock((ms) => {
    if (ms >= 1_000) told.abort(new Aborted('shutdown'))
  })
  const { dir } = await held(t, { ending: true })
  await t.rejects(acquireLock(dir, { clock, ending: told.signal }), { name: 'AbortError' })
})

t.test('a lock names the parent, says when its holder is told to end, and is released all the same', async (t) => {
  const dir = t.testdir()
  const told = new AbortController()
  const lock = await acquireLock(dir, { clock: systemClock, parent: DEAD, ending: told.signal })
  const content = () => JSON.parse(readFileSync(lockIn(dir), 'utf8'))
  t.match(content(), { pid: process.pid, parent: DEAD, ending: undefined })
  told.abort()
  t.match(content(), { pid: process.pid, parent: DEAD, ending: true })
  t.equal(statSync(lockIn(dir)).mode & 0o777, 0o600)
  lock.release()
  t.notOk(existsSync(lockIn(dir)))

  const late = await acquireLock(dir, { ending: told.signal })
  t.equal(content().ending, true, 'who was told before says so from the start')
  late.release()
  t.notOk(existsSync(lockIn(dir)))
})

t.test('where ids alone tell processes apart, a lock whose id another process has is taken over once its database is free', async (t) => {
  const { dir, pid } = await held(t, { started: 0 })
  const { clock, waited } = waitingClock()
  await t.rejects(acquireLock(dir, { clock, isDatabaseFree: () => false }), { message: new RegExp(`process ${pid}`) })
  t.equal(waited(), 0, 'one that is open is in use at once')

  await t.rejects(acquireLock(dir, { clock, isDatabaseFree: () => waited() < 1_000 }), { code: 'ERR_STORE_IN_USE' })
  t.ok(waited() >= 1_000, 'and so is one that is opened soon, by a service that has just begun')

  const lock = await acquireLock(dir, { clock, isDatabaseFree: () => true })
  t.ok(lock.tookOver)
  t.match(JSON.parse(readFileSync(lockIn(dir), 'utf8')), { pid: process.pid })
  lock.release()

  const ended = await held(t, { started: 0, ending: true })
  await t.resolves(waitForEnding(ended.dir, { clock, isDatabaseFree: () => true }), 'nor is the end of another process waited for')
})

t.test("who is told to end says nothing in a lock that has become another's", async (t) => {
  const dir = t.testdir()
  const told = new AbortController()
  const lock = await acquireLock(dir, { ending: told.signal })
  writeFileSync(lockIn(dir), '{"pid":1,"started":1}')
  told.abort()
  lock.release()
  t.equal(readFileSync(lockIn(dir), 'utf8'), '{"pid":1,"started":1}')
})

t.test('instance.json lies there no longer than the lock, and what a killed process left goes with the next one', async (t) => {
  const dir = t.testdir()
  writeInstance(dir, { ...instance, pid: 1 })
  writeFileSync(`${instanceIn(dir)}.new`, '{')
  const lock = await acquireLock(dir)
  t.notOk(existsSync(instanceIn(dir)))
  writeInstance(dir, { ...instance, pid: process.pid })
  t.same(JSON.parse(readFileSync(instanceIn(dir), 'utf8')), { ...instance, pid: process.pid })
  t.equal(statSync(instanceIn(dir)).mode & 0o777, 0o600)
  t.notOk(existsSync(`${instanceIn(dir)}.new`))
  await t.rejects(acquireLock(dir), { code: 'ERR_STORE_IN_USE' })
  t.ok(existsSync(instanceIn(dir)), 'who was refused leaves it alone')
  lock.release()
  t.notOk(existsSync(instanceIn(dir)))
})

t.test('who holds a directory is named with the address in instance.json only where that is of the same process', async (t) => {
  const { dir, pid } = await held(t, {})
  const messageWith = async (content: string | undefined) => {
    rmSync(instanceIn(dir), { force: true, recursive: true })
    if (content !== undefined) writeFileSync(instanceIn(dir), content)
    const error = await acquireLock(dir).catch((error) => error)
    t.match(error, { exitCode: 73, message: new RegExp(`in use by process ${pid}.*LOCAL_AGENT_HOME`) })
    return error.message
  }
  t.match(
    await messageWith(JSON.stringify({ ...instance, pid })),
    `process ${pid}, a service at ${instance.url}. Use that service, or stop it first`
  )
  for (
    const content of [
      undefined,
      '',
      '{"pid":',
      'null',
      JSON.stringify({ ...instance, pid: pid + 1 }),
      JSON.stringify({ ...instance, pid, url: 'http://x\x1b[2J' })
    ]
  ) {
    t.notMatch(await messageWith(content), /a service at/, `${content}`)
  }
  rmSync(instanceIn(dir), { force: true })
  mkdirSync(instanceIn(dir))
  await t.rejects(acquireLock(dir), { code: 'ERR_STORE_IN_USE' }, 'a folder in its place')
})
