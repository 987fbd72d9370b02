import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, type Clock } from '../lib/clock.ts'
import { StoreInUse } from './store-errors.ts'
import { isRunning, ownIdentity, type Holder } from '../process/process-identity.ts'
import { removeInstance, urlOf } from './instance-file.ts'

// LevelDB has a lock of its own, but a failed second opening in its process drops it. So this one is asked first:
// a file that names its holder, which a crash leaves behind and the next start takes over without waiting.
// A holder that is ending says so in its lock, and the next one waits for it.
// File calls are synchronous: they take microseconds and keep the moments short in which starters can race.

export interface Lock {
  /** A dead holder's lock was in the way: its last threads may still be ending. */
  tookOver: boolean
  release(): void
}

export interface LockOptions {
  clock?: Clock
  /** The process that this one ends with. */
  parent?: Holder
  /** Aborted when this process is told to end: the lock then says so, and waiting for it stops. */
  ending?: AbortSignal
}

/** What a lock file says. */
interface Claim extends Holder {
  parent?: Holder
  ending?: true
}

/** Directories that this process holds, whatever happened to their lock files. */
const heldHere = new Set<string>()
/** Every round but the last lost a race against another starter. */
const ROUNDS = 20
/** A service ends within 5 s of being told to, or of its parent's end, which it may notice a second late. */
const ENDING_MS = 6_000
const POLL_MS = 50

/**
 * Makes `{dir}/service.lock`. While a live process has it, throws StoreInUse, which names the holder; one that is ending is
 * waited for, 6 s at most.
 */
export async function acquireLock (dir: string, { clock = systemClock, parent, ending }: LockOptions = {}): Promise<Lock> {
  const path = join(realpathSync(dir), 'service.lock')
  if (heldHere.has(path)) throw new StoreInUse(dir, { pid: process.pid })
  heldHere.add(path)
  try {
    const claim: Claim = { ...ownIdentity(), ...(parent && { parent }) }
    let mine = JSON.stringify(claim)
    const tookOver = await take(dir, path, mine, { clock, ending })
    removeInstance(dir)
    const sayEnding = () => {
      mine = replace(path, mine, JSON.stringify({ ...claim, ending: true }))
    }
    if (ending?.aborted) sayEnding()
    ending?.addEventListener('abort', sayEnding)
    return {
      tookOver,
      release () {
        ending?.removeEventListener('abort', sayEnding)
        if (contentOf(path) === mine) {
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

/** Waits while the directory's lock is held by a process that is ending, 6 s at most. Throws StoreInUse after that. */
export async function waitForEnding (dir: string, { clock = systemClock, ending }: LockOptions): Promise<void> {
  const patience = createPatience(dir, { clock, ending })
  for (;;) {
    const holder = readLock(dir)
    if (holder === undefined || !await isRunning(holder) || !await isEnding(holder)) return
    await patience(holder)
  }
}

async function take (dir: string, path: string, mine: string, options: LockOptions): Promise<boolean> {
  const patience = createPatience(dir, options)
  let tookOver = false
  for (let round = 0; round < ROUNDS; round++) {
    if (publish(path, mine)) return tookOver
    const found = contentOf(path)
    if (found === undefined) continue
    const holder = parse(found)
    if (holder !== undefined && await isRunning(holder)) {
      await patience(holder)
      round = 0
      continue
    }
    setAside(path, found)
    tookOver = true
  }
  throw new StoreInUse(dir)
}

/** What waits a moment for a live holder that is ending, and throws StoreInUse for any other, or when it has waited long enough. */
function createPatience (dir: string, { clock = systemClock, ending }: LockOptions) {
  const until = clock.monotonic() + ENDING_MS
  return async (holder: Claim): Promise<void> => {
    const isLate = clock.monotonic() >= until
    if (isLate || !await isEnding(holder)) throw new StoreInUse(dir, { pid: holder.pid, url: urlOf(dir, holder.pid), isLate })
    await clock.sleep(POLL_MS, ending)
  }
}

/** Whether the live holder says so, or will as soon as it notices that its parent is gone. */
async function isEnding ({ ending, parent }: Claim): Promise<boolean> {
  return ending === true || (parent !== undefined && !await isRunning(parent))
}

/** Links a written file into place, so that no one ever reads half a lock. False when there is one already. */
function publish (path: string, mine: string): boolean {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, mine, { flag: 'wx', mode: 0o600 })
  try {
    link(draft, path, mine)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Some file systems (FAT, a few network ones) have no hard links: there the lock is created and then written. */
function link (draft: string, path: string, mine: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error
    writeFileSync(path, mine, { flag: 'wx', mode: 0o600 })
  }
}

/** Takes a dead holder's lock away. What a faster starter has put there meanwhile is given back. */
function setAside (path: string, stale: string): void {
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

/** Puts other contents into a lock that is ours, whole. Returns what it then holds. */
function replace (path: string, mine: string, next: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    if (contentOf(path) !== mine) return mine
    writeFileSync(draft, next, { flag: 'wx', mode: 0o600 })
    renameSync(draft, path)
    return next
  } catch {
    // A full disk keeps no service from ending; the next one is then told that this one still runs.
    rmSync(draft, { force: true })
    return mine
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

/** What the lock of a directory says; undefined when there is none, or no such directory. */
function readLock (dir: string): Claim | undefined {
  try {
    return parse(contentOf(join(dir, 'service.lock')) ?? '')
  } catch {
    return undefined
  }
}

function parse (text: string): Claim | undefined {
  try {
    const { pid, started, parent, ending } = JSON.parse(text)
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, started, ending, ...(Number.isSafeInteger(parent?.pid) && { parent }) } : undefined
  } catch {
    return undefined // torn by a crash: LevelDB's own lock is the second line
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
