import { once } from 'node:events'
import { closeSync, openSync, readSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Clock } from '../lib/clock.ts'
import { Usage } from '../lib/usage-error.ts'

/** A process as named in a lock file. Process ids are reused; the start time tells the processes apart. */
export interface Holder {
  pid: number
  /** Linux: clock ticks from boot to its start (proc_pid_stat(5), field 22). Elsewhere: milliseconds since the epoch. 0: unknown. */
  started: number
}

/** `ps` reports whole seconds, and Node's clock starts a little after its process. */
const SLACK_MS = 3_000
const PS_MS = 5_000

/** Returns the identity of this process. */
export function ownIdentity (): Holder {
  return { pid: process.pid, started: procStat('self')?.started ?? Math.round(performance.timeOrigin) }
}

/** Returns the identity of a live process; undefined when there is none with that id. */
export async function identityOf (pid: number): Promise<Holder | undefined> {
  const found = ['linux', 'win32'].includes(process.platform) ? procStat(pid) : await queryPs(pid)
  const holder = { pid, started: found?.started ?? 0 }
  return await isRunning(holder) ? holder : undefined
}

/** Whether a process started before `later`, within the precision of the start times. */
function isOlder ({ started }: Holder, later: Holder): boolean {
  return started <= later.started + (process.platform === 'linux' ? 0 : SLACK_MS)
}

/** Whether exactly this process still runs; a zombie does not. Returns true when unsure. */
export async function isRunning ({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  if (process.platform === 'win32') return true
  if (process.platform === 'linux') {
    const found = procStat(pid)
    return found === undefined || (!/[ZX]/.test(found.state) && (started === 0 || found.started === started))
  }
  const found = await queryPs(pid)
  return found === undefined || (!found.isZombie && (started === 0 || Math.abs(found.started - started) < SLACK_MS))
}

/** Reads /proc/<pid>/stat, see proc(5). Returns undefined if there is no such process, and on other systems than Linux. */
export function procStat (pid: number | 'self') {
  if (process.platform !== 'linux') return undefined
  try {
    const text = readAtOnce(`/proc/${pid}/stat`)
    // The name is in parentheses and can hold any character.
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [ppid, group, session] = fields.slice(0, 3).map(Number)
    return { state, ppid, group, session, started: Number(fields[18]) }
  } catch {
    return undefined
  }
}

/** A buffer larger than any /proc/<pid>/stat. */
const bytes = Buffer.alloc(4096)

/** Reads a small file with one call. All processes are read at the end of each command, and `readFileSync` makes several calls for each. */
function readAtOnce (path: string): string {
  const fd = openSync(path, 'r')
  try {
    return bytes.toString('latin1', 0, readSync(fd, bytes))
  } finally {
    closeSync(fd)
  }
}

/** Queries a process by `ps`. Returns undefined when its output cannot be parsed. */
async function queryPs (pid: number): Promise<{ isZombie: boolean, started: number } | undefined> {
  const { spawnIsolated } = await import('./spawn-isolated.ts')
  const child = spawnIsolated('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    timeout: PS_MS,
    stdio: ['ignore', 'pipe', 'ignore']
  })
  const line = await Promise.all([text(child.stdout!), once(child, 'exit')]).then(([out]) => out.trim(), () => '')
  const [, state, since] = /^(\S+)\s+(.+)$/.exec(line) ?? []
  const started = Date.parse(since ?? '')
  return Number.isNaN(started) ? undefined : { isZombie: state.startsWith('Z'), started }
}

const POLL_MS = 1_000

/**
 * Returns the process whose end shuts the service down. Throws Usage when no live process has that id, or when the process
 * started after the service. `isNpx`: the process was found, not named by an option.
 */
export async function findParent (pid: number, isNpx = false): Promise<Holder> {
  const parent = await identityOf(pid)
  if (parent === undefined) {
    if (isNpx) throw new Usage('npx ended while it started the service, so the service ends, too. Run the command again.')
    throw new Usage(`--parent-pid ${pid} is the id of no live process. Pass the id of the process that starts the service.`)
  }
  // A parent is older than its child: a younger process has reused the id of a parent that is gone.
  if (pid === process.pid || !isOlder(parent, ownIdentity())) {
    throw new Usage(`--parent-pid ${pid} is the id of a process that did not start the service. Pass the id of the process that starts it.`)
  }
  return parent
}

/** Resolves within about a second after the process has ended. */
export async function waitForExit (parent: Holder, clock: Clock): Promise<void> {
  while (await isAlive(parent)) await clock.sleep(POLL_MS)
}

/**
 * Whether the parent lives. On POSIX systems an orphan gets another parent at once, so an unchanged parent id proves that it lives. Windows
 * keeps the old id, so the system is queried.
 */
async function isAlive (parent: Holder): Promise<boolean> {
  return (process.platform !== 'win32' && process.ppid === parent.pid) || await isRunning(parent)
}
