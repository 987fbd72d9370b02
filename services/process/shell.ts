import { accessSync, constants } from 'node:fs'

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

/** Returns the first of these programs that can be run as bash, else sh. */
export function findShell (programs: string[]): Shell {
  if (process.platform === 'win32') return { name: 'cmd.exe', program: 'cmd.exe' }
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

/** Returns the program and arguments that run a command line in the system's shell. */
export function shellCommand (line: string): [command: string, args: string[]] {
  const { name, program } = systemShell()
  return [program, name === 'cmd.exe' ? ['/d', '/s', '/c', line] : ['-c', line]]
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }

/** Describes to a model the system of this computer and the shell of its commands. */
export const describeMachine = (): string =>
  `This computer runs ${SYSTEMS[process.platform] ?? process.platform}; commands run in ${systemShell().name}.`
