import { chmodSync, mkdirSync, promises, readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import { applyPatch } from 'diff'
import t, { type Test } from 'tap'
import { PREVIEW_CHARS, unifiedDiff } from '../../../services/tools/files/diff.ts'
import { build } from './helper.ts'

function lay (t: Test, content: Parameters<Test['testdir']>[0] = {}) {
  const workspace = realpathSync(t.testdir(content))
  return { workspace, ...build({ workspace }) }
}

t.test('writeFile makes a file with its folders and shows the change', async (t) => {
  const { workspace, output } = lay(t)
  const made = await output('writeFile', { path: 'a/b/c.txt', content: 'é\n' })
  t.match(made, { path: join(workspace, 'a/b/c.txt'), bytesWritten: 3, created: true })
  t.equal(made.diff, '--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,1 @@\n+é\n')

  const changed = await output('writeFile', { path: 'a/b/c.txt', content: 'e\n' })
  t.match(changed, { created: false, bytesWritten: 2, diff: /-é\n\+e\n/ })
  t.equal((await output('writeFile', { path: 'a/b/c.txt', content: 'e\n' })).diff, '')
  t.equal(readFileSync(join(workspace, 'a/b/c.txt'), 'utf8'), 'e\n')
  t.same(readdirSync(join(workspace, 'a/b')), ['c.txt'])
})

t.test('writeFile keeps the mode of the file it replaces', { skip: process.platform === 'win32' }, async (t) => {
  const { workspace, output } = lay(t, { 'run.sh': '', 'private.txt': '' })
  chmodSync(join(workspace, 'run.sh'), 0o777)
  chmodSync(join(workspace, 'private.txt'), 0o600)
  for (const path of ['run.sh', 'private.txt', 'new.txt']) await output('writeFile', { path, content: 'x' })
  const mode = (name: string) => statSync(join(workspace, name)).mode & 0o777
  t.equal(mode('run.sh'), 0o777)
  t.equal(mode('private.txt'), 0o600)
  t.equal(mode('new.txt'), 0o666 & ~process.umask())
})

t.test('writeFile bounds the diff, and writes whatever it cannot compare', async (t) => {
  const { workspace, output } = lay(t)
  const write = (content: string) => output('writeFile', { path: 'x', content })
  const lines = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}\n`).join('')
  t.ok((await write(lines('a', 10_000))).diff.length < 17_000)
  t.match((await write(lines('b', 10_000))).diff, /^-a0\n(-a\d+\n)+\(… \d+ more characters/m, 'though nothing is the same')
  t.match(await write('z'.repeat(3_000_000)), { bytesWritten: 3_000_000, diff: /too long/ })
  writeFileSync(join(workspace, 'x'), Buffer.from([0, 1, 2]))
  t.match(await write('text'), { created: false, diff: /no text/ })
})

t.test('a difference of 200 lines among 5,000 is shown whole, and each diff makes the new text of the old', async (t) => {
  const old = Array.from({ length: 5_000 }, (_, n) => `  value_${n % 700} = compute(${n}) # the usual comment\n`)
  const now = old.flatMap((line, n) => n % 25 !== 3 ? [line] : n % 50 === 3 ? [line.replace('usual', 'changed')] : [line, 'new line\n'])
  const texts: Array<[string, string]> = [
    [old.join(''), now.join('')],
    ['', 'a\nb'],
    ['a\nb', ''],
    ['a\n', 'a'],
    ['}\n}\n}\n', '}\n}\n'],
    ['x\n'.repeat(2_000), 'y\nx\n'.repeat(1_000)],
    [old.join(''), now.toReversed().join('')]
  ]
  for (const [before, after] of texts) {
    const diff = await unifiedDiff('long.py', before, after, 4_000_000)
    t.equal(applyPatch(before, diff), after)
  }
  const diff = await unifiedDiff('long.py', old.join(''), now.join(''), PREVIEW_CHARS)
  t.equal(diff.split('\n').filter((line) => line.startsWith('+  ') || line === '+new line').length, 200)
})

t.test('writeFile refuses folders and leaves nothing behind when it is aborted', async (t) => {
  const { workspace, failure, execute } = lay(t, { folder: {}, file: 'old' })
  t.match(await failure('writeFile', { path: 'folder', content: 'x' }), /folder/)
  t.match(await failure('writeFile', { path: 'file/x', content: 'x' }), /not a folder/)
  const reason = new Error('left')
  await t.rejects(execute('writeFile', { path: 'file', content: 'x' }, { signal: AbortSignal.abort(reason) }), reason)
  const leaving = new AbortController()
  const call = execute('writeFile', { path: 'file', content: 'x'.repeat(10_000_000) }, { signal: leaving.signal })
  leaving.abort(reason)
  await t.rejects(call, reason)
  t.equal(readFileSync(join(workspace, 'file'), 'utf8'), 'old')
  t.same(readdirSync(workspace).sort(), ['file', 'folder'])
})

t.test('names are found in either normal form, and no twin is made', { skip: process.platform === 'darwin' }, async (t) => {
  const apart = (text: string) => text.normalize('NFD')
  const { workspace, output, failure } = lay(t, { [apart('Café')]: { [apart('Zoë.txt')]: 'one\n' }, 'Ångström.md': 'two\n' })
  const folder = join(workspace, apart('Café'))
  t.equal((await output('readFile', { path: 'Café/Zoë.txt' })).content, 'one\n')
  t.equal((await output('readFile', { path: apart('Ångström.md') })).content, 'two\n')
  t.same((await output('findFiles', { pattern: 'Zoë.*' })).files, [apart('Café/Zoë.txt')])
  t.match(await output('writeFile', { path: 'Café/Zoë.txt', content: 'three\n' }), { created: false })
  await output('editFile', { path: 'Café/Zoë.txt', edits: [{ oldText: 'three', newText: 'four' }] })
  await output('writeFile', { path: 'Café/neu é.txt', content: 'x' })
  t.same(readdirSync(folder).sort(), [apart('Zoë.txt'), 'neu é.txt'].sort(), 'a new name is written as it was given')
  await output('moveFile', { from: apart('Ångström.md'), to: 'Café/Zoë.txt', overwrite: true })
  t.same(readdirSync(workspace), [apart('Café')])
  t.equal(readFileSync(join(folder, apart('Zoë.txt')), 'utf8'), 'two\n')
  await output('deleteFile', { path: 'Café/Zoë.txt' })
  writeFileSync(join(folder, 'ö'), 'composed')
  writeFileSync(join(folder, apart('ö')), 'apart')
  t.equal((await output('readFile', { path: 'Café/ö' })).content, 'composed', 'a name that is there is meant as it is')
  t.equal((await output('readFile', { path: `Café/${apart('ö')}` })).content, 'apart')
  writeFileSync(join(folder, 'x\u0323\u0307'), 'one')
  writeFileSync(join(folder, 'x\u0307\u0323'), 'two')
  t.match(await failure('readFile', { path: 'Café/\u1e8b\u0323' }), /does not exist|not found|ENOENT/i, 'two that fit are none')
})

t.test('listDirectory tells name, kind and size, sorted, without following links', async (t) => {
  const { workspace, output, failure } = lay(t, { b: 'four', a: { 'x.txt': 'x', deep: { y: '' } } })
  symlinkSync('a', join(workspace, 'c'))
  t.strictSame(await output('listDirectory', {}), {
    path: workspace,
    entries: [{ name: 'a', path: 'a', kind: 'directory' }, { name: 'b', path: 'b', kind: 'file', size: 4 }, {
      name: 'c',
      path: 'c',
      kind: 'symlink'
    }]
  })
  const paths = async (input: object) => (await output('listDirectory', input)).entries.map(({ path }: { path: string }) => path)
  t.same(await paths({ depth: 2 }), ['a', 'a/deep', 'a/x.txt', 'b', 'c'])
  t.same(await paths({ path: 'a', depth: 9 }), ['deep', 'deep/y', 'x.txt'])
  t.same(await paths({ path: 'c' }), ['deep', 'x.txt'], 'a link given by name is followed')
  t.match(await failure('listDirectory', { path: 'b' }), /not a folder/)
  t.match(await failure('listDirectory', { path: 'none' }), /does not exist/)
})

t.test('listDirectory is bounded, the upper levels first', async (t) => {
  const { workspace, output } = lay(t, { a: {}, b: '' })
  for (let index = 0; index < 600; index++) writeFileSync(join(workspace, 'a', `${index}`), '')
  const { entries, truncated } = await output('listDirectory', { depth: 2 })
  t.equal(entries.length, 500)
  t.equal(truncated, true)
  t.equal(entries.at(-1).path, 'b')
  t.equal((await output('listDirectory', { depth: 2, limit: 2000 })).truncated, undefined)
})

t.test('deleteFile removes files and empty folders, and full ones when told to', async (t) => {
  const { workspace, output, failure } = lay(t, { file: '', empty: {}, full: { inner: { x: '' } } })
  t.strictSame(await output('deleteFile', { path: 'file' }), { path: join(workspace, 'file'), kind: 'file', deleted: 1 })
  t.match(await output('deleteFile', { path: 'empty' }), { kind: 'directory', deleted: 1 })
  t.match(await failure('deleteFile', { path: 'full' }), /not empty: pass recursive/)
  t.match(await output('deleteFile', { path: 'full', recursive: true }), { deleted: 3 })
  t.match(await failure('deleteFile', { path: 'file' }), /does not exist/)
  t.same(readdirSync(workspace), [])
})

t.test('what a scanner of Windows holds for a moment is removed all the same', async (t) => {
  const { workspace, output } = lay(t, { file: '', full: { inner: { x: '' } } })
  const { rename, rmdir, unlink } = promises
  const refused: string[] = []
  /** Refuses the first call for each path, as Windows does while another program has it open. */
  const held = (call: (...paths: any[]) => Promise<void>, name: string) => async (...paths: string[]) => {
    const path = `${name} ${basename(String(paths[0]))}`
    if (refused.includes(path)) return call(...paths)
    refused.push(path)
    throw Object.assign(new Error(`EBUSY: ${path}`), { code: 'EBUSY', syscall: name })
  }
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  // Pauses alone keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  t.teardown(() => {
    clearInterval(alive)
    Object.assign(promises, { rename, rmdir, unlink })
    Object.defineProperty(process, 'platform', platform)
    syncBuiltinESMExports()
  })
  Object.assign(promises, { rename: held(rename, 'rename'), rmdir: held(rmdir, 'rmdir'), unlink: held(unlink, 'unlink') })
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
  syncBuiltinESMExports()

  t.match(await output('deleteFile', { path: 'file' }), { deleted: 1 })
  t.match(await output('deleteFile', { path: 'full', recursive: true }), { deleted: 3 })

  t.same(readdirSync(workspace), [])
  t.match(refused, ['rename file', /^unlink /, 'rename full', 'unlink x', 'rmdir inner', /^rmdir /])
})

t.test('what a user may not touch stays untouched', { skip: process.getuid?.() === 0 && 'root may touch everything' }, async (t) => {
  const { workspace, failure } = lay(t, { 'read-only': 'old', locked: {} })
  chmodSync(join(workspace, 'read-only'), 0o400)
  mkdirSync(join(workspace, 'locked/in'))
  chmodSync(join(workspace, 'locked'), 0o500)
  t.match(await failure('writeFile', { path: 'read-only', content: 'new' }), /permission denied/)
  t.match(await failure('writeFile', { path: 'locked/new', content: 'new' }), /permission denied/)
  t.match(await failure('deleteFile', { path: 'locked/in' }), /permission denied/)
  chmodSync(join(workspace, 'locked'), 0o700)
})
