import { describeDiskFailure } from './disk-failure.ts'

/** A failed start: the message to print, and the exit code (sysexits.h; 98 is EADDRINUSE). A supervisor must not retry codes 64 to 98. */
interface StartFailure {
  message: string
  exitCode: number
}

/** Codes of file system errors that a retry does not fix. */
const PERMANENT_CODES = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ELOOP']

/** Explains an error of the start. Unexpected errors give exit code 1 and their stack. */
export function explainStart (error: unknown): StartFailure {
  const { exitCode, code, message, stack, syscall, address, port } = error as NodeJS.ErrnoException & {
    exitCode?: number,
    address?: string,
    port?: number
  }
  if (exitCode !== undefined) return { message, exitCode }
  if (code === 'EADDRINUSE') {
    return {
      message:
        `Port ${port} of ${address} is in use by another program. ` +
        'Stop that program, or choose another port with --port or LOCAL_AGENT_PORT.',
      exitCode: 98
    }
  }
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    return { message: `The service cannot listen there: ${message}. Choose another --host or --port.`, exitCode: 64 }
  }
  if (code !== undefined && PERMANENT_CODES.includes(code)) {
    return {
      message: `The configuration directory cannot be used: ${message}. ` +
        'Correct its permissions, or set LOCAL_AGENT_HOME to another folder.',
      exitCode: 78
    }
  }
  const diskFailure = describeDiskFailure(error)
  if (diskFailure !== undefined) {
    const message = `The configuration directory cannot be written: ${diskFailure}. Free space on its disk, then start again.`
    return { message, exitCode: 74 }
  }
  return { message: stack ?? String(error), exitCode: 1 }
}
