import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StoreInUse } from './errors.ts'
import { isRunning, ownIdentity, type Holder } from './identity.ts'

// LevelDB has a lock of its own, but a failed second opening in its process drops it. So this one is asked first:
// a file that names its holder, which a crash leaves behind and the next start takes over without waiting.
// File calls are synchronous: they take microseconds and keep the moments short in which starters can race.

export interface Lock {
  /** A dead holder's lock was in the way: its last threads may still be ending. */
  tookOver: boolean
  release (): void
}

/** Directories that this process holds, whatever happened to their lock files. */
const heldHere = new Set<string>()
/** Every round but the last lost a race against another starter. */
const ROUNDS = 20

/** Makes `{dir}/service.lock`. Throws StoreInUse, naming the holder, while a live process has it. */
export async function acquireLock (dir: string): Promise<Lock> {
  const path = join(realpathSync(dir), 'service.lock')
  if (heldHere.has(path)) throw new StoreInUse(dir, process.pid)
  heldHere.add(path)
  try {
    const mine = JSON.stringify(ownIdentity())
    const tookOver = await take(dir, path, mine)
    return { tookOver, release: () => release(path, mine) }
  } catch (error) {
    heldHere.delete(path)
    throw error
  }
}

async function take (dir: string, path: string, mine: string): Promise<boolean> {
  let tookOver = false
  for (let round = 0; round < ROUNDS; round++) {
    if (publish(path, mine)) return tookOver
    const found = contentOf(path)
    if (found === undefined) continue
    const holder = parse(found)
    if (holder !== undefined && await isRunning(holder)) throw new StoreInUse(dir, holder.pid)
    setAside(path, found)
    tookOver = true
  }
  throw new StoreInUse(dir)
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

function release (path: string, mine: string): void {
  if (contentOf(path) === mine) rmSync(path, { force: true })
  heldHere.delete(path)
}

function contentOf (path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function parse (text: string): Holder | undefined {
  try {
    const { pid, started } = JSON.parse(text)
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, started } : undefined
  } catch {
    return undefined // torn by a crash: LevelDB's own lock is the second line
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
