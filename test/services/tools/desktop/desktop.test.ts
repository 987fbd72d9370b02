import { execFileSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { systemClock, type Clock } from '../../../../services/lib/clock.ts'
import { createDesktop } from '../../../../services/tools/desktop/control/desktop.ts'
import { heldClock } from '../../../harness/clock.ts'
import { noDisplay, startDisplay } from '../../../harness/display.ts'
import { allGone } from '../../process/alive.ts'

const never = new AbortController().signal
const screen = { width: 320, height: 200 }

async function open (t: Test, clock: Clock = systemClock, display = startDisplay(t, screen)) {
  const { name } = await display
  const desktop = createDesktop({ clock, environment: () => ({ PATH: process.env.PATH, DISPLAY: name }) })
  t.teardown(desktop.close)
  return desktop
}

/** Where the mouse is. */
function mouse (display: string) {
  const ask =
    'const robot = require("robotjs"); robot.setXDisplayName(process.env.DISPLAY); console.log(JSON.stringify(robot.getMousePos()))'
  return JSON.parse(execFileSync(process.execPath, ['-e', ask], { env: { DISPLAY: display }, encoding: 'utf8' }))
}

t.test('a child is there when needed, and gone half a minute later; a look leaves none', { skip: noDisplay }, async (t) => {
  const { clock, pass } = heldClock()
  const desktop = await open(t, clock)
  t.equal(desktop.pid, undefined)
  t.same(await desktop.run('click', { x: 319, y: 199 }, never), { x: 319, y: 199, screen })
  const first = desktop.pid!
  await desktop.run('look', {}, never)
  t.equal(desktop.pid, first)
  await pass(30_000)
  await allGone([first])
  t.equal(desktop.pid, undefined)
  await desktop.probe()
  while (desktop.pid !== undefined) await new Promise((resolve) => setTimeout(resolve, 2))
  t.equal(desktop.problem(), undefined)
  t.same(await desktop.run('look', {}, never), { screen })
})

t.test('what is given up while the child is being started is not done', { skip: noDisplay }, async (t) => {
  const display = startDisplay(t, screen)
  const desktop = await open(t, systemClock, display)
  const leaving = new AbortController()
  const click = desktop.run('click', { x: 5, y: 5 }, leaving.signal)
  setImmediate(() => leaving.abort(new Error('enough')))
  await t.rejects(click, { message: 'enough' })
  t.notSame(mouse((await display).name), { x: 5, y: 5 })
  await desktop.run('click', { x: 6, y: 6 }, never)
  t.same(mouse((await display).name), { x: 6, y: 6 })
})

t.test(
  'one that does not answer is ended, and who waits behind gets another',
  { skip: noDisplay || process.platform === 'win32' },
  async (t) => {
    const { clock, pass } = heldClock()
    const desktop = await open(t, clock)
    await desktop.run('look', {}, never)
    const stuck = desktop.pid!
    process.kill(stuck, 'SIGSTOP')
    const late = t.rejects(desktop.run('click', { x: 1, y: 1 }, never), {
      code: 'ERR_TOOL_FAILED',
      message: /within 15 s\. It may have had some of its effects/
    })
    const next = desktop.run('click', { x: 2, y: 2 }, never)
    await pass(15_000)
    await late
    t.match(await next, { x: 2, y: 2 })
    await allGone([stuck])
  }
)

t.test('what is given up, or too much, is not done; the end of the service ends what is under way', { skip: noDisplay }, async (t) => {
  const desktop = await open(t)
  const stop = new AbortController()
  const typing = desktop.run('type', { text: 'a'.repeat(2000) }, never)
  const waiting = Array.from({ length: 31 }, (_, n) => desktop.run('click', { x: n, y: 1 }, n === 0 ? stop.signal : never))
  await t.rejects(desktop.run('look', {}, never), { code: 'ERR_DESKTOP_BUSY' })
  stop.abort(new Error('enough'))
  await t.rejects(waiting[0], { message: 'enough' })
  for (const act of [typing, ...waiting]) act.catch(() => {})
  await desktop.close()
  for (const { status } of await Promise.allSettled([typing, ...waiting])) t.equal(status, 'rejected')
  t.equal(desktop.pid, undefined)
  await t.rejects(desktop.run('look', {}, never), { message: 'The service is ending.' })
})
