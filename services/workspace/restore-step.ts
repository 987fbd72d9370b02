import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { UndoReason } from '../../schemas/undo.ts'
import type { Clock } from '../lib/clock.ts'
import { onceFree } from '../lib/file-system.ts'
import { CopyGone } from '../lib/sealed-file.ts'
import { readSource } from './contents.ts'
import { type Folder, type OwnFiles, temporaryName, withFolder, withParent } from './open-folder.ts'
import { isRead, isSame, type FilePlace } from './places.ts'
import { isModeAlone, type Chain, type Skipped } from './plan-restore.ts'
import { inBatches, isSpelledOtherwise, lookAt } from './survey.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** A flag of Linux that Node does not define: such a descriptor identifies a file without the right to read it. */
const O_PATH = 0o10000000
/** Failures of the disk, after which the undo ends. */
const DISK = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

/** The reasons for error codes of system calls: somebody used the path at the same moment, or the service has no right to it. */
const REASONS: Record<string, UndoReason> = {
  EACCES: 'not_allowed',
  EBUSY: 'not_allowed',
  EPERM: 'not_allowed',
  EROFS: 'not_allowed',
  ELOOP: 'link',
  ERR_PATH_REFUSED: 'link',
  EEXIST: 'changed_since',
  EISDIR: 'changed_since',
  ENOENT: 'changed_since',
  ENOTDIR: 'changed_since',
  ENOTEMPTY: 'changed_since'
}

export interface RestoreParts {
  clock: Clock
  paths: OwnFiles
  folder: string
  /** The folder in which files are written before they get their names; absent: the folder of the path itself. */
  drafts?: string
  /** True if the file has other hard links that do not get the same permissions: then the path becomes a file of its own. */
  isLinked?: boolean
}

/** Undoes one change, if its path is still as the run left it. Returns why it could not; throws if the disk fails. */
export async function restoreStep (
  step: Chain,
  { clock, paths, folder, drafts, isLinked = false }: RestoreParts
): Promise<Skipped | undefined> {
  const { path } = step
  try {
    if (!isSame(await lookAt(path, step.left, { paths }), step.left)) return { path, reason: 'changed_since' }
    // If a path with another spelling of the name exists, it is left unchanged: the file system has no room for both.
    if (step.left === null && await isSpelledOtherwise(path)) return { path, reason: 'changed_since' }
    const writing = { clock, paths, folder, drafts }
    const put = (what: Chain) => withParent(path, (parent, name) => putBack(what, parent, name, writing))
    if (!isModeAlone(step)) await put(step)
    else if (step.before?.kind === 'file' && isLinked) {
      if (!isRead(step.before)) return { path, reason: 'too_large' }
      await put({ ...step, source: { from: path } })
    } else if (step.before?.kind === 'file') return await giveBackMode(step, step.before, paths)
    // The permissions of folders are restored last, see completeFolders.
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (DISK.has(code)) throw error
    if (error instanceof CopyGone) return { path, reason: 'gone' }
    return { path, reason: REASONS[code] ?? 'failed', ...REASONS[code] === undefined && { error } }
  }
}

type Writing = Pick<RestoreParts, 'clock' | 'paths' | 'folder' | 'drafts'>

async function putBack (step: Chain, parent: Folder, name: string, writing: Writing): Promise<void> {
  const { before, left } = step
  if (before?.kind === 'file') return writeFile(before, step, parent, name, writing)
  const place = parent.entry(name)
  if (left !== null) await onceFree(writing.clock, undefined, () => left?.kind === 'folder' ? rmdir(place) : unlink(place))
  // The mode of the folder is set last, because it might forbid to put something into the folder.
  if (before?.kind === 'folder') await mkdir(place, 0o700)
  else if (before?.kind === 'link') await symlink(before.target, place)
}

/**
 * Restores the permissions of a file. If the file could not be read before, its content is examined afterwards: if somebody has written to
 * the file, it is left unchanged.
 */
async function giveBackMode (step: Chain, before: FilePlace, paths: OwnFiles): Promise<Skipped | undefined> {
  const { path, left } = step
  await changeMode(path, before)
  if (isSame(await lookAt(path, before, { paths }), before)) return undefined
  if (left?.kind === 'file') await changeMode(path, left)
  return { path, reason: 'changed_since' }
}

/** Changes the permissions of a file or folder, even if it cannot be read. Links are not followed. */
function changeMode (path: string, { kind, mode }: { kind: 'file' | 'folder', mode: number }): Promise<void> {
  // Windows has only the mark "read-only" of a file, which is set by its path.
  if (process.platform === 'win32') {
    return withParent(path, async (parent, name) => {
      if (kind === 'file' && (await lstat(parent.entry(name))).isFile()) await chmod(parent.entry(name), mode & 0o777)
    })
  }
  return withParent(path, async (parent, name) => {
    const isLinux = process.platform === 'linux'
    const file = await open(parent.entry(name), (isLinux ? O_PATH : O_RDONLY | O_NONBLOCK) | O_NOFOLLOW)
    try {
      const stat = await file.stat()
      if (kind === 'file' ? !stat.isFile() : !stat.isDirectory()) throw new Error('something else is there')
      await (isLinux ? chmod(`/proc/self/fd/${file.fd}`, mode & 0o777) : file.chmod(mode & 0o777))
    } finally {
      await file.close()
    }
  })
}

async function writeFile (before: FilePlace, { source, left }: Chain, parent: Folder, name: string, writing: Writing): Promise<void> {
  const { clock, drafts } = writing
  const place = parent.entry(name)
  const temporary = drafts === undefined ? parent.entry(temporaryName()) : join(drafts, temporaryName())
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    try {
      await readSource(source, before, writing, (bytes) => file.writeFile(bytes))
      await file.chmod(before.mode & 0o777)
      // A file of a copy needs no sync, because it can be copied again.
      if (drafts === undefined) await file.sync()
    } finally {
      await file.close()
    }
    if (left?.kind === 'folder') await rmdir(place)
    await onceFree(clock, undefined, () => rename(temporary, place))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Whether a step is independent of the others: it makes something where nothing is. */
export const isIndependent = ({ before, left }: Chain): boolean => before !== null && before.kind !== 'folder' && left === null

/**
 * Sets the modes of the restored folders, from the inside out, and syncs the folders that were changed. Returns the steps whose mode could
 * not be set.
 */
export async function completeFolders (steps: readonly Chain[]): Promise<Chain[]> {
  // Windows cannot sync a folder; a folder that was removed again needs no sync.
  const folders = new Set(steps.map(({ path }) => dirname(path)))
  await inBatches([...folders], (path) => withFolder(path, ({ handle }) => handle.sync()).catch(() => {}))
  const refused: Chain[] = []
  for (const step of steps.toReversed()) {
    if (step.before?.kind === 'folder') await changeMode(step.path, step.before).catch(() => refused.push(step))
  }
  return refused
}
