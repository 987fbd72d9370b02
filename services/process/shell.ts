import { accessSync, constants } from 'node:fs'
import { systemProgram } from './windows-command.ts'

/** The shell that runs command lines: its name, for people and models, and its program. */
interface Shell {
  name: 'bash' | 'sh' | 'cmd.exe'
  program: string
}

const BASH = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash', '/run/current-system/sw/bin/bash']

let found: Shell | undefined

/** Returns the shell of this system: bash where there is one, because models write for it, else sh; cmd.exe on Windows. */
export function systemShell (): Shell {
  found ??= findShell(BASH)
  return found
}

/** Returns the first of these programs that can be run as bash, else sh. On Windows, cmd.exe. */
export function findShell (programs: string[], platform: NodeJS.Platform = process.platform): Shell {
  if (platform === 'win32') return { name: 'cmd.exe', program: systemProgram('cmd.exe') }
  const bash = programs.find((program) => {
    try {
      accessSync(program, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  return bash === undefined ? { name: 'sh', program: '/bin/sh' } : { name: 'bash', program: bash }
}

/**
 * Returns the program and the arguments that run a command line in a shell. The arguments of cmd.exe need `isLine` of spawnGuarded, because
 * cmd.exe reads the text between the outer quotes as it stands. The line sets the code page to UTF-8; cmd.exe would use an old one.
 */
export function shellCommand (line: string, { name, program }: Shell = systemShell()): [command: string, args: string[]] {
  return [program, name === 'cmd.exe' ? ['/d', '/s', '/c', `"chcp 65001 >nul 2>nul & ${line}"`] : ['-c', line]]
}

/** The longest line that cmd.exe runs, in characters, without the commands that `shellCommand` puts before it. */
const LONGEST_LINE = 8_000

/** Returns why a shell would not run exactly this command line; undefined if it would. */
export function lineProblem (line: string, { name }: Pick<Shell, 'name'> = systemShell()): string | undefined {
  if (name !== 'cmd.exe') return undefined
  if (/[\r\n]/.test(line.trim())) return 'cmd.exe would run the first line only: join commands with &&, or run a .cmd file that has them.'
  if (line.length > LONGEST_LINE) return `cmd.exe runs at most ${LONGEST_LINE} characters: write the command to a .cmd file and run that.`
  return undefined
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }

/** Describes to a model the system of this computer and the shell of its commands. */
export const describeMachine = (platform: NodeJS.Platform = process.platform, { name }: Pick<Shell, 'name'> = systemShell()): string =>
  `This computer runs ${SYSTEMS[platform] ?? platform}; commands run in ${name}.`
