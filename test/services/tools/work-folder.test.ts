import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { withFile, withFolder } from '../../../services/workspace/open-folder.ts'
import { createFolders } from '../../../services/tools/folders/list-folders.ts'
import { createRunCommand } from '../../../services/tools/shell/run-command.ts'
import { locateFolder } from '../../../services/tools/work-folder.ts'
import { fakeClock } from '../../harness/clock.ts'
import { layFolders } from '../../harness/folders.ts'
import { build, noBackground, noSandbox, transform } from './helper.ts'
import { race, RACES } from './swapping.ts'

function lay (t: Test) {
  const folders = layFolders(t.testdir())
  return { ...folders, ...build({ workspace: folders.a }) }
}

t.test('a folder is found through links in any part of its path', async (t) => {
  const { host, a, b, link, retarget } = lay(t)
  for (const folder of [a, b]) mkdirSync(`${folder}/sub`)
  const of = () => host.folders.of('writeFile', {}, `${link}/sub`)
  const shown = (await of())!
  t.match(shown, { path: `${a}/sub`, dev: /^\d+$/, ino: /^\d+$/ })
  const now = () => host.folders.whereabouts('writeFile', {}, `${link}/sub`, shown)
  t.same(await now(), { is: 'same' })
  retarget(b)
  t.same(await now(), { is: 'moved', to: await of() })
  rmSync(`${b}/sub`, { recursive: true })
  t.same(await now(), { is: 'gone' })
  t.equal(await of(), undefined)
  for (const path of [`${a}/none`, '\0', '/dev/null']) t.equal(await locateFolder(path), undefined, path)
})

t.test('the folder that the input of a command names counts, as long as it is there', async (t) => {
  const { host, a, b, link } = lay(t)
  t.match(await host.folders.of('runCommand', { command: 'x' }, link), { path: a })
  t.match(await host.folders.of('runCommand', { command: 'x', cwd: b }, link), { path: b, isStart: undefined })
  t.match(await host.folders.of('runCommand', { command: 'x', cwd: '../link' }, a), { path: a })
  t.match(await host.folders.of('runCommand', { command: 'x', cwd: 'later' }, link), { path: a, isStart: true })
  const shown = (await host.folders.of('runCommand', { command: 'x', cwd: b }, link))!
  rmSync(b, { recursive: true })
  t.same(await host.folders.whereabouts('runCommand', { command: 'x', cwd: b }, link, shown), { is: 'gone' })
})

t.test('a call that was approved for another folder does not run', async (t) => {
  const { host, execute, a, b, link, retarget } = lay(t)
  const input = { path: 'x.txt', content: 'x' }
  const folder = await host.folders.of('writeFile', input, link)
  t.match(await execute('writeFile', input, { cwd: link, folder }), { status: 'completed', output: { path: `${a}/x.txt` } })
  retarget(b)
  t.match(await execute('writeFile', input, { cwd: link, folder }), {
    status: 'error',
    errorText: /was moved or replaced, and the call was not run/
  })
})

t.test('a link that takes the place of the folder after it was checked gains nothing', async (t) => {
  const { paths, a, b } = lay(t)
  const shown = (await locateFolder(a))!
  renameSync(a, `${a}-old`)
  symlinkSync(b, a)
  await t.rejects(paths.resolve('x.txt', shown.path), /moved or replaced while it was used/)
})

t.test('a command starts in the very folder that was approved, also when that is replaced at the last moment', async (t) => {
  const { paths, a, replace } = lay(t)
  const { dev, ino } = (await locateFolder(a))!
  const command = createRunCommand({
    ...{ paths, clock: systemClock, environment: () => process.env },
    sandbox: noSandbox(),
    background: noBackground(),
    allowedOrigins: () => []
  })
  const run = () =>
    command.execute({ command: 'pwd' }, {
      signal: new AbortController().signal,
      runId: 'r',
      attempt: 1,
      callId: 'c',
      cwd: a,
      givenCwd: a,
      approvedFolder: { dev, ino }
    })
  t.match(await run(), { stdout: `${a}\n` })
  replace(a)
  await t.rejects(run(), /was replaced since the command was approved/)
})

type FolderParts = Parameters<typeof createFolders>[0]

const never = new AbortController().signal
const nobody = { resolve: async (path: string) => path, isForbidden: async () => false }

/** Lists folders, as a person does who looks for one. */
function looking (home: string, parts: Partial<FolderParts> = {}) {
  const folders = createFolders({
    clock: fakeClock(),
    paths: nobody,
    home,
    workspace: () => home,
    roots: () => [],
    own: [`${home}/.agent`],
    recent: async () => [],
    ...parts
  })
  const list = (path?: string, more = {}) => folders.list({ path, limit: 500, ...more }, never)
  return { folders, list, names: async (path: string, more = {}) => (await list(path, more)).folders.map(({ name }) => name) }
}

t.test('a folder is listed with its folders alone, by name, and links are shown with where they lead', async (t) => {
  const home = realpathSync(t.testdir({ 'a.txt': '', b: { inner: {} }, A: {}, '.git': {}, '.agent': { store: {} } }))
  for (const [target, name] of [[`${home}/b`, 'to-b'], [`${home}/a.txt`, 'to-file'], [`${home}/none`, 'to-none'], ['/proc', 'to-proc']]) {
    symlinkSync(target, `${home}/${name}`)
  }
  const { list, names } = looking(home)
  t.strictSame(await list('~'), {
    path: home,
    parts: home.split('/').map((name, at, all) => ({ name: name || '/', path: all.slice(0, at + 1).join('/') || '/' })),
    folders: [
      { name: 'A', path: `${home}/A` },
      { name: 'b', path: `${home}/b` },
      { name: 'to-b', path: `${home}/to-b`, link: `${home}/b` },
      { name: 'to-none', path: `${home}/to-none`, problem: 'broken' },
      { name: 'to-proc', path: `${home}/to-proc`, link: '/proc', problem: 'system' }
    ],
    leftOut: 0,
    hidden: 2
  })
  t.same(await names('', { hidden: true, prefix: '' }), ['.agent', '.git', 'A', 'b', 'to-b', 'to-none', 'to-proc'])
  t.same(await names('', { prefix: '.G' }), ['.git'], 'a dot that is typed shows them')
  t.match(await list('to-b/inner/..'), { path: home }, 'dots are read as text, as shells read them')
  t.match(await list('to-b'), { path: `${home}/b`, folders: [{ path: `${home}/b/inner` }] }, 'what a link leads to has its real path')
  t.match(await list('.agent/store'), { problem: 'own', folders: [] }, 'nobody looks into the folder of the service')
  t.match(await list('/proc/self'), { problem: 'system', folders: [] })
  await t.rejects(list('a.txt'), { code: 'ERR_FOLDER_NOT_FOUND', message: 'There is no folder "a.txt" on this computer.' })
  await t.rejects(list('none'), { code: 'ERR_FOLDER_NOT_FOUND' })
  await t.rejects(list(undefined, { cwd: 'none' }), { message: 'There is no folder "none" on this computer.' })
  await t.rejects(list('a\0b'), { code: 'ERR_INVALID_REQUEST' })
})

t.test('of thousands of folders the answer holds the first, says how many are left out, and finds the others', async (t) => {
  const home = t.testdir()
  for (let n = 0; n < 3_000; n++) mkdirSync(`${home}/part ${String(n).padStart(4, '0')}`)
  mkdirSync(`${home}/Übung`)
  const { list, names } = looking(home)
  t.match(await list('', { limit: 20 }), { leftOut: 2_981, hidden: 0 })
  t.same(await names('', { prefix: 'PART 299', limit: 3 }), ['part 2990', 'part 2991', 'part 2992'])
  t.same(await names('', { prefix: 'u\u0308b' }), ['Übung'])
  t.same(await names('', { prefix: 'x' }), [])
})

t.test('a folder that may not be read, or whose drive does not answer, is said to be so', async (t) => {
  const home = t.testdir({ locked: {}, 'a.txt': '' })
  const failing = (code: string) => Object.assign(new Error(code), { code, syscall: 'scandir' })
  const files = (opendir: NonNullable<FolderParts['files']>['opendir']) => ({
    realpath: async (path: string) => path,
    stat: async () => ({ isDirectory: () => true }),
    access: async () => {},
    opendir
  })
  for (const code of ['EACCES', 'EPERM', 'EIO']) {
    const { list } = looking(home, { files: files(() => Promise.reject(failing(code))) })
    t.match(await list('locked'), { path: `${home}/locked`, problem: 'unreadable', folders: [] }, code)
  }
  const clock = fakeClock()
  const asked: string[] = []
  const { list } = looking(home, { clock, files: files((path) => new Promise(() => asked.push(path))) })
  const hung = ['one', 'two', 'three'].map((name) => t.rejects(list(name), { code: 'ERR_TIMEOUT', message: /within 10 s/ }))
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
  await clock.advance(10_000)
  await Promise.all(hung)
  t.same(asked, [`${home}/one`, `${home}/two`], 'what hangs keeps its place: the others are not asked')
})

t.test('on Windows one sets out from drives, and nobody looks at another computer', async (t) => {
  const there = ['C:\\', 'D:\\', 'C:\\work']
  const asked: string[] = []
  const { folders, list } = looking('C:\\Users\\Ada', {
    platform: 'win32',
    recent: async () => ['C:\\work', 'C:\\gone', '\\\\server\\share\\x'],
    files: {
      realpath: async (path) => path,
      stat: async () => ({ isDirectory: () => true }),
      async access (path) {
        asked.push(path)
        if (!there.includes(path)) throw new Error('none')
      },
      opendir: async () => (async function * () {
        yield { name: Buffer.from('Data'), isDirectory: () => true, isSymbolicLink: () => false }
      })()
    }
  })
  t.match(await folders.places(never), { drives: ['C:\\', 'D:\\'], recent: ['C:\\work'] })
  t.equal(asked.filter((path) => path.startsWith('\\\\')).length, 0)
  t.match(await list('d:/'), { path: 'D:\\', parts: [{ name: 'D:\\' }], folders: [{ path: 'D:\\Data' }] })
  t.match((await list('~')).parts.map(({ name }) => name), ['C:\\', 'Users', 'Ada'])
  await t.rejects(list('\\\\server\\share'), { code: 'ERR_INVALID_REQUEST', message: /another computer/ })
  await t.rejects(list('NUL'), { code: 'ERR_INVALID_REQUEST', message: /device/ })
})

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
