import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { build } from './helper.ts'

const linux = process.platform !== 'linux'
const ALL = [
  ['readFile', {}],
  ['writeFile', { content: 'x' }],
  ['listDirectory', {}],
  ['searchFiles', { pattern: 'x' }],
  ['findFiles', { pattern: '*' }],
  ['editFile', { edits: [{ oldText: 'S', newText: 'x' }] }],
  ['deleteFile', { recursive: true }],
  ['runCommand', { command: 'ls' }]
] as const

/** A workspace with the service's folder beside it. */
function lay (t: Test) {
  const base = realpathSync(t.testdir({ work: { 'a.txt': 'inside', sub: {} }, out: { 'out.txt': 'SECRET' } }))
  const workspace = join(base, 'work')
  const own = join(base, 'own')
  mkdirSync(join(own, 'data'), { recursive: true })
  writeFileSync(join(own, 'master.key'), 'SECRET')
  writeFileSync(join(own, 'data/LOCK'), 'SECRET')
  return { base, workspace, own, ...build({ workspace, forbidden: own }) }
}

/** Every tool refuses the path in a sentence that gives nothing away. */
async function refused (t: Test, { failure }: Pick<ReturnType<typeof build>, 'failure'>, path: string, reason: RegExp, cwd?: string) {
  for (const [name, input] of ALL) {
    const text = await failure(name, { ...input, [name === 'runCommand' ? 'cwd' : 'path']: path }, cwd === undefined ? {} : { cwd })
    t.match(text, reason, `${name} ${path.slice(0, 60)}`)
    t.notMatch(text, /SECRET/)
  }
}

t.test('the folder of the service is off limits by every route', { skip: linux }, async (t) => {
  const place = lay(t)
  const { base, workspace, own } = place
  symlinkSync('../own', join(workspace, 'link'))
  symlinkSync(own, join(workspace, 'absolute'))
  symlinkSync(`/proc/self/root${own}`, join(workspace, 'root'))
  symlinkSync(`/proc/${process.pid}/cwd`, join(workspace, 'cwd'))
  for (
    const path of [
      'link',
      'absolute',
      'root',
      '../own',
      'sub/../../own',
      'link/.',
      `/proc/self/root${own}`,
      `/proc/${process.pid}/root${own}`,
      `/proc/thread-self/root${own}/data`
    ]
  ) {
    // deleteFile takes the link, not what it leads to.
    const isLink = ['link', 'link/.', 'absolute', 'root'].includes(path)
    for (const [name, input] of ALL) {
      if (isLink && name === 'deleteFile') continue
      t.match(await place.failure(name, { ...input, [name === 'runCommand' ? 'cwd' : 'path']: path }), /off limits/, `${name} ${path}`)
    }
  }
  await refused(t, place, '.', /off limits/, own)
  await refused(t, place, 'data', /off limits/, own)
  await refused(t, place, join(own, 'master.key'), /off limits/, '/')
  await refused(t, place, '../own/data/LOCK', /off limits/)
  for (const path of ['cwd/package.json', '/proc/self/cwd/package.json', '/proc/self/fd/0', '/proc/self/environ']) {
    t.match(await place.failure('readFile', { path }), /outside|not a place|leads nowhere/, path)
  }

  const wide = build({ workspace, roots: [base], forbidden: own })
  await refused(t, wide, own, /off limits|cannot be deleted/)
  t.match(await wide.failure('deleteFile', { path: base, recursive: true }), /cannot be deleted/)
  t.match(await build({ workspace: base, forbidden: own }).failure('deleteFile', { path: 'own/..', recursive: true }), /cannot be deleted/)
  t.same(readFileSync(join(own, 'master.key'), 'utf8'), 'SECRET')
})

t.test('a hard link to a file of the service is off limits; one to another file is a file of the workspace', async (t) => {
  const place = lay(t)
  const { base, workspace, own, output, failure } = place
  linkSync(join(own, 'master.key'), join(workspace, 'key'))
  linkSync(join(own, 'data/LOCK'), join(workspace, 'sub/lock'))
  for (const path of ['key', 'sub/lock']) {
    for (const [name, input] of [['readFile', {}], ['writeFile', { content: 'x' }]] as const) {
      const text = await failure(name, { ...input, path })
      t.match(text, /off limits/, `${name} ${path}`)
      t.notMatch(text, /SECRET/)
    }
  }
  t.match(await output('deleteFile', { path: 'key' }), { deleted: 1 }, 'the name may go')
  t.equal(readFileSync(join(own, 'master.key'), 'utf8'), 'SECRET')

  linkSync(join(base, 'out/out.txt'), join(workspace, 'shared'))
  t.match(await output('writeFile', { path: 'shared', content: 'new' }), { created: false })
  t.equal(readFileSync(join(base, 'out/out.txt'), 'utf8'), 'SECRET', 'writing replaces the name, not what others see')
})

t.test('what is mounted elsewhere is neither a way to the service nor deleted', { skip: linux }, async (t) => {
  const { base, workspace, own } = lay(t)
  for (const name of ['mounted', 'sub/out']) mkdirSync(join(workspace, name))
  const calls = [
    ['readFile', { path: 'mounted/master.key' }],
    ['listDirectory', { path: 'mounted/data' }],
    ['writeFile', { path: 'mounted/new', content: 'x' }],
    ['deleteFile', { path: 'mounted', recursive: true }],
    ['readFile', { path: 'sub/out/out.txt' }],
    ['deleteFile', { path: 'sub/out', recursive: true }],
    ['deleteFile', { path: 'sub', recursive: true }]
  ]
  let told = ''
  try {
    told = execFileSync('unshare', [
      '-rm',
      'sh',
      '-c',
      'mount --bind "$1" "$2" && mount --bind "$3" "$4" && shift 4 && exec "$@"',
      'sh',
      own,
      join(workspace, 'mounted'),
      join(base, 'out'),
      join(workspace, 'sub/out'),
      process.execPath,
      fileURLToPath(new URL('mounted.ts', import.meta.url)),
      workspace,
      own,
      JSON.stringify(calls)
    ], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    t.comment('this machine lets nobody mount')
    return
  }
  const results = JSON.parse(told).map(({ errorText, output }: any) => errorText ?? output.content)
  t.match(results, [/off limits/, /off limits/, /off limits/, /off limits|cannot be deleted/, 'SECRET', /is mounted/, /is mounted/])
  t.same([existsSync(join(own, 'master.key')), existsSync(join(base, 'out/out.txt'))], [true, true])
})

t.test('names of every kind are listed, and deleted with their folder', { skip: linux }, async (t) => {
  const { workspace, output, failure } = lay(t)
  const bytes = (name: string) => Buffer.concat([Buffer.from(`${workspace}/sub/`), Buffer.from(name, 'latin1')])
  mkdirSync(bytes('dir\xff'))
  for (const name of ['caf\xe9', 'dir\xff/\xfe', 'new\nline', '\x1b[2J', '-rf', ' ', '...', '\xef\xbf\xbd']) {
    writeFileSync(bytes(name), 'four')
  }
  for (const name of ['é', 'e\u0301']) writeFileSync(join(workspace, 'sub', name), name)
  t.equal((await output('readFile', { path: 'sub/é' })).content, 'é')
  t.equal((await output('readFile', { path: 'sub/e\u0301' })).content, 'e\u0301', 'not taken for the other form')
  t.equal((await output('readFile', { path: 'sub/...' })).content, 'four', 'three dots are a name')

  const { entries } = await output('listDirectory', { path: 'sub' })
  t.same(
    entries.map(({ name }: { name: string }) => name).sort(),
    ['\x1b[2J', ' ', '-rf', '...', 'caf\ufffd', 'dir\ufffd', 'e\u0301', 'new\nline', '\u00e9', '\ufffd'].sort()
  )
  t.same(entries.filter(({ kind, size }: { kind: string, size: number }) => kind === 'file' && !(size > 0)), [])
  t.match(await output('deleteFile', { path: 'sub', recursive: true }), { deleted: 12 })

  for (const path of ['x'.repeat(256), 'é'.repeat(128), `${'a/'.repeat(100)}${'x'.repeat(3900)}`]) {
    for (const [name, input] of ALL.slice(0, -1)) t.match(await failure(name, { ...input, path }), /too long|longer|does not exist/)
  }
  t.same(readdirSync(workspace), ['a.txt'])
  t.match(await output('writeFile', { path: 'x'.repeat(255), content: 'x' }), { created: true })
})

t.test('folders that are very deep or very full are deleted whole, and listed in part', { skip: linux }, async (t) => {
  const { workspace, output } = lay(t)
  execFileSync('perl', ['-e', 'for (1..25) { mkdir "d" x 200; chdir "d" x 200 }'], { cwd: join(workspace, 'sub') })
  t.match(await output('deleteFile', { path: 'sub', recursive: true }), { deleted: 26 }, 'deeper than a path is long')

  mkdirSync(join(workspace, 'full'))
  for (let index = 0; index < 1500; index++) writeFileSync(join(workspace, 'full', `${index}`), '')
  const { entries, truncated } = await output('listDirectory', { path: 'full', limit: 10 })
  t.same([entries.length, truncated], [10, true])
  t.match(await output('deleteFile', { path: 'full', recursive: true }), { deleted: 1501 })
})

t.test('sockets, files that grow and files without end are bounded or refused', { skip: linux }, async (t) => {
  const { workspace, output, failure } = lay(t)
  // The path of a socket is 107 bytes long at most.
  const short = mkdtempSync(join(tmpdir(), 'socket-'))
  t.teardown(() => rmSync(short, { recursive: true }))
  const server = createServer().listen(join(short, 'socket'))
  t.teardown(() => server.close())
  await once(server, 'listening')
  t.match(await failure('readFile', { path: 'socket' }, { cwd: short }), /not a regular file/)
  t.match(await failure('writeFile', { path: 'socket', content: 'x' }, { cwd: short }), /not a regular file/)

  writeFileSync(join(workspace, 'log'), '')
  const growing = setInterval(() => appendFileSync(join(workspace, 'log'), 'line\n'.repeat(200_000)), 1)
  t.teardown(() => clearInterval(growing))
  const log = await output('readFile', { path: 'log' })
  clearInterval(growing)
  t.ok(log.content.length <= 48 * 1024)

  writeFileSync(join(workspace, 'sparse'), 'text\n')
  truncateSync(join(workspace, 'sparse'), 2 ** 40)
  t.match(await failure('readFile', { path: 'sparse' }), /binary file of 1099511627776 bytes/)
  t.match(await output('writeFile', { path: 'sparse', content: 'x' }), { bytesWritten: 1 })
})

t.test('a file that is replaced keeps its permissions, not the rights of its owner', { skip: linux }, async (t) => {
  const { workspace, output } = lay(t)
  chmodSync(join(workspace, 'a.txt'), 0o6755)
  await output('writeFile', { path: 'a.txt', content: 'x' })
  t.equal(statSync(join(workspace, 'a.txt')).mode & 0o7777, 0o755)
})
