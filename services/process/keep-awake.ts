import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type GuardedChild, spawnGuarded } from './spawn-guarded.ts'

/** A program that keeps the machine awake while the program runs. It ends when its standard input is closed. */
export interface AwakeProgram {
  command: string
  args: string[]
}

const NAME = 'Local Agent Service'
const WHY = 'The agent works, or a task is about to begin'

/**
 * Sets ES_CONTINUOUS and ES_SYSTEM_REQUIRED, in force until the thread ends:
 * https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-setthreadexecutionstate
 */
const POWER_REQUEST = `
$member = '[DllImport("kernel32.dll")] public static extern uint SetThreadExecutionState(uint flags);'
$type = Add-Type -PassThru -Namespace LocalAgent -Name Power -MemberDefinition $member
if ($type::SetThreadExecutionState([uint32]"0x80000001") -eq 0) { exit 1 }
[void][Console]::In.ReadToEnd()`

/**
 * Returns the programs that keep a machine of this system awake, the best one first. The screen can still turn off, and the machine still
 * sleeps when its user closes the lid or chooses sleep. On macOS, the program ends with the process `pid`.
 */
export function awakePrograms (platform: NodeJS.Platform = process.platform, pid = process.pid): AwakeProgram[] {
  switch (platform) {
    case 'linux': {
      // Desktops differ in which of the two locks they respect. Without a session of the user, only the second one is allowed.
      const inhibit = (what: string): AwakeProgram =>
        ({ command: 'systemd-inhibit', args: [`--what=${what}`, `--who=${NAME}`, `--why=${WHY}`, '--mode=block', 'cat'] })
      return [inhibit('idle:sleep'), inhibit('idle')]
    }
    case 'darwin':
      return [{ command: 'caffeinate', args: ['-i', '-w', String(pid)] }]
    case 'win32': {
      const script = Buffer.from(POWER_REQUEST, 'utf16le').toString('base64')
      return [{ command: 'powershell.exe', args: ['-NoLogo', '-NoProfile', '-NonInteractive', '-EncodedCommand', script] }]
    }
    default:
      return []
  }
}

/** How long work must last before a program is started, in milliseconds: machines fall asleep only after minutes. */
const WORK_MS = 5_000
/** How long before a planned run the machine is kept awake, milliseconds. */
const DUE_MS = 5 * 60_000
/** The most characters that are kept of a program's output about its failure. */
const OUTPUT_KEPT = 300
/** How long after a failure no program is started, in milliseconds. */
const RETRY_MS = 10 * 60_000

interface Parts {
  programs: readonly AwakeProgram[]
  clock: Clock
  env: () => NodeJS.ProcessEnv
  cwd: string
  log: Pick<Log, 'warn'>
}

/** Runs one of the programs. `again` is called when a program has failed and the next one must be started. */
function createHolder ({ programs, clock, env, cwd, log }: Parts, again: () => void) {
  let held: GuardedChild | undefined
  /** The program that is tried next. */
  let next = 0
  let failedAt = -Infinity
  let problem: string | undefined

  /** Waits until a program ends. One that ends by itself could not keep the machine awake. */
  async function follow (child: GuardedChild, command: string): Promise<void> {
    let output = ''
    child.stdout.resume()
    child.stderr.setEncoding('utf8').on('data', (text: string) => { output = (output + text).slice(0, OUTPUT_KEPT) })
    const { code } = await child.exited
    if (held !== child) return
    held = undefined
    fail(command, output.trim() || `it ended with ${code}`)
  }

  /** Continues with the next program. If none is left, logs the reason, unless the previous failure had the same reason. */
  function fail (command: string, reason: string): void {
    next++
    if (next < programs.length) return again()
    next = 0
    failedAt = clock.awake()
    const sentence = `${command} does not keep this machine awake while the agent works: ${reason}`
    if (problem !== sentence) log.warn({ command }, `${sentence} (config.json: "awake": false turns it off)`)
    problem = sentence
  }

  return {
    isHeld: () => held !== undefined,
    problem: () => problem,

    async hold (): Promise<void> {
      if (held !== undefined || clock.awake() - failedAt < RETRY_MS) return
      const { command, args } = programs[next]
      try {
        held = await spawnGuarded(command, args, { cwd, env: env(), stdin: 'pipe', clock })
        void follow(held, command)
      } catch (error) {
        fail(command, (error as Error).message)
      }
    },

    async release (): Promise<void> {
      const released = held
      if (released !== undefined) problem = undefined
      held = undefined
      await released?.end(0)
    }
  }
}

export type KeepAwake = ReturnType<typeof createKeepAwake>

/**
 * Keeps the machine awake while work is under way or due soon, by a child process that dies with the service. `isWanted` says whether the
 * user wants it.
 */
export function createKeepAwake ({ isWanted, ...parts }: Parts & { isWanted: () => boolean }) {
  const { clock, programs } = parts
  /** When each work under way began, in milliseconds of the clock that stops while the machine sleeps. */
  const working = new Map<object, number>()
  let dueAt = Infinity
  let isClosed = programs.length === 0
  /** The newest update. Updates run one after another. */
  let looking: Promise<void> = Promise.resolve()
  const holder = createHolder(parts, () => void update())

  function isNeeded (): boolean {
    if (isClosed || !isWanted()) return false
    if (dueAt - clock.now() <= DUE_MS) return true
    // A program that already runs continues for new work.
    return working.size > 0 && (holder.isHeld() || clock.awake() - Math.min(...working.values()) >= WORK_MS)
  }

  function update (): Promise<void> {
    looking = looking.then(() => isNeeded() ? holder.hold() : holder.release())
    return looking
  }

  return {
    /** Counts work that is under way until the promise settles. */
    during (ended: Promise<unknown>): void {
      if (isClosed) return
      const work = {}
      working.set(work, clock.awake())
      const over = new AbortController()
      const end = () => {
        working.delete(work)
        over.abort()
        void update()
      }
      ended.then(end, end)
      clock.sleep(WORK_MS, over.signal).then(update, () => {})
    },

    /** Sets the time of the next planned work, in milliseconds since the epoch; Infinity for none. Must be called every few seconds. */
    setDue (at: number): void {
      dueAt = at
      if (!isClosed) void update()
    },

    /** Starts a program if one is needed now, and ends it otherwise. Resolves when that is done. */
    update,

    /**
     * Returns why the newest attempt to keep the machine awake failed; undefined if it succeeded, if there was none, or if the user does
     * not want it.
     */
    problem: (): string | undefined => isWanted() ? holder.problem() : undefined,

    /** Ends the program, and starts no more. */
    close (): Promise<void> {
      isClosed = true
      return update()
    }
  }
}
