import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { contentDigest } from '../../../services/tools/files/change-digest.ts'
import { build } from './helper.ts'

function lay (t: Test, content: Parameters<Test['testdir']>[0] = {}, roots: string[] = []) {
  const workspace = realpathSync(t.testdir(content))
  const tools = build({ workspace, roots })
  return {
    workspace,
    at: (path: string) => join(workspace, path),
    move: (from: string, to: string, rest: object = {}) => tools.output('moveFile', { from, to, ...rest }),
    refused: (from: string, to: string, rest: object = {}) => tools.failure('moveFile', { from, to, ...rest }),
    ...tools
  }
}

t.test('moveFile moves files, folders and links, and makes the folders on the way', async (t) => {
  const { at, move, execute } = lay(t, { 'a.txt': 'text', folder: { inner: { 'b.txt': 'b' } } })
  chmodSync(at('a.txt'), 0o640)
  t.strictSame(await move('a.txt', 'new/deep/b.txt'), { from: at('a.txt'), path: at('new/deep/b.txt'), kind: 'file' })
  t.equal(readFileSync(at('new/deep/b.txt'), 'utf8'), 'text')
  t.equal(statSync(at('new/deep/b.txt')).mode & 0o777, 0o640)
  t.match(await move('folder', 'renamed'), { kind: 'directory' })
  t.equal(readFileSync(at('renamed/inner/b.txt'), 'utf8'), 'b')
  symlinkSync('nowhere', at('link'))
  t.match(await move('link', 'new/link'), { kind: 'symlink' })
  t.equal(readlinkSync(at('new/link')), 'nowhere')
  t.same(readdirSync(at('.')).sort(), ['new', 'renamed'])
  const { changes } = await execute('moveFile', { from: 'new/deep/b.txt', to: 'c.txt' })
  t.same(changes, [
    { path: at('c.txt'), before: null, after: contentDigest('text') },
    { path: at('new/deep/b.txt'), before: contentDigest('text'), after: null }
  ])
})

t.test('nothing is overwritten but a file, when that is said', async (t) => {
  const { at, move, refused, execute } = lay(t, { a: 'a', b: 'b', folder: { c: 'c' }, other: {} })
  t.match(await refused('a', 'b'), /"b" is there already\. Nothing was moved: .*overwrite: true/)
  t.match(await refused('a', 'folder'), /is a folder that is there already\. .*"folder\/<name>"/)
  t.match(await refused('a', 'folder', { overwrite: true }), /is a folder/)
  t.match(await refused('folder', 'other'), /is a folder/, 'not even an empty one')
  t.match(await refused('folder', 'b', { overwrite: true }), /a folder replaces nothing/)
  linkSync(at('a'), at('a2'))
  t.match(await refused('a', 'a2', { overwrite: true }), /another name of the same file/)
  t.match(await refused('a', './a'), /where it is already/)
  t.match(await refused('folder', 'folder/c/d'), /into itself/)
  t.match(await refused('none', 'x'), /"none" does not exist/)
  t.match(await refused('a', 'b/x'), /not a folder/)
  t.same(readdirSync(at('.')).sort(), ['a', 'a2', 'b', 'folder', 'other'])
  const { changes } = await execute('moveFile', { from: 'a', to: 'b', overwrite: true })
  t.same(changes?.[0], { path: at('b'), before: contentDigest('b'), after: contentDigest('a') })
  t.equal(readFileSync(at('b'), 'utf8'), 'a')
  await Promise.allSettled([1, 2, 3, 4, 5].map((n) => {
    writeFileSync(at(`n${n}`), `${n}`)
    return move(`n${n}`, 'one')
  }))
  const left = readdirSync(at('.')).filter((name) => name.startsWith('n'))
  t.equal(left.length, 4, 'of five that race for one name, one gets it and four stay')
})

t.test('both paths keep the rules', { skip: process.platform === 'win32' }, async (t) => {
  const base = realpathSync(t.testdir({ work: { a: 'a', sub: {} }, out: { secret: 'SECRET' }, own: { key: 'KEY' } }))
  const { failure, output } = build({ workspace: join(base, 'work'), forbidden: join(base, 'own') })
  symlinkSync('../out', join(base, 'work/link'))
  const refused = (from: string, to: string) => failure('moveFile', { from, to, overwrite: true })
  for (const to of ['../out/a', 'link/a', '/tmp/a']) t.match(await refused('a', to), /outside the folders/, to)
  for (const from of ['../out/secret', 'link/secret']) t.match(await refused(from, 'b'), /outside the folders/, from)
  t.match(await refused('../own/key', 'b'), /off limits/)
  t.match(await refused('a', '../own/key'), /off limits/)
  t.match(await refused('.', '../elsewhere'), /cannot be deleted|outside/)
  await output('moveFile', { from: 'link', to: 'sub/link' })
  t.ok(lstatSync(join(base, 'work/sub/link')).isSymbolicLink(), 'a link is moved itself')
  t.same(readFileSync(join(base, 'out/secret'), 'utf8'), 'SECRET')
})

const shared = existsSync('/dev/shm') && statSync('/dev/shm').dev !== statSync(import.meta.dirname).dev
t.test('a move to another file system copies, then removes', { skip: !shared }, async (t) => {
  const other = mkdtempSync('/dev/shm/move-')
  t.teardown(() => rmSync(other, { recursive: true }))
  const { at, move, refused } = lay(t, { a: 'text', folder: { b: 'b', deep: { c: 'c' } }, special: {} }, [other])
  chmodSync(at('a'), 0o600)
  const { mtimeMs } = statSync(at('a'))
  symlinkSync('b', at('folder/link'))
  await move('a', join(other, 'a'))
  t.same([readFileSync(join(other, 'a'), 'utf8'), statSync(join(other, 'a')).mode & 0o777], ['text', 0o600])
  t.ok(Math.abs(statSync(join(other, 'a')).mtimeMs - mtimeMs) < 1_000)
  t.match(await move('folder', join(other, 'x/folder')), { kind: 'directory' })
  t.equal(readFileSync(join(other, 'x/folder/deep/c'), 'utf8'), 'c')
  t.equal(readlinkSync(join(other, 'x/folder/link')), 'b')
  t.same(readdirSync(at('.')), ['special'])
  execFileSync('mkfifo', [at('special/pipe')])
  mkdirSync(at('special/z'))
  t.match(await refused('special', join(other, 'special')), /is a device, pipe or socket and cannot be copied/)
  t.same(readdirSync(at('special')), ['pipe', 'z'], 'the original is whole')
  t.same(readdirSync(other).sort(), ['a', 'x'], 'nothing is left of the copy')
})

t.test('listDirectory pages through a folder; models get a line for each entry', async (t) => {
  const { at, output, host } = lay(t, { b: { c: '12345' }, a: 'x' })
  symlinkSync('a', at('link'))
  const listed = await output('listDirectory', { depth: 2 })
  t.equal((host.forModel(listed, 'listDirectory') as any).value.entries, 'a 1\nb/\nb/c 5\nlink@')
  mkdirSync(at('many'))
  for (let n = 0; n < 25; n++) writeFileSync(at(`many/${n}`), '')
  const names: string[] = []
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const page: any = await output('listDirectory', { path: 'many', limit: 10, offset })
    names.push(...page.entries.map(({ name }: any) => name))
    if (page.truncated) t.ok(page.message.includes(`go on with offset ${page.nextOffset},`))
    offset = page.nextOffset
  }
  t.same(names.sort(), readdirSync(at('many')).sort())
  t.match(await output('listDirectory', { path: 'many', offset: 99 }), { entries: [], message: /no more entries/ })
})
