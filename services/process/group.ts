import { once } from 'node:events'
import type { Clock } from '../lib/clock.ts'
import { findMembers, type Member } from './group-members.ts'
import { spawnIsolated } from './spawn-isolated.ts'

interface GroupParts {
  pid: number
  mark: string
  since: number
  clock: Clock
  exited: Promise<unknown>
  /** Lets go of the guard. */
  release: () => void
}

const GRACE_MS = 2000
/** Between two looks for what is left: each reads all of /proc. */
const POLL_MS = 20
const LONGEST_POLL_MS = 160
/** A process in an uninterruptible wait survives KILL: it is not waited for beyond this. */
const GIVE_UP_MS = 5000

/** The processes of one guarded command, and how they are ended. */
export function createGroup ({ pid, mark, since, clock, exited, release }: GroupParts) {
  let leaderGone = false
  let graceUntil = 0
  let ending: Promise<void> | undefined
  let over = false
  let hurry = Promise.withResolvers<void>()
  void exited.then(() => {
    leaderGone = true
  })

  async function end (): Promise<void> {
    // The clock's sleeps keep no process alive; a shutdown that awaits this must not fall asleep in it.
    const { port1: awake } = new MessageChannel()
    awake.ref()
    await terminate()
    await killAll()
    over = true
    awake.close()
  }

  /** TERM once for each, also for what leaves the group while this waits; returns when none is left or the grace is over. */
  async function terminate (): Promise<void> {
    const told = new Set<number>()
    let pause = POLL_MS
    while (clock.awake() < graceUntil) {
      const members = await find()
      if (told.size === 0) ask(-pid)
      told.add(pid)
      if (members.every(({ guard }) => guard)) return
      for (const member of members) {
        if (member.escaped && !told.has(member.pid)) ask(member.pid)
        if (member.escaped) told.add(member.pid)
      }
      hurry = Promise.withResolvers()
      await Promise.race([clock.sleep(pause), hurry.promise, ...leaderGone ? [] : [exited]])
      pause = Math.min(pause * 2, LONGEST_POLL_MS)
    }
  }

  /** The guard goes with its group; until then it keeps the group's id from being used by others. */
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

  /** Without /proc only the command itself is known: when it is gone, the rest of its group is not waited for. */
  async function find (): Promise<Member[]> {
    return await findMembers(pid, mark, since) ?? (leaderGone ? [] : [{ pid, guard: false, escaped: false }])
  }

  return {
    kill (signal: NodeJS.Signals): void {
      if (!over) send(-pid, signal)
    },
    end (graceMs: number = GRACE_MS): Promise<void> {
      const until = clock.awake() + graceMs
      graceUntil = ending === undefined ? until : Math.min(graceUntil, until)
      hurry.resolve()
      ending ??= end()
      return ending
    }
  }
}

/** Untested: Windows has no groups, so the tree is killed by its parents, and our own death ends nothing. */
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

/** TERM; what is stopped hears of it only when it is continued. */
function ask (pid: number): void {
  send(pid, 'SIGTERM')
  send(pid, 'SIGCONT')
}

function send (pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone in the meantime.
  }
}
