import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { findParent, waitForExit, identityOf, isRunning } from '../../../services/process/process-identity.ts'
import { fakeClock } from '../../harness/clock.ts'
import { alive } from './alive.ts'

const linux = process.platform !== 'linux' && 'asks /proc'

/** The id of a process that has ended and that its parent does not reap. */
async function zombie (t: Test): Promise<number> {
  const negligent = spawn('sh', ['-c', 'true & echo $!; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => negligent.kill('SIGKILL'))
  const pid = Number(String(await once(negligent.stdout!, 'data')))
  while (alive(pid)) await wait(10)
  return pid
}

t.test('the process that started this one is found, and its grandparent is, too', async (t) => {
  t.match(await findParent(process.ppid), { pid: process.ppid, started: Number })
  t.match(await findParent(1), { pid: 1 })
})

t.test('an id of no live process, of a zombie, of a younger process or of this one is refused', async (t) => {
  const younger = spawn('sleep', ['60'])
  t.teardown(() => younger.kill('SIGKILL'))
  await once(younger, 'spawn')
  // The clock of /proc/<pid>/stat ticks a hundred times a second, and this process is older than that.
  await t.rejects(findParent(younger.pid!), { exitCode: 64, message: /did not start the service/ })
  await t.rejects(findParent(process.pid), { exitCode: 64, message: /did not start the service/ })
  const gone = once(younger, 'exit')
  younger.kill('SIGKILL')
  await gone
  await t.rejects(findParent(younger.pid!), { exitCode: 64, message: /no live process/ })
  await t.rejects(findParent(younger.pid!, true), { exitCode: 64, message: /^npx ended while it started the service/ })
  if (!linux) await t.rejects(findParent(await zombie(t)), { exitCode: 64, message: /no live process/ })
})

/** Counts the looks at a process: one a second. */
async function watch (pid: number, started?: number) {
  const clock = fakeClock()
  const holder = { pid, started: started ?? (await identityOf(pid))!.started }
  let isOver = false
  const over = waitForExit(holder, clock).then(() => {
    isOver = true
  })
  return { clock, over, isOver: () => isOver }
}

t.test('the end of a process that is no parent is noticed at the next look, and so is another with its id', async (t) => {
  const other = spawn('sleep', ['60'])
  t.teardown(() => other.kill('SIGKILL'))
  await once(other, 'spawn')
  const { clock, over, isOver } = await watch(other.pid!)
  await clock.advance(10_000)
  t.notOk(isOver())
  const reused = await watch(other.pid!, 12)
  await t.resolves(reused.over)
  const gone = once(other, 'exit')
  other.kill('SIGKILL')
  await gone
  await clock.advance(1_000)
  await t.resolves(over)
})

t.test('where there is no /proc, ps tells when a process began', { skip: process.platform === 'win32' }, async (t) => {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  t.teardown(() => Object.defineProperty(process, 'platform', { value: platform }))
  const other = spawn('sleep', ['60'])
  t.teardown(() => other.kill('SIGKILL'))
  await once(other, 'spawn')
  const found = (await identityOf(other.pid!))!
  t.ok(Math.abs(found.started - Date.now()) < 60_000)
  t.ok(await isRunning(found))
  t.notOk(await isRunning({ ...found, started: found.started - 3_600_000 }), 'an id that was reused')
  t.match(await findParent(process.ppid), { pid: process.ppid, started: Number })
  const gone = once(other, 'exit')
  other.kill('SIGKILL')
  await gone
  t.notOk(await isRunning(found))
  t.equal(await identityOf(other.pid!), undefined)
})
