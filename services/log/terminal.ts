import { closeSync, constants, openSync } from 'node:fs'
import { isatty } from 'node:tty'

/**
 * Detects whether the terminal that this process was started from has hung up. It counts only for a process with a standard
 * descriptor on a terminal: `nohup`, a service manager and a supervisor provide none.
 */
export function watchTerminal () {
  const attached = [0, 1, 2].some((fd) => isatty(fd)) && hasTerminal()
  return {
    /** Whether the terminal has hung up. On Windows, SIGHUP itself means that the console window was closed. */
    hungUp: (): boolean => process.platform === 'win32' || (attached && !hasTerminal())
  }
}

/** Whether there is a controlling terminal. Without one, and after its hang-up, /dev/tty cannot be opened (ENXIO, EIO). */
function hasTerminal (): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY | (constants.O_NONBLOCK ?? 0)))
    return true
  } catch {
    return false
  }
}
