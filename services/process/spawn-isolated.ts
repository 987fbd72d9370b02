import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { closeSync, openSync, readdirSync } from 'node:fs'

/** LevelDB opens files on threads of its own, also between the look at the open descriptors and the fork. */
const BEYOND = 64
/** Taken for the highest descriptor where /proc is not mounted. */
const HIGHEST = 255

interface IsolatedOptions extends Omit<SpawnOptions, 'stdio' | 'cwd'> {
  cwd?: string
  /** One entry for each descriptor that the child gets, at least for stdin, stdout and stderr. */
  stdio: Array<'pipe' | 'ignore' | 'ipc' | number>
}

/**
 * Starts a process that gets the descriptors of `stdio` and none of the service's other files. classic-level opens its
 * files without O_CLOEXEC, and Node cannot set that flag: on Linux every further number up to the highest open one and
 * BEYOND is /dev/null in the child. (macOS closes them in posix_spawn, Windows inherits no file.)
 *
 * The numbers include that of the pipe by which libuv learns that chdir or exec failed. Such a failure is an exit with
 * code 127 and no `error` event.
 */
export function spawnIsolated (command: string, args: string[], options: IsolatedOptions): ChildProcess {
  if (process.platform !== 'linux') return spawn(command, args, options)
  const { cwd, stdio } = options
  const none = openSync('/dev/null', 'r+')
  try {
    // The child changes to its folder last; Node opened that one with O_CLOEXEC.
    const folder = Number(/^\/proc\/self\/fd\/(\d+)/.exec(cwd ?? '')?.[1] ?? -1)
    const all = [...stdio]
    for (let fd = stdio.length, last = highestDescriptor() + BEYOND; fd <= last; fd++) all.push(fd === folder ? 'ignore' : none)
    return spawn(command, args, { ...options, stdio: all })
  } finally {
    closeSync(none)
  }
}

function highestDescriptor (): number {
  try {
    return readdirSync('/proc/self/fd').reduce((highest, name) => Math.max(highest, Number(name)), 2)
  } catch {
    return HIGHEST
  }
}
