import { randomBytes } from 'node:crypto'
import { closeSync, constants, linkSync, openSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJson } from '../lib/json.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { StoreInUse } from './store-errors.ts'
import { type Holder, isRunning, ownIdentity } from '../process/index.ts'

// LevelDB has its own lock, but a second open in the same process fails and thereby releases that lock. The service therefore
// takes this lock file first. The file names its holder; a crash leaves it behind, and the next start takes it over without
// waiting. A holder that is shutting down records this in the file, and the next process waits for it.
// File calls are synchronous: each takes microseconds, which keeps the windows short in which starting processes can race.

export interface Lock {
  /** True when the lock of a dead process was taken over. Threads of that process might still be exiting. */
  tookOver: boolean
  release(): void
}

export interface LockOptions {
  clock?: Clock
  /** The parent process; this process exits when the parent does. */
  parent?: Holder
  /** Aborts when this process is asked to shut down. The lock file then records it, and waiting for the lock stops. */
  ending?: AbortSignal
  /** True if no process has the database of a directory open; undefined if that cannot be found out. */
  isDatabaseFree?: (dir: string) => boolean | undefined
}

/** The content of a lock file. */
interface Claim extends Holder {
  /** The directory that the lock is for: a copied directory contains a copy of the lock file. Absent in locks of older versions. */
  directory?: Directory
  parent?: Holder
  ending?: true
}

interface Directory {
  path: string
  device: string
  inode: string
}

/** Lock paths that this process holds, even when their lock files were removed. */
const heldHere = new Set<string>()
/** Maximum number of attempts: an attempt fails only when another starting process wins the race. */
const ROUNDS = 20
/** A service exits within 5 s after the request, or after its parent's end, which it might detect one second late. */
const ENDING_MS = 6_000
const POLL_MS = 50
/** A service opens its database within this time after it took the lock, and keeps it open. */
const OPENING_MS = 3_000

/**
 * Creates `{dir}/service.lock`. Waits up to 6 s for a holder that is shutting down. Throws StoreInUse, which names the holder,
 * while another live process holds the lock.
 */
export async function acquireLock (
  dir: string,
  { clock = systemClock, parent, ending, isDatabaseFree = databaseProbe() }: LockOptions = {}
): Promise<Lock> {
  const path = join(realpathSync.native(dir), 'service.lock')
  if (heldHere.has(path)) throw new StoreInUse(dir, { pid: process.pid })
  heldHere.add(path)
  try {
    const claim: Claim = { ...ownIdentity(), directory: identify(dir), ...(parent && { parent }) }
    let content = JSON.stringify(claim)
    const tookOver = await claimLock(dir, path, content, { clock, ending, isDatabaseFree })
    const letGo = await holdFile(dir, clock)
    removeInstance(dir)
    const recordShutdown = () => {
      content = replace(path, content, JSON.stringify({ ...claim, ending: true }))
    }
    if (ending?.aborted) recordShutdown()
    ending?.addEventListener('abort', recordShutdown)
    return {
      tookOver,
      release () {
        ending?.removeEventListener('abort', recordShutdown)
        letGo()
        if (contentOf(path) === content) {
          removeInstance(dir)
          rmSync(path, { force: true })
        }
        heldHere.delete(path)
      }
    }
  } catch (error) {
    heldHere.delete(path)
    throw error
  }
}

/** Waits up to 6 s while a process that is shutting down holds the directory's lock. Throws StoreInUse after that. */
export async function waitForEnding (dir: string, options: LockOptions): Promise<void> {
  const waitForHolder = createHolderWait(dir, options)
  for (;;) {
    const holder = readLock(dir)
    if (holder === undefined || !await isHolding(dir, holder, options) || !await isEnding(holder)) return
    await waitForHolder(holder)
  }
}

async function claimLock (dir: string, path: string, content: string, options: LockOptions): Promise<boolean> {
  const waitForHolder = createHolderWait(dir, options)
  let tookOver = false
  for (let round = 0; round < ROUNDS; round++) {
    if (publish(path, content)) return tookOver
    const currentContent = contentOf(path)
    if (currentContent === undefined) continue
    const holder = parse(currentContent)
    if (holder !== undefined && await isHolding(dir, holder, options)) {
      await waitForHolder(holder)
      round = 0
      continue
    }
    removeStale(path, currentContent)
    tookOver = true
  }
  throw new StoreInUse(dir)
}

/**
 * True if the process that a lock names still holds the lock. If only the id of that process is known, as on Windows, another process might
 * have the same id by now. Then the files that a holder keeps open decide, except just after the holder's start.
 */
async function isHolding (
  dir: string,
  holder: Claim,
  { clock = systemClock, ending, isDatabaseFree = databaseProbe() }: LockOptions
): Promise<boolean> {
  if (holder.directory !== undefined && isOther(holder.directory, identify(dir))) return false
  if (!await isRunning(holder)) return false
  for (const until = clock.monotonic() + OPENING_MS; isDatabaseFree(dir) === true; await clock.sleep(POLL_MS, ending)) {
    if (clock.monotonic() >= until) return false
  }
  return true
}

/**
 * Identifies a directory by its inode and device, which stay when the directory is moved, and by its path, which stays when the disk is
 * mounted anew.
 */
function identify (dir: string): Directory {
  const { dev, ino } = statSync(dir, { bigint: true })
  return { path: realpathSync.native(dir), device: String(dev), inode: String(ino) }
}

/** Whether a lock was copied with its directory. */
const isOther = (held: Directory, { path, device, inode }: Directory): boolean =>
  held.inode !== inode || (held.device !== device && held.path !== path)

const HELD = 'service.held'
/**
 * A flag of libuv on Windows that Node does not name (UV_FS_O_EXLOCK): nobody else can open the file until its holder closes it or crashes.
 */
const EXCLUSIVE = 0x10000000

/**
 * On Windows nobody but the holder can open LevelDB's own lock file. While a service repairs or replaces its database, LevelDB is closed,
 * so the service keeps a file of its own open for that time. Other systems tell processes apart by their start times.
 */
const databaseProbe = (): NonNullable<LockOptions['isDatabaseFree']> =>
  process.platform === 'win32' ? (dir) => [join('data', 'LOCK'), HELD].every((name) => canOpen(join(dir, name))) : () => undefined

/** Whether a file can be opened for writing, or is not there. */
function canOpen (path: string): boolean {
  try {
    closeSync(openSync(path, 'r+'))
    return true
  } catch (error) {
    return codeOf(error) === 'ENOENT'
  }
}

/** On Windows, opens a file for this process alone; elsewhere does nothing. The returned function closes it. */
async function holdFile (dir: string, clock: Clock): Promise<() => void> {
  if (process.platform !== 'win32') return () => {}
  const path = join(dir, HELD)
  for (let round = 0; round < ROUNDS; round++) {
    try {
      const file = openSync(path, constants.O_RDWR | constants.O_CREAT | EXCLUSIVE)
      return () => {
        closeSync(file)
        rmSync(path, { force: true })
      }
    } catch {
      // Another starting process is testing the file at this moment.
      await clock.sleep(POLL_MS)
    }
  }
  return () => {}
}

/**
 * Returns a function that sleeps one poll interval for a holder that is shutting down. It throws StoreInUse for any other
 * holder, and after 6 s.
 */
function createHolderWait (dir: string, { clock = systemClock, ending }: LockOptions) {
  const until = clock.monotonic() + ENDING_MS
  return async (holder: Claim): Promise<void> => {
    const isLate = clock.monotonic() >= until
    if (isLate || !await isEnding(holder)) throw new StoreInUse(dir, { pid: holder.pid, url: urlOf(dir, holder.pid), isLate })
    await clock.sleep(POLL_MS, ending)
  }
}

/** Whether the live holder recorded its shutdown, or its parent is gone, so that it will shut down soon. */
async function isEnding ({ ending, parent }: Claim): Promise<boolean> {
  return ending === true || (parent !== undefined && !await isRunning(parent))
}

/**
 * Creates the lock file by linking a complete draft into place, so that no reader sees a partial lock. Returns false when a
 * lock exists.
 */
function publish (path: string, content: string): boolean {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
  try {
    link(draft, path, content)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Links the draft to the path of the lock. On file systems without hard links (FAT, some network ones), creates the lock file and then
 * writes it.
 */
function link (draft: string, path: string, content: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 })
  }
}

/** Removes a dead holder's lock. When another process has meanwhile replaced it with its own lock, that lock is put back. */
function removeStale (path: string, stale: string): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  try {
    renameSync(path, aside)
    const moved = contentOf(aside)
    if (moved !== undefined && moved !== stale) link(aside, path, moved)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/**
 * Replaces the content of this process's lock atomically. Returns the content that the lock holds afterwards: the old one if the lock was
 * changed by somebody else, or if writing failed.
 */
function replace (path: string, content: string, next: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    if (contentOf(path) !== content) return content
    writeFileSync(draft, next, { flag: 'wx', mode: 0o600 })
    renameSync(draft, path)
    return next
  } catch {
    // A full disk must not prevent the shutdown. The next process then gets StoreInUse.
    rmSync(draft, { force: true })
    return content
  }
}

function contentOf (path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Reads the lock of a directory. Returns undefined when the lock or the directory does not exist. */
function readLock (dir: string): Claim | undefined {
  try {
    return parse(contentOf(join(dir, 'service.lock')) ?? '')
  } catch {
    return undefined
  }
}

function parse (text: string): Claim | undefined {
  // A lock can be incomplete after a crash; LevelDB's own lock still protects the data.
  const { pid, started, directory, parent, ending } = readJson(text) ?? {}
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  const isNamed = typeof directory?.inode === 'string'
  return { pid, started, ending, ...(isNamed && { directory }), ...(Number.isSafeInteger(parent?.pid) && { parent }) }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

// `instance.json` holds the address of the service that uses a directory. It exists while that service holds the directory's
// lock. It does not prove that the service runs, and it holds no secret.

/** The contents of `instance.json`. */
interface Instance {
  url: string
  pid: number
  version: string
  /** Milliseconds since the epoch. */
  startedAt: number
}

const pathIn = (dir: string) => join(dir, 'instance.json')
const draftIn = (dir: string) => `${pathIn(dir)}.new`

/** Writes the file atomically, readable by its owner only. The caller holds the lock. */
export function writeInstance (dir: string, instance: Instance): void {
  rmSync(draftIn(dir), { force: true })
  writeFileSync(draftIn(dir), `${JSON.stringify(instance)}\n`, { flag: 'wx', mode: 0o600 })
  renameSync(draftIn(dir), pathIn(dir))
}

/** Removes the file, including one left by a killed process. The caller holds the lock. A failure is ignored. */
function removeInstance (dir: string): void {
  for (const path of [draftIn(dir), pathIn(dir)]) {
    try {
      rmSync(path, { force: true })
    } catch {
      // The file is only informative: a failure to remove it must not stop the service.
    }
  }
}

/** Returns the URL of the process that holds the lock; undefined when there is no valid file for that process. */
function urlOf (dir: string, pid: number): string | undefined {
  try {
    if (!statSync(pathIn(dir)).isFile()) return undefined
    const instance: Instance = JSON.parse(readFileSync(pathIn(dir), 'utf8'))
    return instance.pid === pid && /^http:\/\/[\w.:[\]-]+$/.test(instance.url) ? instance.url : undefined
  } catch {
    return undefined
  }
}
