import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { onceFree, syncFolder, writeAtomically } from '../../lib/file-system.ts'
import { moveDirectory, namesIn } from '../database-files.ts'
import { acquireLock, type LockOptions } from '../directory-lock.ts'

// Replaces all data of a directory with a staged database. The plan is first written atomically in one file. From then on, every
// start finishes the replacement; before that, nothing has changed. A process killed in between therefore leaves either the old
// data or the new.

/** Names of the staged database and the files that belong to it. */
export const NEXT = 'data.next'
export const NEXT_KEY = 'master.key.next'
export const NEXT_CONFIG = 'config.json.next'
/** The uploaded file of an import. */
export const UPLOAD = 'import.partial'
/** The replacement plan. */
const PLAN = 'replace.json'
export const LEFTOVERS = [NEXT, NEXT_KEY, NEXT_CONFIG, UPLOAD]
/** The data that was replaced, until it is removed. */
const OLD = 'data.replaced'

/** Whether the directory holds an unfinished or abandoned replacement. */
export const hasPendingReplacement = (dir: string): boolean => [PLAN, ...LEFTOVERS].some((name) => existsSync(join(dir, name)))

interface ReplacementPlan {
  /** Action for the key file: keep it, replace it, or remove it because a passphrase is used. */
  key: 'keep' | 'replace' | 'remove'
  /** Also removes copies from before repairs and migrations: they were written with the old key, which must become useless. */
  copies: boolean
}

/** Commits the replacement of the data by the staged files. The current data must not be written any more. */
export async function commitReplacement (dir: string, plan: ReplacementPlan): Promise<void> {
  await writeAtomically(join(dir, PLAN), JSON.stringify(plan))
  await syncFolder(dir)
}

/**
 * Finishes a committed replacement, or removes the files of one that was not committed. The caller holds the lock. Returns the
 * plan when there was one.
 */
export async function finishReplacement (dir: string): Promise<ReplacementPlan | undefined> {
  const at = (name: string) => join(dir, name)
  // Drafts of the plan left by a killed process.
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
  const put = (from: string, to: string) => onceFree(systemClock, undefined, () => rename(at(from), at(to)))
  if (existsSync(at(NEXT_KEY))) await put(NEXT_KEY, 'master.key')
  if (key === 'remove') await rm(at('master.key'), { force: true })
  if (existsSync(at(NEXT_CONFIG))) await put(NEXT_CONFIG, 'config.json')
  await syncFolder(dir)
  const isObsolete = (name: string) => name === OLD || name === UPLOAD || (copies && /^data\.(?:v\d|damaged-|repair|salvage)/.test(name))
  for (const name of (await namesIn(dir)).filter(isObsolete)) await rm(at(name), { recursive: true, force: true })
  await rm(at(PLAN), { force: true })
  await syncFolder(dir)
  return plan
}

/** Runs `finishReplacement` under the directory lock. Throws StoreInUse. */
export async function finishReplacementLocked (dir: string, options?: LockOptions): Promise<ReplacementPlan | undefined> {
  const lock = await acquireLock(dir, options)
  try {
    return await finishReplacement(dir)
  } finally {
    lock.release()
  }
}
