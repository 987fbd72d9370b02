import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ChangedPath, FileChanges, ShownPlace } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { isSameFolder, locateFolder } from '../work-folder.ts'
import { contentDigest, readFile } from './change-digest.ts'
import { type Folder, type Place, surveyEntry, withFolder, withParent } from '../../workspace/index.ts'
import { changedNow } from './replace-file.ts'

type Owns = Pick<PathPolicy, 'owns'>

const NOTHING = 'nothing'

/**
 * Returns the state of an entry in an open folder, as a text that changes with the entry's content, kind or permissions. It contains a
 * digest for a file, and the target for a link. With `withContents`, the state of a folder covers all names and modification times below
 * it.
 */
export async function stateOf (
  folder: Folder,
  name: string,
  paths: Owns,
  { withContents = false, signal }: { withContents?: boolean, signal: AbortSignal }
): Promise<string> {
  const [found] = await surveyEntry(folder, name, { paths, signal, read: (file, size) => readFile(file, size, signal) })
  const state = stateText(found?.before ?? null)
  if (!withContents || found?.before?.kind !== 'folder') return state
  const [, ...inner] = await surveyEntry(folder, name, { withContents, paths, signal })
  const lines = inner.map(({ path, before }) => `${path.slice(found.path.length)}\0${stateText(before)}`).sort()
  return `${state} ${createHash('sha256').update(lines.join('\n\0')).digest('base64url')}`
}

function stateText (place: Place): string {
  if (place === null) return NOTHING
  if (place.kind === 'link') return `link ${place.target}`
  if (place.kind === 'other') return 'other'
  return `${place.kind} ${place.kind === 'file' ? `${place.digest} ` : ''}${place.mode.toString(8)}`
}

/** True if a state from `stateOf` means that nothing is there. */
export const isNothing = (state: string | undefined): boolean => state === NOTHING

/**
 * Returns the content digest and the permissions in a file's state; undefined for another kind of entry, or a file that could not be read.
 */
export function fileIn (state: string | undefined): { digest: string, mode: number } | undefined {
  const [, digest, mode] = /^file (sha256:\S+) ([0-7]+)$/.exec(state ?? '') ?? []
  return digest === undefined ? undefined : { digest, mode: parseInt(mode, 8) }
}

async function existingParent (path: string): Promise<ShownPlace['parent']> {
  const folder = dirname(path)
  const found = await locateFolder(folder)
  if (found !== undefined) return { path: found.path, dev: found.dev, ino: found.ino }
  if (folder === path) throw new ToolFailed(`${JSON.stringify(path)} cannot be reached.`)
  return existingParent(folder)
}

/**
 * Returns the state of each path that a call would change: the present state or, if `ahead` has the path, the state after the earlier calls
 * of the step.
 */
export function lookAtPlaces (
  places: readonly ChangedPath[],
  { paths, ahead, signal }: { paths: Owns, ahead?: FileChanges, signal: AbortSignal }
): Promise<ShownPlace[]> {
  return Promise.all(places.map(async ({ path, withContents }): Promise<ShownPlace> => {
    const parent = await existingParent(path)
    const coming = ahead?.get(path)
    if (coming === null) return { path, parent, state: NOTHING }
    if (coming !== undefined) {
      const mode = ((await lstat(path).catch(() => undefined))?.mode ?? 0o666 & ~process.umask()) & 0o777
      return { path, parent, state: stateText({ kind: 'file', digest: contentDigest(coming), size: coming.length, mode }) }
    }
    return { path, parent, state: await stateAt(path, paths, { withContents, signal }) }
  }))
}

/** Returns the present state of a real path, see `stateOf`. */
function stateAt (path: string, paths: Owns, options: { withContents?: boolean, signal: AbortSignal }): Promise<string> {
  return withParent(path, (folder, name) => stateOf(folder, name, paths, options)).catch((error) => {
    if (['ENOENT', 'ENOTDIR'].includes(error.code)) return NOTHING
    throw error
  })
}

/**
 * Returns the paths whose state differs from the shown one, or whose nearest existing folder was moved or replaced. New folders on the way
 * to a path do not count.
 */
export async function changedPlaces (shown: readonly ShownPlace[], now: readonly ShownPlace[]): Promise<string[]> {
  const changed = await Promise.all(now.map(async ({ path, state, parent }) => {
    const then = shown.find((place) => place.path === path)
    if (then === undefined || (then.state !== undefined && then.state !== state) || then.parent.dev !== parent.dev) return true
    const folder = await locateFolder(then.parent.path)
    return folder === undefined || folder.path !== then.parent.path || !isSameFolder(folder, then.parent)
  }))
  return now.filter((_, at) => changed[at]).map(({ path }) => path)
}

/** Returns the reason, for the user, why a call must be approved again. */
export const changedSince = (paths: readonly string[]): string =>
  `${paths.slice(0, 3).map((path) => JSON.stringify(path)).join(', ')}${paths.length > 3 ? ' and others' : ''} changed after this was ` +
  'asked. The call was not run; look at what it would change now.'

/**
 * Throws ToolFailed unless the entry has the state that the approval showed, and the folder is the same one. `shown` is absent for calls
 * that are not bound to a state.
 */
export async function assertShown (
  folder: Folder,
  name: string,
  { paths, shown, withContents, signal }: { paths: Owns, shown?: readonly ShownPlace[], withContents?: boolean, signal: AbortSignal }
): Promise<void> {
  const place = shown?.find(({ path }) => path === join(folder.path, name))
  if (place === undefined) return
  await assertParent(folder, place)
  if (place.state === undefined) return
  if (await stateOf(folder, name, paths, { withContents, signal }) !== place.state) throw changedNow(place.path)
}

async function assertParent (folder: Folder, { path, parent }: ShownPlace): Promise<void> {
  const same = (stat: BigIntStats) => isSameFolder(parent, { dev: String(stat.dev), ino: String(stat.ino) })
  if (folder.path === parent.path) {
    if (same(await folder.handle.stat({ bigint: true }))) return
  } else if (await withFolder(parent.path, async ({ handle }) => same(await handle.stat({ bigint: true }))).catch(() => false)) return
  throw changedNow(path)
}
