import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build } from './helper.ts'

/** A workspace, its evil sibling, a root and the service's folder side by side. */
function lay (t: Test) {
  const base = realpathSync(t.testdir({
    work: { 'in.txt': 'inside', sub: { 'deep.txt': 'deep' }, config: { key: 'KEY' } },
    'work-evil': { 'out.txt': 'SECRET' },
    root: { 'root.txt': 'root' },
    home: { 'other.txt': 'SECRET' }
  }))
  const workspace = join(base, 'work')
  return { base, workspace, ...build({ workspace, roots: [join(base, 'root')], forbidden: join(workspace, 'config') }) }
}

const ALL = [
  ['readFile', {}],
  ['writeFile', { content: 'x' }],
  ['listDirectory', {}],
  ['deleteFile', { recursive: true }],
  ['runCommand', { command: 'pwd' }]
] as const

/** Every tool refuses the path, with a reason that matches, and without a word of what lies there. */
async function refused (t: Test, { failure }: ReturnType<typeof lay>, path: string, reason: RegExp, cwd?: string) {
  for (const [name, input] of ALL) {
    const text = await failure(name, name === 'runCommand' ? { ...input, cwd: path } : { ...input, path }, cwd === undefined ? {} : { cwd })
    t.match(text, reason, `${name} ${path}`)
    t.notMatch(text, /SECRET|KEY/)
  }
}

t.test('paths inside the workspace, cwd and the roots are allowed, absolute or relative', async (t) => {
  const { base, workspace, output } = lay(t)
  const read = async (path: string, cwd?: string) => (await output('readFile', { path }, cwd === undefined ? {} : { cwd })).content
  t.equal(await read('in.txt'), 'inside')
  t.equal(await read('./sub/../in.txt'), 'inside')
  t.equal(await read(join(workspace, 'sub/deep.txt')), 'deep')
  t.equal(await read('deep.txt', join(workspace, 'sub')), 'deep')
  t.equal(await read('../in.txt', join(workspace, 'sub')), 'inside')
  t.equal(await read(join(base, 'root/root.txt')), 'root')
  t.equal(await read('other.txt', join(base, 'home')), 'SECRET', 'cwd is allowed wherever it is')
})

t.test('paths outside are refused: parents, absolute ones, siblings whose name begins the same', async (t) => {
  const place = lay(t)
  for (
    const path of [
      '..',
      '../home/other.txt',
      '../work-evil/out.txt',
      `${place.workspace}-evil/out.txt`,
      '/etc/passwd',
      '/',
      'sub/../../home/x'
    ]
  ) {
    await refused(t, place, path, /outside the folders that may be used/)
  }
  t.match(await place.failure('readFile', { path: '/etc/passwd' }), place.workspace, 'the error says what is allowed')
  t.equal(
    await place.failure('readFile', { path: '../home/other.txt' }),
    (await place.failure('readFile', { path: '../home/no-such.txt' })).replace('no-such', 'other'),
    'and not what exists'
  )
})

t.test('names that are no names are refused: control characters, NUL, halves of characters, the tilde', async (t) => {
  const place = lay(t)
  for (const path of ['in.txt\0', 'in\n.txt', '\u001b[2J', '\u007f', '\u009b', '\ud800']) {
    await refused(t, place, path, /control characters/)
  }
  await refused(t, place, '~/x', /not expanded/)
  await refused(t, place, 'a/'.repeat(2500), /longer/)
})

t.test('symlinks are followed to where they lead: inside is allowed, outside is not', async (t) => {
  const place = lay(t)
  const { base, workspace, output, failure } = place
  const link = (target: string, name: string) => symlinkSync(target, join(workspace, name))
  link('in.txt', 'to-in')
  link('sub', 'to-sub')
  link('../home', 'to-home')
  link(join(base, 'home/other.txt'), 'to-other')
  link('to-other', 'chain-1')
  link('chain-1', 'chain-2')
  link('../home/new.txt', 'dangling')
  link('dangling', 'dangling-chain')
  link('loop-b', 'loop-a')
  link('loop-a', 'loop-b')
  link('config', 'to-config')

  t.equal((await output('readFile', { path: 'to-in' })).content, 'inside')
  t.equal((await output('readFile', { path: 'to-sub/deep.txt' })).content, 'deep')
  t.equal((await output('writeFile', { path: 'to-in', content: 'changed' })).path, join(workspace, 'in.txt'))
  t.ok(lstatSync(join(workspace, 'to-in')).isSymbolicLink(), 'the link stays a link')
  for (
    const path of [
      'to-other',
      'chain-2',
      'to-home/other.txt',
      'to-home/new/deep.txt',
      'dangling',
      'dangling-chain',
      'dangling/x',
      'loop-a',
      'to-config/key'
    ]
  ) {
    t.match(await failure('readFile', { path }), /outside|nowhere|off limits/, path)
    t.match(await failure('writeFile', { path, content: 'x' }), /outside|nowhere|off limits/, path)
  }
  t.match(await failure('listDirectory', { path: 'to-home' }), /outside/)
  t.match(await failure('runCommand', { command: 'pwd', cwd: 'to-home' }), /outside/)
  t.notOk(existsSync(join(base, 'home/new.txt')), 'nothing is made through a dangling link')
  t.equal(readFileSync(join(base, 'home/other.txt'), 'utf8'), 'SECRET')
})

t.test('deleting a symlink removes the link and leaves its target', async (t) => {
  const { base, workspace, output } = lay(t)
  symlinkSync('../home', join(workspace, 'to-home'))
  mkdirSync(join(workspace, 'full'))
  symlinkSync('../../home', join(workspace, 'full/inner'))
  symlinkSync('../home/none', join(workspace, 'dangling'))

  t.match(await output('deleteFile', { path: 'to-home', recursive: true }), { kind: 'symlink', deleted: 1 })
  t.match(await output('deleteFile', { path: 'full', recursive: true }), { kind: 'directory', deleted: 2 })
  t.match(await output('deleteFile', { path: 'dangling' }), { kind: 'symlink' })
  t.ok(existsSync(join(base, 'home/other.txt')))
})

t.test('the folder of the service is off limits, within the workspace as well', async (t) => {
  const place = lay(t)
  for (const path of ['config', 'config/key', 'config/new/x', join(place.workspace, 'sub/../config/key')]) {
    await refused(t, place, path, /off limits/)
  }
  await refused(t, place, 'key', /off limits/, join(place.workspace, 'config'))
  const { entries } = await place.output('listDirectory', { depth: 3 })
  t.notOk(entries.some(({ path }: { path: string }) => path.startsWith('config/')), 'it is not listed')
})

t.test('the workspace, cwd, the roots and what contains them are never deleted', async (t) => {
  const { base, workspace, failure } = lay(t)
  const gone = (path: string, cwd = workspace) => failure('deleteFile', { path, recursive: true }, { cwd })
  t.match(await gone('.'), /cannot be deleted/)
  t.match(await gone(workspace), /cannot be deleted/)
  t.match(await gone(join(base, 'root')), /cannot be deleted/)
  t.match(await gone('.', base), /cannot be deleted/)
  t.match(await gone('work', base), /cannot be deleted/, 'it holds the workspace')
  t.match(await gone('/', '/'), /cannot be deleted/)
  t.match(await gone(join(workspace, 'sub'), join(workspace, 'sub')), /cannot be deleted/)

  const outer = build({ workspace: base, forbidden: join(workspace, 'config') })
  t.match(await outer.failure('deleteFile', { path: 'work', recursive: true }), /cannot be deleted/, 'it holds the service')
  t.equal(readFileSync(join(workspace, 'config/key'), 'utf8'), 'KEY')
})

t.test('only regular files are read: no FIFO, device, socket or file of the kernel, and none of them hangs', {
  skip: process.platform === 'win32'
}, async (t) => {
  const { workspace, failure, output } = lay(t)
  execFileSync('mkfifo', [join(workspace, 'fifo')])
  symlinkSync('/dev/zero', join(workspace, 'zero'))
  symlinkSync('/proc/self/environ', join(workspace, 'environ'))

  t.match(await failure('readFile', { path: 'fifo' }), /not a regular file/)
  t.match(await failure('writeFile', { path: 'fifo', content: 'x' }), /not a regular file/)
  t.match(await failure('readFile', { path: 'zero' }), /outside/)
  t.match(await failure('readFile', { path: 'environ' }), /outside/)
  t.match(await failure('readFile', { path: 'sub' }), /folder/)
  for (const path of ['/dev/zero', '/proc/self/environ', '/proc/1/status', '/sys/kernel/mm']) {
    t.match(await failure('readFile', { path }, { cwd: '/' }), /not a place for files/, path)
    t.match(await failure('writeFile', { path, content: 'x' }, { cwd: '/' }), /not a place for files/, path)
  }
  t.match(await failure('readFile', { path: '/proc/self/root/etc/passwd' }), /outside/)
  t.match(await output('deleteFile', { path: 'fifo' }), { deleted: 1 })
})

t.test('roots that change are followed', async (t) => {
  const base = realpathSync(t.testdir({ a: {}, b: { 'x.txt': 'b' } }))
  const roots: string[] = []
  const { output, failure } = build({ workspace: join(base, 'a'), roots })
  t.match(await failure('readFile', { path: '../b/x.txt' }), /outside/)
  roots.push(join(base, 'b'))
  t.equal((await output('readFile', { path: '../b/x.txt' })).content, 'b')
  roots.pop()
  t.match(await failure('readFile', { path: '../b/x.txt' }), /outside/)
})

t.test('a workspace that is itself a symlink is the folder it leads to', async (t) => {
  const base = realpathSync(t.testdir({ real: { 'x.txt': 'x' } }))
  symlinkSync('real', join(base, 'work'))
  const { output, failure } = build({ workspace: join(base, 'work') })
  t.equal((await output('readFile', { path: 'x.txt' })).path, join(base, 'real/x.txt'))
  await output('writeFile', { path: join(base, 'work/new/y.txt'), content: 'y' })
  writeFileSync(join(base, 'outside.txt'), 'SECRET')
  t.match(await failure('readFile', { path: '../outside.txt' }), /outside/)
  t.match(await failure('deleteFile', { path: join(base, 'work'), recursive: true }), /outside|cannot be deleted/)
})
