import { closeSync, constants, openSync } from 'node:fs'
import { isatty } from 'node:tty'

/**
 * Tells whether the terminal that this process was started from is gone, as it is after a hang-up. It counts only for a process
 * that uses it: `nohup`, a service manager and a supervisor give none of its standard descriptors a terminal.
 */
export function watchTerminal () {
  const attached = [0, 1, 2].some((fd) => isatty(fd)) && hasTerminal()
  return {
    /** On Windows, SIGHUP itself says that the console window was closed. */
    hungUp: (): boolean => process.platform === 'win32' || (attached && !hasTerminal())
  }
}

/** Whether there is a controlling terminal: without one, and after its hang-up, /dev/tty cannot be opened (ENXIO, EIO). */
function hasTerminal (): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY | (constants.O_NONBLOCK ?? 0)))
    return true
  } catch {
    return false
  }
}
