/** Returns the program and arguments that run a command line in the system's shell. */
export function shellCommand (line: string): [command: string, args: string[]] {
  return process.platform === 'win32'
    ? ['cmd.exe', ['/d', '/s', '/c', line]]
    : ['/bin/sh', ['-c', line]]
}
