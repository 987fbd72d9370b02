import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { moveDirectory, namesIn, syncDirectory } from '../database-files.ts'
import { acquireLock, type LockOptions } from '../directory-lock.ts'
import { LEFTOVERS, NEXT, NEXT_CONFIG, NEXT_KEY, PLAN, UPLOAD } from './pending.ts'

// All data of a directory are replaced by data that lie there ready. What there is to do is written first, in one file,
// whole or not at all: from then on every start does it to its end; before, nothing has changed. So whoever is killed
// in between leaves the old data or the new.

const OLD = 'data.replaced'

export interface ReplacementPlan {
  /** What becomes of the key file: it stays, is replaced, or goes since there is a passphrase. */
  key: 'keep' | 'replace' | 'remove'
  /** Copies from before repairs and migrations go as well: they were written with a key that is to be of no use. */
  copies: boolean
}

/** Decides that what lies ready takes its place. Nobody may write to the data any more. */
export async function commitReplacement (dir: string, plan: ReplacementPlan): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(join(dir, PLAN), JSON.stringify(plan), { mode: 0o600, fsync: true })
  await syncDirectory(dir)
}

/** Does what was decided, or clears away what was not. The caller holds the lock. Returns what was decided, if anything was. */
export async function finishReplacement (dir: string): Promise<ReplacementPlan | undefined> {
  const at = (name: string) => join(dir, name)
  // What a process that was killed while it decided has left.
  for (const name of (await namesIn(dir)).filter((name) => name.startsWith(`${PLAN}.`))) await rm(at(name), { force: true })
  const text = await readFile(at(PLAN), 'utf8').catch(() => undefined)
  if (text === undefined) {
    for (const name of LEFTOVERS) await rm(at(name), { recursive: true, force: true })
    return undefined
  }
  const plan: ReplacementPlan = JSON.parse(text)
  const { key, copies } = plan
  if (existsSync(at(NEXT))) {
    if (existsSync(at('data'))) await moveDirectory(at('data'), at(OLD))
    await moveDirectory(at(NEXT), at('data'))
  }
  if (existsSync(at(NEXT_KEY))) await rename(at(NEXT_KEY), at('master.key'))
  if (key === 'remove') await rm(at('master.key'), { force: true })
  if (existsSync(at(NEXT_CONFIG))) await rename(at(NEXT_CONFIG), at('config.json'))
  await syncDirectory(dir)
  const gone = (name: string) => name === OLD || name === UPLOAD || (copies && /^data\.(?:v\d|damaged-|repair|salvage)/.test(name))
  for (const name of (await namesIn(dir)).filter(gone)) await rm(at(name), { recursive: true, force: true })
  await rm(at(PLAN), { force: true })
  await syncDirectory(dir)
  return plan
}

/** The same for who does not hold the lock. Throws StoreInUse. */
export async function finishReplacementLocked (dir: string, options?: LockOptions): Promise<ReplacementPlan | undefined> {
  const lock = await acquireLock(dir, options)
  try {
    return await finishReplacement(dir)
  } finally {
    lock.release()
  }
}
