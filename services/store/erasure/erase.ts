import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../../../schemas/config.ts'
import { removeTree, syncFolder, writeAtomically } from '../../lib/file-system.ts'
import { namesIn, removeAll } from '../database-files.ts'
import { acquireLock, type LockOptions } from '../directory-lock.ts'

// Erases all data of a directory. A marker is written first, atomically. From then on, every start finishes the erasure before it opens
// anything. The marker is removed last.

const MARKER = 'erase.json'

/** The names that an erasure keeps. */
export const STAYS = ['config.json']

/**
 * The files of the service in its directory, in the order in which they are removed. The key goes first: without it nothing can be read.
 */
const ORDER = [
  /^master\.key(?:\..*)?$/, /^data$/, /^data\..+$/, /^undo$/, /^import\.partial$/, /^replace\.json(?:\..*)?$/, /^config\.json\..+$/,
  /^attachments$/, /^caches?$/, /^boxes$/
]

/** Returns the log file that a configuration names. */
export type LogFileOf = (dir: string, log: Config['log']) => { path: string } | undefined

export const hasPendingErasure = (dir: string): boolean => existsSync(join(dir, MARKER))

/** Commits the erasure: it is finished now or at the next start. Nothing is erased if this fails. */
export async function commitErasure (dir: string): Promise<void> {
  const marker = join(dir, MARKER)
  try {
    await writeAtomically(marker, '{}')
    await syncFolder(dir)
  } catch (error) {
    await rm(marker, { force: true }).catch(() => {})
    throw error
  }
}

/** Removes the data of the service, and its logs. The database must be closed, and the caller holds the lock. */
export async function eraseFiles (dir: string, logFile: LogFileOf): Promise<void> {
  const names = await namesIn(dir)
  for (const pattern of ORDER) {
    for (const name of names.filter((each) => pattern.test(each))) await (name === 'boxes' ? removeTree : removeAll)(join(dir, name))
    await syncFolder(dir)
  }
  // The copies of folders lie beside the directory, where tools are allowed to work.
  await rm(`${dir}-copies`, { recursive: true, force: true })
  for (const path of await logsOf(dir, logFile)) await rm(path, { force: true })
}

/**
 * Returns the paths of the log file that config.json names, of the default one, and of the older ones beside them. If config.json cannot be
 * read, only those of the default one.
 */
async function logsOf (dir: string, logFile: LogFileOf): Promise<string[]> {
  const config: Pick<Config, 'log'> = await readFile(join(dir, 'config.json'), 'utf8').then(JSON.parse).catch(() => ({}))
  const paths = [logFile(dir, { ...config.log, file: config.log?.file ?? true })?.path, logFile(dir, { file: true })?.path]
  const found = await Promise.all(paths.map(async (path) => {
    if (path === undefined) return []
    const name = basename(path)
    const names = await namesIn(dirname(path)).catch(() => [])
    return names.filter((each) => each === name || /^\.\d+$/.test(each.startsWith(name) ? each.slice(name.length) : ''))
      .map((each) => join(dirname(path), each))
  }))
  return [...new Set(found.flat())]
}

/** Finishes a committed erasure, under the directory lock. Throws StoreInUse. */
export async function finishErasureLocked (dir: string, { logFile, ...options }: LockOptions & { logFile: LogFileOf }): Promise<void> {
  const lock = await acquireLock(dir, options)
  try {
    await eraseFiles(dir, logFile)
    const drafts = (await namesIn(dir)).filter((name) => name.startsWith(`${MARKER}.`))
    for (const name of [...drafts, MARKER]) await rm(join(dir, name), { force: true })
    await syncFolder(dir)
  } finally {
    lock.release()
  }
}
