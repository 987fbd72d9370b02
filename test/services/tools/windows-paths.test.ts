import t from 'tap'
import { foldCase, isShortName, readWindowsPath } from '../../../services/lib/windows-path.ts'
import { workingFolder } from '../../../services/lib/working-folder.ts'
import { createPathPolicy } from '../../../services/tools/path-policy.ts'
import { createGlobFilter } from '../../../services/tools/search/search-folder.ts'
import { relativeGlob } from '../../../services/tools/search/search-files.ts'
import { createWorkFolders } from '../../../services/tools/work-folder.ts'
import { isCovered } from '../../../services/approvals/grants/file-place.ts'
import { isSpelledOtherwise } from '../../../services/undo/other-spelling.ts'
import { windowsFiles } from '../../fakes/windows-files.ts'

const CWD = 'C:\\work'

/** Paths as they are given, and as they are read from C:\work. */
const READ: Array<[given: string, path: string]> = [
  ['a.txt', 'C:\\work\\a.txt'],
  ['.', 'C:\\work'],
  ['./a.txt', 'C:\\work\\a.txt'],
  ['.\\sub\\a.txt', 'C:\\work\\sub\\a.txt'],
  ['sub/deep\\a.txt', 'C:\\work\\sub\\deep\\a.txt'],
  ['sub//deep\\\\a.txt', 'C:\\work\\sub\\deep\\a.txt'],
  ['sub/', 'C:\\work\\sub'],
  ['sub/../a.txt', 'C:\\work\\a.txt'],
  ['..', 'C:\\'],
  ['..\\..\\..\\a.txt', 'C:\\a.txt'],
  ['../home/x', 'C:\\home\\x'],
  ['C:\\work\\a.txt', 'C:\\work\\a.txt'],
  ['C:/work/a.txt', 'C:\\work\\a.txt'],
  ['c:\\work\\A.TXT', 'C:\\work\\A.TXT'],
  ['C:\\\\work\\\\a.txt', 'C:\\work\\a.txt'],
  ['C:\\', 'C:\\'],
  ['C:\\..\\x', 'C:\\x'],
  ['d:/x', 'D:\\x'],
  ['/etc/passwd', 'C:\\etc\\passwd'],
  ['\\Windows\\win.ini', 'C:\\Windows\\win.ini'],
  ['/c/work/a.txt', 'C:\\c\\work\\a.txt'],
  ['\\\\?\\C:\\work\\a.txt', 'C:\\work\\a.txt'],
  ['\\\\?\\UNC\\server\\share\\a', '\\\\server\\share\\a'],
  ['\\\\server\\share', '\\\\server\\share\\'],
  ['//server/share/sub/a.txt', '\\\\server\\share\\sub\\a.txt'],
  ['\\\\server\\share\\..\\..\\x', '\\\\server\\share\\x'],
  ['\\\\localhost\\C$\\work', '\\\\localhost\\C$\\work'],
  ['\\\\wsl$\\Debian\\home', '\\\\wsl$\\Debian\\home'],
  ['.git\\hooks', 'C:\\work\\.git\\hooks'],
  ['..a', 'C:\\work\\..a'],
  [' a.txt', 'C:\\work\\ a.txt'],
  ['a b.txt', 'C:\\work\\a b.txt'],
  ['GIT~1\\config', 'C:\\work\\GIT~1\\config'],
  ['~$letter.docx', 'C:\\work\\~$letter.docx'],
  ['console.log', 'C:\\work\\console.log'],
  ['nullable.ts', 'C:\\work\\nullable.ts'],
  ['com10.txt', 'C:\\work\\com10.txt'],
  ['icon', 'C:\\work\\icon'],
  ['x.con', 'C:\\work\\x.con'],
  ['lpt', 'C:\\work\\lpt'],
  ['[id]/{a,b}.tsx', 'C:\\work\\[id]\\{a,b}.tsx'],
  ['é/日本.txt', 'C:\\work\\é\\日本.txt']
]

/** Paths that no program should be given, and why. */
const REFUSED: Array<[given: string, why: RegExp]> = [
  ['CON', /device/],
  ['con', /device/],
  ['NUL', /device/],
  ['prn', /device/],
  ['Aux', /device/],
  ['COM1', /device/],
  ['LPT9', /device/],
  ['COM0', /device/],
  ['com¹', /device/],
  ['CONIN$', /device/],
  ['CONOUT$', /device/],
  ['CON.txt', /device/],
  ['nul.tar.gz', /device/],
  ['NUL .txt', /device/],
  ['sub\\aux.c', /device/],
  ['C:\\work\\con\\a.txt', /device/],
  ['a.txt.', /dot or blank/],
  ['a.txt ', /dot or blank/],
  ['a.txt. .', /dot or blank/],
  ['sub.\\a.txt', /dot or blank/],
  ['sub \\a.txt', /dot or blank/],
  ['...', /dot or blank/],
  ['.. \\x', /dot or blank/],
  ['.git.', /dot or blank/],
  ['a.txt:stream', /":"/],
  ['a.txt::$DATA', /":"/],
  ['.git::$INDEX_ALLOCATION', /":"/],
  ['sub:$I30:$INDEX_ALLOCATION\\a.txt', /":"/],
  ['C:\\work\\a.txt:b', /":"/],
  ['file:///C:/work/a.txt', /":"/],
  ['sub\\C:\\x', /":"/],
  ['1:\\x', /":"/],
  ['$env:USERPROFILE\\x', /":"/],
  ['C:', /relative to a folder/],
  ['C:a.txt', /relative to a folder/],
  ['c:..\\x', /relative to a folder/],
  ['D:x', /relative to a folder/],
  ['\\\\.\\C:\\work\\a.txt', /device/],
  ['\\\\.\\pipe\\x', /device/],
  ['\\\\.\\PhysicalDrive0', /device/],
  ['//./C:/work', /device/],
  ['\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1\\x', /device/],
  ['\\\\?\\Volume{12345678-0000-0000-0000-000000000000}\\x', /device/],
  ['\\\\?\\pipe\\x', /device/],
  ['\\??\\C:\\x', /device/],
  ['\\\\?\\C:\\work\\..\\x', /dots/],
  ['\\\\?\\C:\\work/x', /dots/],
  ['\\\\?\\C:\\work\\a.txt.', /dot or blank/],
  ['\\\\?\\C:\\work\\NUL', /device/],
  ['\\\\server', /network/],
  ['\\\\', /network/],
  ['\\\\\\server\\share\\x', /network/],
  ['\\\\[fe80::1]\\share\\x', /":"/],
  ['\\\\server\\share\\nul', /device/],
  ['a?.txt', /character/],
  ['a*', /character/],
  ['a<b', /character/],
  ['a|b', /character/],
  ['"a b"', /character/],
  ['a\u0001', /character/]
]

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
  const folders = createWorkFolders(() => ({ folder: (input) => (input as { cwd: string }).cwd }), paths)
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
