import { randomInt } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { once } from 'node:events'
import { systemClock, type Clock } from '../lib/clock.ts'
import { procStat } from './process-identity.ts'
import { spawnIsolated } from './spawn-isolated.ts'
import { systemProgram } from './windows-command.ts'

/** The highest tag: 4 EiB, in KiB. It is finite, for programs that check for a limit before they allocate memory. */
const TOP = 2 ** 52
const SPREAD = 2 ** 40

/**
 * Returns a group tag: a unique number of bytes, used as the limit of resident memory of every process in a guarded group.
 * Linux has not enforced RLIMIT_RSS since 2.4.30, but keeps it. It is inherited through fork and exec even when a process
 * changes its parent, session, group, environment, files and folder; it can be read in /proc/<pid>/limits; and an unprivileged
 * process cannot raise it. Inside a guarded group of another service, the tag is lower than that group's.
 */
export function newGroupTag (): string {
  const top = Math.min(TOP, ownLimit() / 1024)
  return String(BigInt(Math.floor(top) - 1 - randomInt(Math.min(SPREAD, Math.ceil(top / 2)))) * 1024n)
}

function ownLimit (): number {
  if (process.platform !== 'linux') return Infinity
  try {
    return Number(groupTagIn(readFileSync('/proc/self/limits', 'latin1')) ?? Infinity) || Infinity
  } catch {
    return Infinity
  }
}

/** Returns the tag in the text of /proc/<pid>/limits: the soft limit in bytes, or "unlimited". proc(5). */
function groupTagIn (limits: string): string | undefined {
  return /^Max resident set +(\S+)/m.exec(limits)?.[1]
}

/** A live process that belongs to a guarded group. */
interface Member {
  pid: number
  /** True for the guard itself, which is killed last. */
  guard: boolean
  /** True when the process left the process group, so that a signal to the group does not reach it. */
  escaped: boolean
}

interface Row {
  pid: number
  ppid: number
  group: number
  session: number
  started: number
  /** Read on first use. */
  groupTag?: string
  cmdline?: string
}

/** Processes read between two yields to the event loop: each read takes some microseconds. */
const SLICE = 64

/** Returns the start time of a process in clock ticks since boot; 0 when it is unknown. */
export function startOf (pid: number): number {
  return row(pid)?.started ?? 0
}

/**
 * Finds every live process that the command with process id `leader` started: members of its process group and its session
 * (`set -m`), processes with its group tag (daemons), and all their descendants. Returns undefined where there is no /proc.
 */
async function findMembers (leader: number, groupTag: string, since: number): Promise<Member[] | undefined> {
  // Older processes cannot come from the command, so their limits are not read.
  const rows = (await listProcesses())?.filter(({ started }) => started >= since)
  if (rows === undefined) return undefined
  const found = new Set<number>()
  for (const [index, row] of rows.entries()) {
    if (index % SLICE === SLICE - 1) await new Promise(setImmediate)
    if (row.group === leader || row.session === leader || (row.groupTag ??= groupTagIn(text(row.pid, 'limits')) ?? '') === groupTag) {
      found.add(row.pid)
    }
  }
  for (let previousSize = -1; previousSize < found.size;) {
    previousSize = found.size
    for (const { pid, ppid } of rows) if (found.has(ppid)) found.add(pid)
  }
  // The guard is a fork of the guard script, whose arguments hold the group tag; the leader has become the command.
  return rows.filter(({ pid }) => found.has(pid)).map((row) => ({
    pid: row.pid,
    guard: row.pid !== leader && (row.cmdline ??= text(row.pid, 'cmdline')).includes(groupTag),
    escaped: row.group !== leader
  }))
}

let reading: Promise<Row[] | undefined> | undefined
let next: Promise<Row[] | undefined> | undefined

/** Lists all processes. Concurrent calls during one reading share the next one, for example when all commands are ended at once. */
function listProcesses (): Promise<Row[] | undefined> {
  next ??= (async () => {
    await Promise.all([reading, new Promise(setImmediate)])
    reading = next
    next = undefined
    const rows: Row[] = []
    const pids = processIds()
    for (const [index, pid] of pids?.entries() ?? []) {
      if (index % SLICE === SLICE - 1) await new Promise(setImmediate)
      const process = row(pid)
      if (process !== undefined) rows.push(process)
    }
    return pids && rows
  })()
  return next
}

function processIds (): number[] | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const pids = readdirSync('/proc').map(Number).filter((pid) => pid > 0)
    return pids.length > 0 ? pids : undefined
  } catch {
    return undefined
  }
}

/** Reads a process. Zombies count as gone. */
function row (pid: number): Row | undefined {
  const stat = procStat(pid)
  return stat === undefined || /[ZX]/.test(stat.state) ? undefined : { pid, ...stat }
}

function text (pid: number, file: string): string {
  if (process.platform !== 'linux') return ''
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

interface GroupParts {
  pid: number
  groupTag: string
  since: number
  clock: Clock
  exited: Promise<unknown>
  /** Closes the connection to the guard, which then ends. */
  release: () => void
}

const GRACE_MS = 2000
/** The first interval between two searches for remaining processes, in the system's time: each search reads all of /proc. */
const POLL_MS = 20
const LONGEST_POLL_MS = 160
/** A process in an uninterruptible wait survives SIGKILL, so waiting for it is limited. */
const GIVE_UP_MS = 5000

/** Manages the processes of one guarded command and ends them. */
export function createGroup ({ pid, groupTag, since, clock, exited, release }: GroupParts) {
  let leaderGone = false
  let graceUntil = 0
  let ending: Promise<void> | undefined
  let ended = false
  let wakeUp = Promise.withResolvers<void>()
  void exited.then(() => {
    leaderGone = true
  })

  async function end (): Promise<void> {
    // The clock's sleeps do not keep the process alive; a shutdown that awaits this needs an active handle.
    const { port1: awake } = new MessageChannel()
    awake.ref()
    await terminate()
    await killAll()
    ended = true
    awake.close()
  }

  /**
   * Sends SIGTERM once to each process, including processes that leave the group meanwhile. Returns when none is left or the
   * grace period is over.
   */
  async function terminate (): Promise<void> {
    const terminated = new Set<number>()
    let pause = POLL_MS
    for (let round = 0; clock.awake() < graceUntil; round++) {
      const members = await find()
      if (terminated.size === 0) terminateProcess(-pid)
      terminated.add(pid)
      if (members.every(({ guard }) => guard)) return
      for (const member of members) {
        if (member.escaped && !terminated.has(member.pid)) terminateProcess(member.pid)
        if (member.escaped) terminated.add(member.pid)
      }
      wakeUp = Promise.withResolvers()
      // The first process of a box ends a moment later than the command.
      if (leaderGone && round < 3) {
        await new Promise(setImmediate)
        continue
      }
      await Promise.race([systemClock.sleep(pause), wakeUp.promise, ...leaderGone ? [] : [exited]])
      pause = Math.min(pause * 2, LONGEST_POLL_MS)
    }
  }

  /** Kills all members. The guard is killed with its group; until then it prevents the group id from being reused. */
  async function killAll (): Promise<void> {
    const giveUp = clock.awake() + GIVE_UP_MS
    send(-pid, 'SIGKILL')
    release()
    for (let round = 0; clock.awake() < giveUp; round++) {
      const members = await find()
      if (members.length === 0) break
      for (const member of members) send(member.pid, 'SIGKILL')
      if (!leaderGone) await Promise.race([exited, systemClock.sleep(POLL_MS)])
      else await (round < 5 ? new Promise((resolve) => setImmediate(resolve)) : systemClock.sleep(POLL_MS))
    }
  }

  /** Finds the live members. Without /proc only the command itself is known, so the rest of its group is not awaited. */
  async function find (): Promise<Member[]> {
    return await findMembers(pid, groupTag, since) ?? (leaderGone ? [] : [{ pid, guard: false, escaped: false }])
  }

  return {
    kill (signal: NodeJS.Signals): void {
      if (!ended) send(-pid, signal)
    },
    end (graceMs: number = GRACE_MS): Promise<void> {
      const until = clock.awake() + graceMs
      graceUntil = ending === undefined ? until : Math.min(graceUntil, until)
      wakeUp.resolve()
      ending ??= end()
      return ending
    }
  }
}

/**
 * Manages the process tree of a command on Windows, which has no process groups. As long as the command itself runs, taskkill ends it with
 * everything that it started. Processes that outlive the command stay: nothing links them to it, and the id of a process that has ended
 * might belong to another one. When the service dies, Windows ends the command itself (libuv puts it into a job), but not what the command
 * started.
 */
export function createWindowsTree (pid: number, exited: Promise<unknown>) {
  let isOver = false
  void exited.then(() => {
    isOver = true
  })
  const end = async () => {
    if (isOver) return
    const taskkill = spawnIsolated(systemProgram('taskkill.exe'), ['/pid', String(pid), '/T', '/F'], {
      windowsHide: true,
      stdio: ['ignore', 'ignore', 'ignore']
    })
    await once(taskkill, 'close').catch(() => send(pid, 'SIGKILL'))
  }
  return {
    kill: () => void end(),
    end
  }
}

/** Sends SIGTERM, then SIGCONT, because a stopped process handles it only when continued. */
function terminateProcess (pid: number): void {
  send(pid, 'SIGTERM')
  send(pid, 'SIGCONT')
}

function send (pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended meanwhile.
  }
}
