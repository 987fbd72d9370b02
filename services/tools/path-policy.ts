import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, parse, resolve as absolute } from 'node:path'
import { type CopyView, pathMeant } from './copy-view.ts'
import { within } from './path-within.ts'
import { PathRefused } from './tool-errors.ts'

export { within } from './path-within.ts'

export interface PathScope {
  workspace: string
  roots: string[]
  /** The service's own folder: it is never read, listed or changed, even inside an allowed root. */
  forbidden: string
  /** The copies of folders: a run that works in one uses it in the place of its folder. */
  copies?: CopyView
}

export interface PathPolicy {
  /** Resolves `path` to a real path, following symlinks. The path need not exist yet. Throws PathRefused when it is not allowed. */
  resolve(path: string, cwd: string): Promise<string>
  /** Like `resolve`, but does not follow a symlink in the last place. The folder must exist. */
  locate(path: string, cwd: string): Promise<string>
  /**
   * Throws PathRefused when removing the real path would also remove the workspace, cwd, a root or the service's folder.
   * `givenCwd` may be a symbolic link to cwd; the link is protected as well.
   */
  assertRemovable(real: string, cwd: string, givenCwd: string): Promise<void>
  /** Returns whether a real path is the service's own folder or inside it. */
  isForbidden(real: string): Promise<boolean>
  /** Returns whether a file is a hard link to one of the service's own files. */
  owns(file: Identity & { nlink: bigint }): Promise<boolean>
  /** Returns the identities of the service's own folder and all that is in it, for a search that looks at many files. */
  ownIdentities(): Promise<string[]>
}

interface Identity {
  dev: bigint
  ino: bigint
}

/** Longest accepted path, in UTF-16 units (PATH_MAX of Linux). */
const LONGEST_PATH = 4096

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** File systems of the kernel: reading there can hang, disclose data of other processes or operate a device. */
export const KERNEL_FOLDERS = process.platform === 'win32' ? [] : ['/proc', '/sys', '/dev']
const SHARED_MEMORY = '/dev/shm'

/**
 * Decides which paths the tools may use: paths whose real path is within the workspace, the call's cwd (a real path) or a root.
 * `scope` is read at every call; pass getters to follow changes of the configuration. A checked path must be opened with
 * files/open-folder.ts, which detects that the path leads elsewhere by then.
 */
export function createPathPolicy (scope: PathScope): PathPolicy {
  const allowedRoots = async (cwd: string) => {
    const roots = [scope.workspace, cwd, ...scope.roots].filter(isAbsolute)
    const places = await Promise.all(roots.map(realPlace))
    // cwd was resolved before the call: a symlink that has replaced it since must not widen the allowed folders.
    if (places[roots.indexOf(cwd)] !== cwd) throw new PathRefused('The working directory was moved or replaced while it was used.')
    return [...new Set(places)]
  }
  const placeOf = (path: string, cwd: string) => pathMeant(absolute(cwd, assertReadable(path)), cwd, scope.copies)
  const isForbidden = async (real: string) => isIn(real, await realPlace(scope.forbidden))

  async function check (path: string, real: string, cwd: string): Promise<void> {
    const shown = JSON.stringify(path)
    if (scope.copies?.isForeign(real, cwd)) throw new PathRefused(`${shown} belongs to another conversation's copy of a folder.`)
    if (await isForbidden(real)) throw new PathRefused(`${shown} belongs to the service itself and is off limits.`)
    const roots = await allowedRoots(cwd)
    if (!roots.some((root) => within(real, root))) {
      throw new PathRefused(`${shown} is outside the folders that may be used: ${roots.join(', ')}. Give a path inside one of them.`)
    }
    if (KERNEL_FOLDERS.some((folder) => within(real, folder)) && !within(real, SHARED_MEMORY)) {
      throw new PathRefused(`${shown} is not a place for files: devices and the kernel's own folders are off limits.`)
    }
  }

  return {
    isForbidden,

    async owns (file) {
      if (file.nlink === 1n) return false
      const names = await readdir(scope.forbidden, { recursive: true }).catch(() => [])
      for (const name of names) if (same(file, await identify(join(scope.forbidden, name)))) return true
      return false
    },

    async ownIdentities () {
      const names = await readdir(scope.forbidden, { recursive: true }).catch(() => [])
      const found = await Promise.all(['.', ...names].map((name) => identify(join(scope.forbidden, name))))
      return found.filter((each) => each !== undefined).map(identityOf)
    },

    async resolve (path, cwd) {
      const { real, broken } = await follow(placeOf(path, cwd))
      await check(path, real, cwd)
      if (broken) throw new PathRefused(`${JSON.stringify(path)} goes through a symbolic link that leads nowhere.`)
      return real
    },

    async locate (path, cwd) {
      const target = placeOf(path, cwd)
      const folder = await follow(dirname(target))
      const real = join(folder.real, basename(target))
      await check(path, real, cwd)
      if (folder.broken) throw new PathRefused(`${JSON.stringify(path)} goes through a symbolic link that leads nowhere.`)
      return real
    },

    async assertRemovable (real, cwd, givenCwd) {
      // Checked by name as well: a root may be given as a symlink, and the link itself is protected too.
      const named = [scope.workspace, cwd, givenCwd, ...scope.roots, scope.forbidden].map((path) => absolute(path))
      const protectedFolders = [...named, ...await allowedRoots(cwd), await realPlace(scope.forbidden)]
      for (const folder of [parse(real).root, ...protectedFolders]) {
        if (await isIn(folder, real)) {
          throw new PathRefused('The workspace, the working directory, the roots and what contains them cannot be deleted.')
        }
      }
    }
  }
}

/**
 * Returns whether the real path is the folder or inside it: by its name, or because a parent has the same device and inode. One
 * folder can have several names: in file systems that ignore case or Unicode normalization, and with bind mounts.
 */
async function isIn (path: string, folder: string): Promise<boolean> {
  if (within(path, folder)) return true
  const identity = await identify(folder)
  if (identity === undefined) return false
  for (let place = path; ; place = dirname(place)) {
    if (same(identity, await identify(place))) return true
    if (place === dirname(place)) return false
  }
}

function identify (path: string): Promise<Identity | undefined> {
  return lstat(path, { bigint: true }).catch(() => undefined)
}

/** Returns the identity of a file or folder as text. */
export const identityOf = ({ dev, ino }: Identity): string => `${dev}:${ino}`

function same (a: Identity, b: Identity | undefined): boolean {
  return b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function assertReadable (path: string): string {
  if (CONTROL.test(path) || !path.isWellFormed()) throw new PathRefused('The path holds control characters or is not well-formed text.')
  if (path.length > LONGEST_PATH) throw new PathRefused(`The path is longer than ${LONGEST_PATH} characters.`)
  if (path === '~' || path.startsWith('~/')) {
    throw new PathRefused('"~" is not expanded: give an absolute path, or one relative to the working directory.')
  }
  return path
}

async function realPlace (path: string): Promise<string> {
  return (await follow(absolute(path))).real
}

/**
 * Returns the real path of the nearest parent that exists, with the missing rest appended. `broken` means that a symlink on the way
 * cannot be followed: a file created there would land at a path that was not checked.
 */
async function follow (path: string): Promise<{ real: string, broken: boolean }> {
  const missing: string[] = []
  for (let place = path; ; place = dirname(place)) {
    const kind = await lstat(place).catch(() => undefined)
    if (kind !== undefined || place === dirname(place)) {
      const real = await realpath(place).catch(() => undefined)
      if (real !== undefined) return { real: join(real, ...missing), broken: false }
      if (place === dirname(place)) return { real: join(place, ...missing), broken: true }
      // A broken link is identified by its own location, not by its target.
      const folder = await follow(dirname(place))
      return { real: join(folder.real, basename(place), ...missing), broken: true }
    }
    missing.unshift(basename(place))
  }
}
