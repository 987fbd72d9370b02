import { statSync } from 'node:fs'
import { win32 } from 'node:path'

/**
 * Returns the path of a program of Windows itself. With a bare name, Windows would start a program of that name from the folder in which a
 * command works.
 */
export const systemProgram = (name: string, root = process.env.SystemRoot): string =>
  win32.join(root !== undefined && win32.isAbsolute(root) ? root : 'C:\\Windows', 'System32', name)

interface Place {
  cwd: string
  env: NodeJS.ProcessEnv
  isFile?: (path: string) => boolean
}

/**
 * The program and arguments that Node starts for a command. `isLine`: the arguments are parts of a finished command line and must not be
 * quoted again.
 */
interface WindowsCommand {
  command: string
  args: string[]
  isLine: boolean
}

/**
 * Returns the program that Windows starts for the name of a command: the first file in the folders of PATH that has an extension of
 * PATHEXT. Most tools of npm are batch files there, such as npx.cmd. Node does not start batch files, so cmd.exe does, with the arguments
 * escaped for it. Throws an Error for arguments that cmd.exe would cut.
 */
export function windowsCommand (command: string, args: string[], place: Place): WindowsCommand {
  const program = findProgram(command, place) ?? command
  if (!/\.(?:cmd|bat)$/i.test(program)) return { command: program, args, isLine: false }
  if (args.some((arg) => /[\r\n]/.test(arg))) throw new Error(`${command} is a batch file, which takes no arguments of several lines`)
  // The batch files that npm writes beside packages pass their arguments to a second line, which is parsed again.
  const isTwice = /node_modules[\\/]\.bin[\\/][^\\/]+$/i.test(program)
  const line = [escaped(win32.normalize(program)), ...args.map((arg) => escapedArgument(arg, isTwice))].join(' ')
  return { command: systemProgram('cmd.exe'), args: ['/d', '/s', '/c', `"${line}"`], isLine: true }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

function findProgram (command: string, { cwd, env, isFile: isThere = isFile }: Place): string | undefined {
  const endings = (variable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter((ending) => ending !== '')
  const names = win32.extname(command) === '' ? [] : [command]
  const candidates = [...names, ...endings.map((ending) => command + ending.toLowerCase())]
  const folders = /[\\/:]/.test(command)
    ? [cwd]
    : (variable(env, 'PATH') ?? '').split(';').map((folder) => folder.replaceAll('"', '')).filter(win32.isAbsolute)
  for (const folder of folders) {
    const found = candidates.map((name) => win32.resolve(folder, name)).find((path) => isThere(path))
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the value of a variable. The names of variables have no case on Windows. */
const variable = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  Object.entries(env).find(([each]) => each.toUpperCase() === name)?.[1]

// https://qntm.org/cmd: quotes and backslashes are escaped for the C library, then each character that cmd.exe interprets gets a ^ before
// it.
const META = /[()\][%!^"`<>&|;, *?]/g
const escaped = (text: string): string => text.replace(META, '^$&')

function escapedArgument (arg: string, isTwice: boolean): string {
  const quoted = `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
  return isTwice ? escaped(escaped(quoted)) : escaped(quoted)
}
