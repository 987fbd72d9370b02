import { diskTrouble } from '../store/disk-failure.ts'

/** Why the service did not start: what to print, and the exit code (sysexits.h; 98 is EADDRINUSE). A shell must not retry 64 to 98. */
export interface StartFailure {
  message: string
  exitCode: number
}

/** The file system refuses, and will again at the next try. */
const REFUSED = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ELOOP']

/** Reads an error of the start. What nobody foresaw ends with 1 and its stack. */
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
        `Port ${port} of ${address} is in use by another program. Stop that program, or choose another port with --port or LOCAL_AGENT_PORT.`,
      exitCode: 98
    }
  }
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    return { message: `The service cannot listen there: ${message}. Choose another --host or --port.`, exitCode: 64 }
  }
  if (code !== undefined && REFUSED.includes(code)) {
    return {
      message: `The configuration directory cannot be used: ${message}. Mend its permissions, or set LOCAL_AGENT_HOME to another folder.`,
      exitCode: 78
    }
  }
  const trouble = diskTrouble(error)
  if (trouble !== undefined) {
    return { message: `The configuration directory cannot be written: ${trouble}. Make room on its disk, then start again.`, exitCode: 74 }
  }
  return { message: stack ?? String(error), exitCode: 1 }
}
