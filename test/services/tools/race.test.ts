import { mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withFile, withFolder } from '../../../services/tools/files/open-folder.ts'
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
