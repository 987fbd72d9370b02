import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, parse, resolve as absolute, sep } from 'node:path'
import { PathRefused } from './tool-errors.ts'

export interface PathScope {
  workspace: string
  roots: string[]
  /** The service's own folder: never read, listed or changed, wherever it lies. */
  forbidden: string
}

export interface PathPolicy {
  /** The real path that `path` stands for, symlinks followed; it need not exist yet. Throws PathRefused. */
  resolve(path: string, cwd: string): Promise<string>
  /** The same for the entry itself: a symlink in the last place is not followed. Its folder must exist. */
  locate(path: string, cwd: string): Promise<string>
  /**
   * Throws PathRefused when removing the real path would take the workspace, cwd, a root or the service's folder along.
   * `givenCwd` may be a symbolic link to cwd, which is kept, too.
   */
  removable(real: string, cwd: string, givenCwd: string): Promise<void>
  /** Whether a real path is the service's own folder or in it. */
  hidden(real: string): Promise<boolean>
  /** Whether a file is one of the service's own under another name: a hard link. */
  owns(file: Identity & { nlink: bigint }): Promise<boolean>
}

interface Identity {
  dev: bigint
  ino: bigint
}

/** Longest path taken, in UTF-16 units (PATH_MAX of Linux). */
const LONGEST_PATH = 4096

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Windows onto the kernel, other processes and devices, where reading can hang, leak or act. */
const KERNEL = process.platform === 'win32' ? [] : ['/proc', '/sys', '/dev']
const SHARED_MEMORY = '/dev/shm'

/**
 * Which paths the tools may use: those whose real place is within the workspace, the call's cwd (a real path) or a root. `scope` is
 * read at every call: hand in getters to follow a change of configuration. What is checked here must be opened with
 * folder.ts, which notices when the path means another place by then.
 */
export function createPathPolicy (scope: PathScope): PathPolicy {
  const allowedRoots = async (cwd: string) => {
    const roots = [scope.workspace, cwd, ...scope.roots].filter(isAbsolute)
    const places = await Promise.all(roots.map(realPlace))
    // Where cwd leads was found out before: a link that took its place since then gains nothing.
    if (places[roots.indexOf(cwd)] !== cwd) throw new PathRefused('The working directory was moved or replaced while it was used.')
    return [...new Set(places)]
  }
  const hidden = async (real: string) => isIn(real, await realPlace(scope.forbidden))

  async function check (path: string, real: string, cwd: string): Promise<void> {
    const shown = JSON.stringify(path)
    if (await hidden(real)) throw new PathRefused(`${shown} belongs to the service itself and is off limits.`)
    const roots = await allowedRoots(cwd)
    if (!roots.some((root) => within(real, root))) {
      throw new PathRefused(`${shown} is outside the folders that may be used: ${roots.join(', ')}. Give a path inside one of them.`)
    }
    if (KERNEL.some((folder) => within(real, folder)) && !within(real, SHARED_MEMORY)) {
      throw new PathRefused(`${shown} is not a place for files: devices and the kernel's own folders are off limits.`)
    }
  }

  return {
    hidden,

    async owns (file) {
      if (file.nlink === 1n) return false
      const names = await readdir(scope.forbidden, { recursive: true }).catch(() => [])
      for (const name of names) if (same(file, await identify(join(scope.forbidden, name)))) return true
      return false
    },

    async resolve (path, cwd) {
      const wanted = absolute(cwd, readable(path))
      const { real, broken } = await follow(wanted)
      await check(path, real, cwd)
      if (broken) throw new PathRefused(`${JSON.stringify(path)} goes through a symbolic link that leads nowhere.`)
      return real
    },

    async locate (path, cwd) {
      const wanted = absolute(cwd, readable(path))
      const folder = await follow(dirname(wanted))
      const real = join(folder.real, basename(wanted))
      await check(path, real, cwd)
      if (folder.broken) throw new PathRefused(`${JSON.stringify(path)} goes through a symbolic link that leads nowhere.`)
      return real
    },

    async removable (real, cwd, givenCwd) {
      // By name as well: a root may be given as a symlink, which is then kept, too.
      const named = [scope.workspace, cwd, givenCwd, ...scope.roots, scope.forbidden].map((path) => absolute(path))
      const kept = [...named, ...await allowedRoots(cwd), await realPlace(scope.forbidden)]
      for (const folder of [parse(real).root, ...kept]) {
        if (await isIn(folder, real)) {
          throw new PathRefused('The workspace, the working directory, the roots and what contains them cannot be deleted.')
        }
      }
    }
  }
}

/** Compared with a trailing separator: /work-evil is not within /work. */
function within (path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * Whether the real path is the folder or in it: by its name, or because a folder above it is the same one under another
 * name. Names differ in case, or in how characters are composed, where the file system does not tell them apart; and a
 * folder that is mounted elsewhere has two.
 */
async function isIn (path: string, folder: string): Promise<boolean> {
  if (within(path, folder)) return true
  const wanted = await identify(folder)
  if (wanted === undefined) return false
  for (let place = path; ; place = dirname(place)) {
    if (same(wanted, await identify(place))) return true
    if (place === dirname(place)) return false
  }
}

function identify (path: string): Promise<Identity | undefined> {
  return lstat(path, { bigint: true }).catch(() => undefined)
}

function same (a: Identity, b: Identity | undefined): boolean {
  return b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function readable (path: string): string {
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
 * The real path of the nearest parent that exists, with the missing rest appended. `broken` when a symlink on the way
 * cannot be followed: whatever is made there would land at a place that was not checked.
 */
async function follow (path: string): Promise<{ real: string, broken: boolean }> {
  const missing: string[] = []
  for (let place = path; ; place = dirname(place)) {
    const kind = await lstat(place).catch(() => undefined)
    if (kind !== undefined || place === dirname(place)) {
      const real = await realpath(place).catch(() => undefined)
      if (real !== undefined) return { real: join(real, ...missing), broken: false }
      if (place === dirname(place)) return { real: join(place, ...missing), broken: true }
      // It is known by its own place, not by where the link would lead.
      const folder = await follow(dirname(place))
      return { real: join(folder.real, basename(place), ...missing), broken: true }
    }
    missing.unshift(basename(place))
  }
}
