import { constants } from 'node:fs'
import { mkdir, open, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Folder, type PathPolicy, withFolder, withParent, withSubfolder } from '../tools/index.ts'
import { CopyGone, readCopy } from './entry-file.ts'
import { isSame, type FilePlace, type Item } from './undo-entry.ts'
import { inBatches, lookAt } from './survey.ts'
import type { Chain, Skipped } from './plan-undo.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** Failures of the disk, which end the undo. */
const DISK = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

/** The name under which an undo writes a file before it gets its own name; see `removeTemporaries`. */
const temporaryName = (entryId: string, at: number): string => `.${entryId}-${at}.tmp`

/** Removes the files that an undo was writing when it was cut off. */
export async function removeTemporaries (entryId: string, items: readonly Item[]): Promise<void> {
  await inBatches([...items.entries()], ([at, { path }]) =>
    withParent(path, (parent) => unlink(parent.entry(temporaryName(entryId, at)))).catch(() => {}))
}

interface RestoreParts {
  paths: PathPolicy
  folder: string
  /** The undo's own entry, and the number of the path in it. */
  entryId: string
  at: number
}

/** Takes back one change, if its path is still as the run left it. Returns why it could not; throws when the disk fails. */
export async function restore (step: Chain, { paths, folder, entryId, at }: RestoreParts): Promise<Skipped | undefined> {
  const { path } = step
  try {
    if (!isSame(await lookAt(path, step.left, { paths }), step.left)) return { path, reason: 'changed_since' }
    const writing = { folder, temporary: temporaryName(entryId, at) }
    await withParent(path, (parent, name) => putBack(step, parent, name, writing))
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (DISK.has(code)) throw error
    if (error instanceof CopyGone) return { path, reason: 'gone' }
    if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return { path, reason: 'not_allowed' }
    return { path, reason: code === 'ERR_PATH_REFUSED' || code === 'ELOOP' ? 'link' : 'changed_since' }
  }
}

interface Writing {
  folder: string
  temporary: string
}

async function putBack (step: Chain, parent: Folder, name: string, writing: Writing): Promise<void> {
  const { before, left } = step
  const place = parent.entry(name)
  // Of a folder the permissions come last, see completeFolders.
  if (isSame(before, left)) return before?.kind === 'file' ? changeMode(place, before.mode) : undefined
  const makeRoom = () => left === null ? undefined : left?.kind === 'folder' ? rmdir(place) : unlink(place)
  if (before?.kind === 'file') await writeFile(before, step, parent.entry(name), { ...writing, temporary: parent.entry(writing.temporary) })
  else {
    await makeRoom()
    // Its own mode comes last, because it may forbid what is still to be put into it.
    if (before?.kind === 'folder') await mkdir(place, 0o700)
    else if (before?.kind === 'link') await symlink(before.target, place)
  }
}

async function changeMode (place: string, mode: number): Promise<void> {
  const file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    await file.chmod(mode & 0o777)
  } finally {
    await file.close()
  }
}

async function writeFile ({ size, mode }: FilePlace, step: Chain, place: string, { folder, temporary }: Writing): Promise<void> {
  const { source, left } = step
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    try {
      for await (const bytes of readCopy({ folder, id: source!.id, key: source!.key }, source!.copy!, size)) await file.writeFile(bytes)
      await file.chmod(mode & 0o777)
      await file.sync()
    } finally {
      await file.close()
    }
    if (left?.kind === 'folder') await rmdir(place)
    await rename(temporary, place)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Whether a step needs no other: it puts something where nothing is. */
export const isIndependent = ({ before, left }: Chain): boolean => before !== null && before.kind !== 'folder' && left === null

/** Gives the folders that came back their modes, from the inside out, and syncs the folders that were changed. */
export async function completeFolders (steps: readonly Chain[]): Promise<void> {
  // Windows cannot sync a folder; a folder that was removed again needs no sync.
  const folders = new Set(steps.map(({ path }) => dirname(path)))
  await inBatches([...folders], (path) => withFolder(path, ({ handle }) => handle.sync()).catch(() => {}))
  for (const { path, before } of steps.toReversed()) {
    if (before?.kind !== 'folder') continue
    await withParent(path, (parent, name) => withSubfolder(parent, name, ({ handle }) => handle.chmod(before.mode))).catch(() => {})
  }
}
