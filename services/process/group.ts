import { once } from 'node:events'
import type { Clock } from '../lib/clock.ts'
import { findMembers, type Member } from './group-members.ts'
import { spawnIsolated } from './spawn-isolated.ts'

interface GroupParts {
  pid: number
  groupTag: string
  since: number
  clock: Clock
  exited: Promise<unknown>
  /** Closes the connection to the guard. */
  release: () => void
}

const GRACE_MS = 2000
/** The first interval between two searches for remaining processes: each search reads all of /proc. */
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
    while (clock.awake() < graceUntil) {
      const members = await find()
      if (terminated.size === 0) terminateProcess(-pid)
      terminated.add(pid)
      if (members.every(({ guard }) => guard)) return
      for (const member of members) {
        if (member.escaped && !terminated.has(member.pid)) terminateProcess(member.pid)
        if (member.escaped) terminated.add(member.pid)
      }
      wakeUp = Promise.withResolvers()
      await Promise.race([clock.sleep(pause), wakeUp.promise, ...leaderGone ? [] : [exited]])
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
      if (!leaderGone) await Promise.race([exited, clock.sleep(POLL_MS)])
      else await (round < 5 ? new Promise((resolve) => setImmediate(resolve)) : clock.sleep(POLL_MS))
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
 * Manages the process tree of a command on Windows. Untested. Windows has no process groups: taskkill ends the tree, and the
 * end of the service ends nothing.
 */
export function createWindowsTree (pid: number) {
  const end = async () => {
    await once(
      spawnIsolated('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true, stdio: ['ignore', 'ignore', 'ignore'] }),
      'close'
    )
  }
  return {
    kill: () => {
      end().catch(() => {})
    },
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
