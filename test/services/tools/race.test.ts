import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { withFile, withFolder } from '../../../services/tools/files/folder.ts'
import { build } from './helper.ts'

/** How long each race is run. */
const RACE_MS = 2500

/** Races `work` in a workspace whose folder `sub` another process swaps for a symlink to `outside`, all the time. */
async function swapping (t: Test, work: (execute: ReturnType<typeof build>['execute'], round: number) => Promise<number>) {
  const base = realpathSync(t.testdir({
    work: { sub: { 'file.txt': 'inside', inner: { 'file.txt': 'inside' } } },
    outside: { 'file.txt': 'SECRET', 'kept.txt': 'SECRET', inner: { 'file.txt': 'SECRET', 'kept.txt': 'SECRET' } }
  }))
  const outside = () => [readdirSync(join(base, 'outside'), { recursive: true }).sort(), readFileSync(join(base, 'outside/file.txt'), 'utf8')]
  const before = outside()
  const { execute } = build({ workspace: join(base, 'work') })
  const swapper = fork(new URL('swapper.ts', import.meta.url).pathname, [join(base, 'work/sub'), join(base, 'outside')], { execArgv: [] })
  await once(swapper, 'message')
  let through = 0
  let rounds = 0
  try {
    for (const end = Date.now() + RACE_MS; Date.now() < end; rounds++) through += await work(execute, rounds)
  } finally {
    swapper.kill('SIGKILL')
    await once(swapper, 'exit')
  }
  t.ok(through > 0, `the race was run: ${through} calls of ${rounds} rounds got through`)
  t.same(outside(), before, 'the outside is as it was')
}

t.test('a folder swapped for a symlink while it is read gives nothing away', (t) => swapping(t, async (execute, round) => {
  const result = await execute('readFile', { path: round % 2 ? 'sub/file.txt' : 'sub/inner/file.txt' })
  if (result.status === 'error') return 0
  if (result.output.content !== 'inside') t.fail(`leaked ${result.output.content}`)
  return 1
}))

t.test('nor does it list, write or delete anything elsewhere', (t) => swapping(t, async (execute, round) => {
  const results = [
    await execute('writeFile', { path: 'sub/file.txt', content: 'inside' }),
    await execute('writeFile', { path: 'sub/new/file.txt', content: 'inside' }),
    await execute('listDirectory', { path: 'sub', depth: 3 }),
    await execute('deleteFile', { path: round % 2 ? 'sub/new' : 'sub/inner', recursive: true }),
    await execute('writeFile', { path: 'sub/inner/file.txt', content: 'inside' })
  ]
  if (JSON.stringify(results).includes('kept.txt')) t.fail('listed the outside')
  return results.filter(({ status }) => status === 'complete').length
}))

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
  t.same(readdirSync(base), ['x.txt'], 'no temporary file is left')
})
