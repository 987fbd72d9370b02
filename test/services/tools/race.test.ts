import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withFile, withFolder } from '../../../services/tools/files/open-folder.ts'
import { fakeClock } from '../../harness/clock.ts'
import { build, transform } from './helper.ts'
import { race, RACES } from './swapping.ts'

t.teardown(transform.close)

/** How long each race is run; test/faults has the long form. */
const RACE_MS = 700

for (const name of Object.keys(RACES)) {
  t.test(
    `${name}, swapped for a symlink all the time, leads nowhere else`,
    { skip: process.platform === 'win32' },
    (t) => race(t, name, RACE_MS)
  )
}

t.test('a folder that is held is worked in even when another takes its place', { skip: process.platform !== 'linux' }, async (t) => {
  const base = realpathSync(t.testdir({ sub: { 'file.txt': 'inside' }, outside: { 'file.txt': 'SECRET' } }))
  const content = await withFolder(join(base, 'sub'), (folder) => {
    renameSync(join(base, 'sub'), join(base, 'moved'))
    symlinkSync('outside', join(base, 'sub'))
    return withFile(folder, 'file.txt', { owns: async () => false }, async (file) => (await file.readFile()).toString())
  })
  t.equal(content, 'inside')
  await t.rejects(withFolder(join(base, 'sub'), async () => {}), 'a symlink is no folder')
  mkdirSync(join(base, 'outside/deep'))
  await t.rejects(withFolder(join(base, 'sub/deep'), async () => {}), { code: 'ERR_PATH_REFUSED' }, 'nor is what lies behind one')
})

t.test('what a program still writes to the replaced file that it has open is kept beside the new one', async (t) => {
  const base = realpathSync(t.testdir({ 'app.log': 'one\n' }))
  const clock = fakeClock()
  const { output } = build({ workspace: base, clock })
  const path = join(base, 'app.log')
  chmodSync(path, 0o600)
  for (const [edited, late] of [['agent\n', true], ['again\n', false]] as const) {
    const log = openSync(path, 'a')
    await output('writeFile', { path: 'app.log', content: edited })
    await clock.sleeper(1_000)
    if (late) writeSync(log, 'two\n')
    closeSync(log)
    await clock.advance(1_000)
    for (const names = late ? 2 : 0; readdirSync(base).length < names;) await new Promise(setImmediate)
  }
  const [kept, ...others] = readdirSync(base).filter((name) => name !== 'app.log')
  t.match(kept, /^app\.kept-\w+\.log$/)
  t.equal(readFileSync(join(base, kept), 'utf8'), 'one\ntwo\n')
  if (process.platform !== 'win32') t.equal(statSync(join(base, kept)).mode & 0o777, 0o600, 'as private as the file was')
  t.same(others, [], 'nothing is kept where nobody wrote')
  t.equal(readFileSync(path, 'utf8'), 'again\n')
})

t.test('two writers of one file leave one of their texts whole', async (t) => {
  const base = realpathSync(t.testdir({}))
  const { output } = build({ workspace: base })
  writeFileSync(join(base, 'x.txt'), '')
  const texts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(100_000))
  await Promise.all(texts.map((content) => output('writeFile', { path: 'x.txt', content })))
  t.ok(texts.includes(readFileSync(join(base, 'x.txt'), 'utf8')))
  const names = readdirSync(base)
  t.ok(names.every((name) => texts.includes(readFileSync(join(base, name), 'utf8'))), 'what a write displaced is kept whole, beside it')
  t.same(names.filter((name) => name.startsWith('.')), [], 'no temporary file is left')
})
