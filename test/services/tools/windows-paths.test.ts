import { readdirSync } from 'node:fs'
import t from 'tap'
import { foldCase, isShortName, readWindowsPath } from '../../../services/lib/windows-path.ts'
import { workingFolder } from '../../../services/lib/working-folder.ts'
import { createPathPolicy } from '../../../services/tools/path-policy.ts'
import type { CommandOfCall } from '../../../services/contracts/tool.ts'
import { createGlobFilter } from '../../../services/tools/search/search-folder.ts'
import { relativeGlob } from '../../../services/tools/search/search-files.ts'
import { createWorkFolders } from '../../../services/tools/work-folder.ts'
import { isCovered } from '../../../services/approvals/grants/file-place.ts'
import { isSpelledOtherwise } from '../../../services/workspace/survey.ts'
import { withRules, isIgnored } from '../../../services/workspace/ignore-rules.ts'
import { windowsFiles } from '../../fakes/windows-files.ts'
import { READ, REFUSED } from '../../harness/windows-names.ts'
import { build, transform } from './helper.ts'

const CWD = 'C:\\work'

t.test('Windows reads a path in one way, or it is refused with the reason', async (t) => {
  t.ok(READ.length + REFUSED.length >= 60)
  for (const [given, path] of READ) t.match(readWindowsPath(given, CWD), { path }, given)
  for (const [given, why] of REFUSED) t.match(readWindowsPath(given, CWD), { refused: why }, given)
  t.match(readWindowsPath('\\x', '\\\\server\\share\\sub'), { path: '\\\\server\\share\\x' }, 'the share is what a drive is')
  t.match(readWindowsPath('a', '\\\\?\\D:\\work'), { path: 'D:\\work\\a' })
  t.match(readWindowsPath('a', 'work'), { refused: /folder/ }, 'a folder that is relative itself is no start')
})

t.test('what is read once reads the same again', async (t) => {
  for (const [given] of READ) {
    const { path } = readWindowsPath(given, CWD) as { path: string }
    t.match(readWindowsPath(path, 'X:\\other'), { path }, given)
  }
})

t.test('short forms of names are known by their form', async (t) => {
  for (const name of ['GIT~1', 'git~12.txt', 'PROGRA~1', 'A~1.B', 'LONGFI~1.TXT', '~1']) t.ok(isShortName(name), name)
  for (const name of ['~$a.docx', 'a~b', 'longer-name~1', 'a~1.html', 'a.b~1', '~', 'PROGRAMS~1']) t.notOk(isShortName(name), name)
  t.equal(foldCase('C:\\Work\\É', 'win32'), foldCase('c:\\work\\e\u0301', 'win32'))
  t.not(foldCase('/Work', 'linux'), foldCase('/work', 'linux'))
})

/** The policy of a service on Windows, with C:\work, the share \\files\team, and its own folder in C:\work. */
function policy (entries: Parameters<typeof windowsFiles>[0] = {}, shortNames: Record<string, string> = {}) {
  const { asked, files } = windowsFiles({
    'C:\\': 'folder',
    'C:\\work': 'folder',
    'C:\\work\\Readme.md': 'file',
    'C:\\work\\Long Folder Name': 'folder',
    'C:\\work\\Long Folder Name\\x.txt': 'file',
    'C:\\work\\.git': 'folder',
    'C:\\work\\.git\\config': 'file',
    'C:\\work\\home': 'folder',
    'C:\\work\\home\\config.json': 'file',
    'C:\\work-evil': 'folder',
    '\\\\files\\team\\': 'folder',
    '\\\\files\\team\\plan.txt': 'file',
    ...entries
  }, { 'C:\\work\\LONGFO~1': 'C:\\work\\Long Folder Name', 'C:\\work\\GIT~1': 'C:\\work\\.git', ...shortNames })
  const scope = { workspace: CWD, roots: ['\\\\files\\team\\'], forbidden: 'C:\\work\\home' }
  return { asked, paths: createPathPolicy(scope, { platform: 'win32', files: files as any }) }
}

t.test('no file system is asked about a path that Windows would read otherwise, or that leads to another computer', async (t) => {
  const { asked, paths } = policy()
  const elsewhere: Array<[string, RegExp]> = ['\\\\evil\\share\\x', '//evil/share', '\\\\?\\UNC\\evil\\share\\x', '\\\\files\\other\\x',
    '\\\\localhost\\C$\\work\\a.txt'].map((path) => [path, /outside the folders that may be used/])
  const command = (input: unknown) => ({ folder: (input as { cwd: string }).cwd }) as CommandOfCall
  const folders = createWorkFolders(() => ({ effects: { command } }), paths)
  const homes: Array<[string, RegExp]> = [['~\\x', /not expanded/], ['%USERPROFILE%\\x', /not expanded/]]
  for (const [path, why] of [...REFUSED, ...elsewhere, ...homes]) {
    const reason = { code: 'ERR_PATH_REFUSED', message: path.includes('\u0001') ? /control/ : why }
    await t.rejects(paths.resolve(path, CWD), reason, path)
    await t.rejects(paths.locate(path, CWD), reason, path)
    t.throws(() => paths.meant(path, CWD), reason, path)
  }
  t.strictSame(asked, [])
  t.match(await folders.of('runCommand', { cwd: '\\\\evil\\share' }, '/'), { isStart: true }, 'nor for the folder of a command')
})

t.test('no tool takes a name that Windows reads otherwise, and an approval shows why', async (t) => {
  const { asked, paths } = policy()
  const workspace = t.testdir({})
  const { host, execute } = build({ workspace, paths })
  t.teardown(() => transform.close())
  const calls: Record<string, (path: string) => object> = {
    readFile: (path) => ({ path }),
    listDirectory: (path) => ({ path }),
    writeFile: (path) => ({ path, content: 'x' }),
    editFile: (path) => ({ path, edits: [{ oldText: 'a', newText: 'b' }] }),
    deleteFile: (path) => ({ path }),
    moveFile: (path) => ({ from: path, to: 'b' }),
    searchFiles: (path) => ({ pattern: 'x', path }),
    findFiles: (path) => ({ pattern: '*', path })
  }
  const changes = ['writeFile', 'editFile', 'deleteFile', 'moveFile']
  for (const [path, why] of REFUSED.filter(([path]) => !path.includes('\u0001'))) {
    for (const [name, inputOf] of Object.entries(calls)) {
      const input = inputOf(path)
      t.match(await execute(name, input, { cwd: CWD }), { status: 'error', errorText: why }, `${name} ${path}`)
      if (!changes.includes(name)) continue
      // What an approval would show, and a grant would cover.
      const seen = await host.foresee({ name, input, cwd: CWD, signal: new AbortController().signal }, new Map())
      t.match(seen, { refused: why }, `${name} ${path}, asked for`)
    }
  }
  t.strictSame(asked.filter((path) => path !== CWD), [], 'and no file system is asked')
  t.strictSame(readdirSync(workspace), [])
})

t.test('a .gitignore is read in any case, as git reads it on Windows and macOS', async (t) => {
  const rules = (platform: NodeJS.Platform) => withRules([], '', 'Build/\n*.LOG\n', platform)
  for (const platform of ['win32', 'darwin'] as const) {
    for (const path of ['build/', 'BUILD/', 'src/a.log']) t.ok(isIgnored(rules(platform), path), path)
  }
  t.notOk(isIgnored(rules('linux'), 'build/'))
})

t.test('a file has the one name under which Windows keeps it, however it is named', async (t) => {
  const { paths } = policy({ 'C:\\work\\to-readme': { link: 'Readme.md' } })
  const both = async (path: string) => [await paths.resolve(path, CWD), await paths.locate(path, CWD)]
  for (const path of ['README.MD', 'c:/WORK/readme.md', 'sub/../Readme.md']) {
    t.strictSame(await both(path), Array(2).fill('C:\\work\\Readme.md'), path)
  }
  t.strictSame(await both('LONGFO~1\\X.txt'), Array(2).fill('C:\\work\\Long Folder Name\\x.txt'))
  t.strictSame(await both('GIT~1'), Array(2).fill('C:\\work\\.git'), 'which grants then see as what it is')
  t.strictSame(await both('New/File.txt'), Array(2).fill('C:\\work\\New\\File.txt'))
  t.strictSame(await both('\\\\FILES\\Team\\plan.txt'), Array(2).fill('\\\\files\\team\\plan.txt'))
  t.equal(await paths.locate('TO-README', CWD), 'C:\\work\\to-readme', 'a link has its own name')
  t.equal(await paths.resolve('TO-README', CWD), 'C:\\work\\Readme.md')
})

t.test('to an undo, a name in another case is another place, although it leads to the same file', async (t) => {
  const { files } = windowsFiles({
    'C:\\': 'folder',
    'C:\\Src': 'folder',
    'C:\\Src\\A.txt': 'file',
    'C:\\Src\\Link': { link: 'A.txt' }
  }, { 'C:\\SRC~1': 'C:\\Src' })
  const isOther = (path: string, platform: NodeJS.Platform = 'win32') => isSpelledOtherwise(path, { platform, files })
  for (const path of ['C:\\Src', 'C:\\Src\\A.txt', 'C:\\Src\\Link', 'C:\\Src\\none', 'C:\\none\\x']) t.notOk(await isOther(path), path)
  for (const path of ['C:\\src', 'C:\\Src\\a.TXT', 'C:\\src\\A.txt', 'C:\\Src\\LINK', 'C:\\SRC\\none']) t.ok(await isOther(path), path)
  t.notOk(await isOther('C:\\SRC~1\\A.txt'), 'a short form is no spelling')
  t.notOk(await isOther('C:\\src', 'linux'), 'on Linux they are two files')
})

t.test('nothing outside is reached: other folders, the service itself, links to elsewhere', async (t) => {
  const { asked, paths } = policy({
    'C:\\work\\to-evil': { link: '\\\\evil\\share' },
    'C:\\work\\to-pipe': { link: '\\\\.\\pipe\\x' },
    'C:\\work\\chain': { link: 'to-evil' },
    'C:\\work\\to-other': { link: 'C:\\work-evil' },
    'C:\\work\\loop': { link: 'loop' },
    'C:\\work\\LINKED~1': { link: 'Readme.md' }
  })
  const others = ['..\\work-evil\\x', 'C:\\Windows', '/etc/passwd', 'D:\\x']
  for (const path of [...others, 'to-other\\x', 'to-evil\\x', 'chain\\x', 'to-pipe', 'loop']) {
    await t.rejects(paths.resolve(path, CWD), { code: 'ERR_PATH_REFUSED', message: /outside|nowhere/ }, path)
  }
  for (const path of ['HOME\\config.json', 'home', 'c:\\WORK\\Home']) {
    await t.rejects(paths.resolve(path, CWD), { message: /off limits/ }, path)
  }
  await t.rejects(paths.locate('LINKED~1', CWD), { message: /short form/ })
  t.notOk(asked.some((path) => path.startsWith('\\\\evil') || path.startsWith('\\\\.')), 'and another computer hears nothing of it')
})

t.test('a glob is read with both slashes, in any case, and leads nowhere else', async (t) => {
  const read = (glob: string) => relativeGlob(glob, 'C:\\work', 'win32')
  t.equal(read('src\\**\\*.ts'), 'src/**/*.ts')
  t.equal(read('.\\src/*.ts'), 'src/*.ts')
  t.equal(read('c:/WORK\\src\\*.ts'), 'src/*.ts')
  t.equal(relativeGlob('C:\\a\\*', 'C:\\', 'win32'), 'a/*')
  for (const glob of ['..\\x', 'C:\\other\\*', '\\x', '\\\\evil\\share\\*', 'C:*', 'a.txt:*']) t.throws(() => read(glob), /relative/, glob)
  t.ok(createGlobFilter('SRC/*.TS', 'win32')('src/a.ts'))
  t.notOk(createGlobFilter('SRC/*.TS', 'linux')('src/a.ts'))
})

t.test('a grant for a folder covers no name that Windows may take for another file', async (t) => {
  for (const name of ['GIT~1', 'PACKAG~1.JSO', 'evil.cmd.', 'evil.bat::$DATA', 'x.PS1 ', 'desktop.ini', 'a.msc']) {
    t.notOk(isCovered('/work/docs', { folder: '/work/docs', name }), name)
  }
  t.notOk(isCovered('/work/docs', { folder: '/work/docs/GIT~1/hooks', name: 'a.md' }))
  t.ok(isCovered('/work/docs', { folder: '/work/docs/sub', name: 'a.md' }))
})

t.test('a working folder that the system would read otherwise is refused as one that cannot be opened', async (t) => {
  await t.rejects(workingFolder('no\0thing', '/tmp'), { code: 'ERR_INVALID_CWD' })
})
