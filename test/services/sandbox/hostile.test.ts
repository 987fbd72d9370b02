import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { attempt, HOSTILE, setStage } from './stage.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'
const run = promisify(execFile)
const NOBODY = 65534

t.test('no command leaves the box', { skip }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  t.ok(Object.keys(HOSTILE).length >= 35)
  t.same(await attempt(stage), {})
})

t.test('no command of an ordinary user leaves the box', { skip }, async (t) => {
  if (process.getuid!() !== 0) {
    t.pass('the test before was one')
    return
  }
  const program = fileURLToPath(new URL('as-user.ts', import.meta.url))
  const drop = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', TMPDIR: '/tmp' }
  const canRead = await run('setpriv', [...drop, process.execPath, '--check', program], { env, cwd: '/' }).then(() => true, () => false)
  if (!canRead) {
    // Where nobody looks, half of the box would go untested without anybody knowing.
    if (process.env.CI) t.fail(`an ordinary user cannot read ${program}, so the box of one is not tested: open the folders above it`)
    else t.pass('these sources are for root alone')
    return
  }
  const { stdout } = await run('setpriv', [...drop, process.execPath, program], { env, cwd: '/', timeout: 110_000 })
  t.same(JSON.parse(stdout), { uid: NOBODY, escapes: {} })
})
