import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { closeSync, openSync, readdirSync } from 'node:fs'

/** Margin for files that LevelDB's threads open between the listing of descriptors and the fork. */
const MARGIN = 64
/** Assumed highest descriptor where /proc is not mounted. */
const HIGHEST = 255

interface IsolatedOptions extends Omit<SpawnOptions, 'stdio' | 'cwd'> {
  cwd?: string
  /** One entry for each descriptor of the child, at least for stdin, stdout and stderr. */
  stdio: Array<'pipe' | 'ignore' | 'ipc' | number>
}

/**
 * Starts a process that gets the descriptors of `stdio` and no other files of the service. classic-level opens its files
 * without O_CLOEXEC, and Node cannot set that flag. On Linux, every further descriptor up to the highest open one plus MARGIN
 * is therefore /dev/null in the child. (macOS closes them in posix_spawn; Windows inherits no files.)
 * The replaced descriptors include the pipe by which libuv learns that chdir or exec failed. Such a failure appears as exit
 * code 127 without an `error` event.
 */
export function spawnIsolated (command: string, args: string[], options: IsolatedOptions): ChildProcess {
  if (process.platform !== 'linux') return spawn(command, args, options)
  const { cwd, stdio } = options
  const none = openSync('/dev/null', 'r+')
  try {
    // The child changes to its folder last, so that descriptor must stay; Node opened it with O_CLOEXEC.
    const folder = Number(/^\/proc\/self\/fd\/(\d+)/.exec(cwd ?? '')?.[1] ?? -1)
    const all = [...stdio]
    for (let fd = stdio.length, last = highestDescriptor() + MARGIN; fd <= last; fd++) all.push(fd === folder ? 'ignore' : none)
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
