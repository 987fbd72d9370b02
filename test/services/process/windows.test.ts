import t from 'tap'
import { describeMachine, findShell, lineProblem, shellCommand } from '../../../services/process/shell.ts'
import { systemProgram, windowsCommand } from '../../../services/process/windows-command.ts'
import { onceFree } from '../../../services/lib/file-system.ts'
import { withPathErrors } from '../../../services/tools/tool-errors.ts'

// What of Windows can be told on every system: `npm run test:windows` starts these programs.

const CMD = findShell([], 'win32')

t.test('the shell of Windows is its own, by its whole path, and reads a command line as it was written', async (t) => {
  t.match(CMD, { name: 'cmd.exe', program: /^[A-Z]:\\.*\\System32\\cmd\.exe$/i })
  t.equal(systemProgram('cmd.exe', 'evil'), 'C:\\Windows\\System32\\cmd.exe', 'a folder that is relative is none of the system')
  t.equal(systemProgram('cmd.exe', 'D:\\Win'), 'D:\\Win\\System32\\cmd.exe')
  const [program, args] = shellCommand('echo "a b" & dir', CMD)
  t.equal(program, CMD.program)
  t.strictSame(args, ['/d', '/s', '/c', '"chcp 65001 >nul 2>nul & echo "a b" & dir"'])
  t.equal(describeMachine('win32', CMD), 'This computer runs Windows; commands run in cmd.exe.')
  t.equal(describeMachine('darwin', { name: 'bash' }), 'This computer runs macOS; commands run in bash.')
})

t.test('a command of which cmd.exe would run a part alone is a mistake, which the answer says how to mend', async (t) => {
  t.match(lineProblem('echo a\necho b', CMD), /first line only.*&&/)
  t.match(lineProblem(`echo ${'x'.repeat(8_000)}`, CMD), /\.cmd file/)
  t.equal(lineProblem('echo a\r\n', CMD), undefined)
  t.equal(lineProblem('echo a\necho b', { name: 'bash' }), undefined)
})

t.test('a command is looked for in PATH with its endings, and a batch file gets its arguments by cmd.exe', async (t) => {
  const own = ['C:\\work\\own.exe', 'C:\\work\\node_modules\\.bin\\x.cmd']
  const files = ['C:\\node\\npx.cmd', 'C:\\node\\node.exe', 'D:\\tools\\run.bat', ...own]
  const place = { cwd: 'C:\\work', env: { Path: '"C:\\node";;relative;D:\\tools' }, isFile: (path: string) => files.includes(path) }
  const of = (command: string, ...args: string[]) => windowsCommand(command, args, place)

  t.strictSame(of('node', '-v'), { command: 'C:\\node\\node.exe', args: ['-v'], isLine: false })
  t.strictSame(of('own'), { command: 'own', args: [], isLine: false }, 'the folder of the command is not searched')
  t.match(of('.\\own'), { command: 'C:\\work\\own.exe' })
  const lineOf = (command: string, ...args: string[]) => {
    const found = of(command, ...args)
    t.match(found, { command: systemProgram('cmd.exe'), args: ['/d', '/s', '/c', String], isLine: true })
    return found.args[3]
  }
  t.equal(lineOf('npx', '-y', '@scope/server'), '"C:\\node\\npx.cmd ^"-y^" ^"@scope/server^""')
  t.equal(lineOf('run', 'a b&calc', '%PATH%'), '"D:\\tools\\run.bat ^"a^ b^&calc^" ^"^%PATH^%^""')
  t.equal(lineOf('run.bat', 'say "x"\\', ''), '"D:\\tools\\run.bat ^"say^ \\^"x\\^"\\\\^" ^"^""')
  t.match(lineOf('node_modules/.bin/x', '&'), 'C:\\work\\node_modules\\.bin\\x.cmd ^^^"^^^&^^^"')
  t.throws(() => of('run', 'a\nb'), /several lines/)
})

const failure = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall })
const textOf = (code: string, syscall: string, platform: NodeJS.Platform) =>
  withPathErrors('a.txt', async () => {
    throw failure(code, syscall)
  }, platform).catch((error: Error) => error.message)

t.test('a file that another program has open is said to be in use, and one that is read-only is not', async (t) => {
  t.match(await textOf('EBUSY', 'open', 'win32'), /^"a\.txt" is in use by another program.*close it there and try again\.$/)
  for (const code of ['EPERM', 'EACCES']) {
    t.match(await textOf(code, 'rename', 'win32'), /is in use by another program.*may not change it\.$/, code)
    t.match(await textOf(code, 'access', 'win32'), /read-only/, code)
  }
  t.match(await textOf('EACCES', 'open', 'linux'), /permission denied/)
})

t.test('a file that a scanner holds for a moment is tried again on Windows, for a second', async (t) => {
  const { signal } = new AbortController()
  let waited = 0
  const clock = { sleep: async (ms: number) => void (waited += ms) }
  let left = 2
  const work = () => {
    if (left-- > 0) throw failure('EPERM', 'rename')
    return 'done'
  }
  t.equal(await onceFree(clock, signal, work, 'win32'), 'done')
  t.ok(waited > 0 && waited < 200)
  await t.rejects(onceFree(clock, signal, () => Promise.reject(failure('EBUSY', 'rename')), 'win32'), { code: 'EBUSY' })
  t.ok(waited > 1_000 && waited < 2_000)

  const before = waited
  await t.rejects(onceFree(clock, signal, () => Promise.reject(failure('ENOSPC', 'rename')), 'win32'), { code: 'ENOSPC' })
  await t.rejects(onceFree(clock, signal, () => Promise.reject(failure('EPERM', 'rename')), 'linux'), { code: 'EPERM' })
  t.equal(waited, before, 'nothing else is')
})
