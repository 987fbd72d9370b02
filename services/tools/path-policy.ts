import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { join, posix, relative, sep, win32 } from 'node:path'
import { isShortName, readPath, shareOf } from '../lib/windows-path.ts'
import { identityOf, KERNEL_FOLDERS, PathRefused } from '../workspace/index.ts'

/** True if a path is the folder or inside it. Compares with a final separator, so that /work-evil does not count as inside /work. */
export function within (path: string, folder: string, separator = sep): boolean {
  return path === folder || path.startsWith(folder.endsWith(separator) ? folder : folder + separator)
}

/** A copy of a folder, in which a run works: `folder` is the real path of the copy, `real` that of the original. */
export interface CopiedFolder {
  folder: string
  real: string
}

/** The copies of folders in which runs work. */
export interface CopyView {
  /** Returns the copy that contains a folder, or is this folder; undefined for none. */
  copyAt(folder: string): CopiedFolder | undefined
  /** True if a path belongs to a copy, but not to the copy that `cwd` is in. */
  isForeign(path: string, cwd: string): boolean
  /** Returns the value with the paths of copies replaced by the paths of the original folders. */
  shown<T>(value: T): T
}

/**
 * Returns the path that a run in `cwd` means by an absolute path. If the run works in a copy, a path in the original folder means the same
 * path in the copy.
 */
export function pathMeant (path: string, cwd: string, copies: CopyView | undefined): string {
  const copy = copies?.copyAt(cwd)
  return copy !== undefined && within(path, copy.real) ? join(copy.folder, relative(copy.real, path)) : path
}

/** Converts a path in a copy to the path in the original folder. Returns any other path unchanged. */
export function realPathOf (path: string, copies: CopyView | undefined): string {
  const copy = copies?.copyAt(path)
  return copy === undefined ? path : join(copy.real, relative(copy.folder, path))
}

interface PathScope {
  workspace: string
  roots: string[]
  /** The service's own folder. It is never read, listed or changed, even inside an allowed root. */
  forbidden: string
  /** The copies of folders. A run that works in a copy uses the copy in place of the original folder. */
  copies?: CopyView
}

export interface PathPolicy {
  /**
   * Returns the absolute path that a text means, without access to the file system. Throws PathRefused if the text is not a path and, on
   * Windows, if the path is on another computer that holds none of the allowed folders.
   */
  meant(path: string, cwd: string): string
  /** Converts a path in the original folder to the path in the copy, for a run in a copy. Returns any other path unchanged. */
  inCopy(path: string, cwd: string): string
  /** Resolves `path` to a real path, following symbolic links. The path need not exist. Throws PathRefused if the path is not allowed. */
  resolve(path: string, cwd: string): Promise<string>
  /** Like `resolve`, but a symbolic link at the end of the path is not followed. The containing folder must exist. */
  locate(path: string, cwd: string): Promise<string>
  /** Like `locate`, for an absolute path from a record: it can contain names that callers are not allowed to use. */
  locateRecorded(path: string, cwd: string): Promise<string>
  /**
   * Throws PathRefused if removing the real path would also remove the workspace, cwd, a root or the service's folder. `givenCwd` can be a
   * symbolic link to cwd; then the link is protected as well.
   */
  assertRemovable(real: string, cwd: string, givenCwd: string): Promise<void>
  /** Returns true if a real path is the service's own folder or inside it. */
  isForbidden(real: string): Promise<boolean>
  /** Returns true if a file is a hard link to one of the service's own files. */
  owns(file: Identity & { nlink: bigint }): Promise<boolean>
  /** Returns the identities of the service's own folder and of everything in it, for a search over many files. */
  ownIdentities(): Promise<string[]>
}

interface Identity {
  dev: bigint
  ino: bigint
}

/** The longest accepted path, in UTF-16 units (PATH_MAX of Linux). */
const LONGEST_PATH = 4096

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

// eslint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/

const SHARED_MEMORY = '/dev/shm'

/** The file system functions that the policy uses. `realpath` returns names as they are stored: the long form, in its stored case. */
interface FileSystem {
  lstat: typeof lstat
  realpath(path: string): Promise<string>
  readlink(path: string): Promise<string>
  readdir(path: string, options?: { recursive?: boolean }): Promise<string[]>
}

/** The most symbolic links that are followed on the way to a path. */
const MOST_LINKS = 40

/**
 * Decides which paths tools are allowed to use: paths whose real path is inside the workspace, the call's cwd (a real path) or a root.
 * `scope` is read at every call, so getters in it can follow changes of the configuration. A checked path must be opened with
 * services/workspace/open-folder.ts, which detects if the path leads elsewhere by then. `platform` is the system that the paths belong to.
 */
export function createPathPolicy (
  scope: PathScope,
  { platform = process.platform, files = { lstat, realpath, readlink, readdir } }: { platform?: NodeJS.Platform, files?: FileSystem } = {}
): PathPolicy {
  const isWindows = platform === 'win32'
  const { basename, dirname, isAbsolute, join, parse, resolve, sep } = isWindows ? win32 : posix
  const { follow, realPlace, isIn, identify, inStoredForm } = createPlaces(files, platform)
  const rootsFor = (cwd: string) => [scope.workspace, cwd, ...scope.roots].filter(isAbsolute)

  const allowedRoots = async (cwd: string) => {
    const roots = rootsFor(cwd)
    const places = await Promise.all(roots.map(realPlace))
    // cwd was resolved before the call. A symbolic link that has replaced it since must not widen the allowed folders.
    if (places[roots.indexOf(cwd)] !== cwd) throw new PathRefused('The working directory was moved or replaced while it was used.')
    return [...new Set(places)]
  }
  const isForbidden = async (real: string) => isIn(real, await realPlace(scope.forbidden))
  /**
   * Returns the path with its network share spelled as in an allowed folder on that share; undefined if no allowed folder is on that share.
   */
  const onKnownShare = (path: string, cwd: string): string | undefined => {
    const share = shareOf(path)
    if (share === undefined) return path
    const root = rootsFor(cwd).find((each) => shareOf(each) === share)
    return root && parse(root).root + path.slice(parse(path).root.length)
  }
  const outside = (path: string, roots: readonly string[]) =>
    new PathRefused(`${JSON.stringify(path)} is outside the folders that may be used: ${roots.join(', ')}. Give a path inside one of them.`)

  function meant (path: string, cwd: string): string {
    assertReadable(path, isWindows)
    const reading = readPath(path, cwd, platform)
    if ('refused' in reading) throw new PathRefused(`${JSON.stringify(path)} ${reading.refused}.`)
    // Windows signs in at another computer as soon as a path on it is looked up.
    const known = isWindows ? onKnownShare(reading.path, cwd) : reading.path
    if (known === undefined) throw outside(path, rootsFor(cwd))
    return pathMeant(known, cwd, scope.copies)
  }

  /**
   * Throws PathRefused if a symbolic link on the way leads to an unknown computer, or to something that is not a folder or file. Such a
   * link is not followed.
   */
  async function assertNear (path: string, target: string, cwd: string, left = MOST_LINKS): Promise<void> {
    if (!isWindows) return
    const { root } = parse(target)
    let place = root
    for (const name of target.slice(root.length).split(sep)) {
      place = join(place, name)
      const stat = await files.lstat(place).catch(() => undefined)
      if (stat === undefined) return
      if (!stat.isSymbolicLink()) continue
      const reading = readPath(await files.readlink(place), dirname(place), platform)
      const known = 'refused' in reading || left === 0 ? undefined : onKnownShare(reading.path, cwd)
      if (known === undefined) throw outside(path, rootsFor(cwd))
      await assertNear(path, known, cwd, left - 1)
    }
  }

  /** Returns the path of an entry with its stored name. The given name can differ in case, or be a short name of Windows. */
  async function stored (folder: string, name: string): Promise<string> {
    const place = join(folder, name)
    const stat = platform === 'linux' ? undefined : await files.lstat(place).catch(() => undefined)
    if (stat === undefined) return place
    if (!stat.isSymbolicLink()) return files.realpath(place).then((real) => dirname(real) === folder ? real : place, () => place)
    if (isWindows && isShortName(name)) {
      throw new PathRefused(`${JSON.stringify(name)} may be the short form of another name: give the name as listDirectory shows it.`)
    }
    const names = await files.readdir(folder).catch((): string[] => [])
    return join(folder, names.includes(name) ? name : names.find((each) => each.toLowerCase() === name.toLowerCase()) ?? name)
  }

  async function check (path: string, real: string, cwd: string): Promise<void> {
    const shown = JSON.stringify(path)
    if (scope.copies?.isForeign(real, cwd)) throw new PathRefused(`${shown} belongs to another conversation's copy of a folder.`)
    if (await isForbidden(real)) throw new PathRefused(`${shown} belongs to the service itself and is off limits.`)
    const roots = await allowedRoots(cwd)
    if (!roots.some((root) => within(real, root, sep))) throw outside(path, roots)
    if (KERNEL_FOLDERS.some((folder) => within(real, folder)) && !within(real, SHARED_MEMORY)) {
      throw new PathRefused(`${shown} is not a place for files: devices and the kernel's own folders are off limits.`)
    }
  }

  /** Returns the real path of `target`, whose folder is on this computer or a known share. Errors name it as `path`. */
  async function locatePlace (path: string, target: string, cwd: string): Promise<string> {
    const folder = await follow(dirname(target))
    const real = await stored(folder.real, basename(target))
    await check(path, real, cwd)
    if (folder.broken) throw new PathRefused(`${JSON.stringify(path)} goes through a symbolic link that leads nowhere.`)
    return real
  }

  return {
    meant,
    inCopy: (path, cwd) => pathMeant(path, cwd, scope.copies),
    isForbidden,

    async owns (file) {
      if (file.nlink === 1n) return false
      const names = await files.readdir(scope.forbidden, { recursive: true }).catch(() => [])
      for (const name of names) if (same(file, await identify(join(scope.forbidden, name)))) return true
      return false
    },

    async ownIdentities () {
      const names = await files.readdir(scope.forbidden, { recursive: true }).catch(() => [])
      const found = await Promise.all(['.', ...names].map((name) => identify(join(scope.forbidden, name))))
      return found.filter((each) => each !== undefined).map(identityOf)
    },

    async resolve (path, cwd) {
      const target = await inStoredForm(meant(path, cwd), (place) => assertNear(path, place, cwd))
      const { real, broken } = await follow(target)
      await check(path, real, cwd)
      if (broken) throw new PathRefused(`${JSON.stringify(path)} goes through a symbolic link that leads nowhere.`)
      return real
    },

    async locate (path, cwd) {
      const target = await inStoredForm(meant(path, cwd), (place) => assertNear(path, dirname(place), cwd))
      return locatePlace(path, target, cwd)
    },

    async locateRecorded (path, cwd) {
      await assertNear(path, dirname(path), cwd)
      return locatePlace(path, path, cwd)
    },

    async assertRemovable (real, cwd, givenCwd) {
      // Names are protected as well: if a root is given as a symbolic link, the link itself is protected too.
      const named = [scope.workspace, cwd, givenCwd, ...scope.roots, scope.forbidden].map((path) => resolve(path))
      const protectedFolders = [...named, ...await allowedRoots(cwd), await realPlace(scope.forbidden)]
      for (const folder of [parse(real).root, ...protectedFolders]) {
        if (await isIn(folder, real)) {
          throw new PathRefused('The workspace, the working directory, the roots and what contains them cannot be deleted.')
        }
      }
    }
  }
}

function same (a: Identity, b: Identity | undefined): boolean {
  return b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function assertReadable (path: string, isWindows: boolean): void {
  if (CONTROL.test(path) || !path.isWellFormed()) throw new PathRefused('The path holds control characters or is not well-formed text.')
  if (path.length > LONGEST_PATH) throw new PathRefused(`The path is longer than ${LONGEST_PATH} characters.`)
  const [home] = (isWindows ? /^(?:~(?=$|[\\/])|%\w+%)/ : /^~(?=$|\/)/).exec(path) ?? []
  if (home !== undefined) {
    throw new PathRefused(`${JSON.stringify(home)} is not expanded: give an absolute path, or one relative to the working directory.`)
  }
}

/** Creates functions that resolve paths to real paths, by the rules of a system's file systems. */
function createPlaces (files: FileSystem, platform: NodeJS.Platform) {
  const { basename, dirname, join, resolve, sep } = platform === 'win32' ? win32 : posix

  const identify = (path: string): Promise<Identity | undefined> => files.lstat(path, { bigint: true }).catch(() => undefined)

  async function realPlace (path: string): Promise<string> {
    const reading = readPath(path, resolve('.'), platform)
    return (await follow('path' in reading ? reading.path : resolve(path))).real
  }

  /**
   * Returns true if the real path is the folder or inside it, by name, or because a parent has the device and inode of the folder. A folder
   * can have several names: in file systems that ignore case or Unicode normalization, and through bind mounts.
   */
  async function isIn (path: string, folder: string): Promise<boolean> {
    if (within(path, folder, sep)) return true
    const identity = await identify(folder)
    if (identity === undefined) return false
    for (let place = path; ; place = dirname(place)) {
      if (same(identity, await identify(place))) return true
      if (place === dirname(place)) return false
    }
  }

  /**
   * Returns the real path of the nearest existing parent, with the missing rest appended. `broken` is true if a symbolic link on the way
   * cannot be followed: a file created there would land at a path that was not checked.
   */
  async function follow (path: string): Promise<{ real: string, broken: boolean }> {
    const missing: string[] = []
    for (let place = path; ; place = dirname(place)) {
      const kind = await files.lstat(place).catch(() => undefined)
      if (kind !== undefined || place === dirname(place)) {
        const real = await files.realpath(place).catch(() => undefined)
        if (real !== undefined) return { real: join(real, ...missing), broken: false }
        if (place === dirname(place)) return { real: join(place, ...missing), broken: true }
        // A broken link is represented by its own location, because its target does not exist.
        const folder = await follow(dirname(place))
        return { real: join(folder.real, basename(place), ...missing), broken: true }
      }
      missing.unshift(basename(place))
    }
  }

  /**
   * Returns a path with its names in the Unicode form in which they are stored, if exactly one such entry exists: people and models write
   * an accented letter as one character, while disks from macOS store it as two. `check` is called before the file system is accessed.
   */
  async function inStoredForm (path: string, check: (path: string) => Promise<void>): Promise<string> {
    await check(path)
    if (ASCII.test(path)) return path
    const missing: string[] = []
    let place = path
    for (; place !== dirname(place) && await identify(place) === undefined; place = dirname(place)) missing.unshift(basename(place))
    const [name, ...rest] = missing
    if (name === undefined || ASCII.test(name)) return path
    const names = await files.readdir(place).catch((): string[] => [])
    const same = names.filter((each) => each.normalize('NFC') === name.normalize('NFC'))
    return same.length === 1 ? await inStoredForm(join(place, same[0], ...rest), check) : path
  }

  return { identify, realPlace, isIn, follow, inStoredForm }
}
