import { constants, lstatSync, readdirSync } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isIn, unfitReason } from './box-places.ts'
import { leadsTo } from './git-links.ts'
import { closeHeld, type Held, holdEntry } from './held.ts'
import { readSmall } from './read-small.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** A repository that a working folder belongs to, and whose git directory lies outside of the folder. */
export interface RepositoryAbove {
  /** Its work tree: the working folder, or a folder above it. */
  top: string
  /** Its git directory with objects and branches. */
  common: string
  /** The git directory of this work tree: `common`, or that of a linked worktree in `common`. */
  own: string
}

/**
 * The repository above a working folder: one that a box (a sandbox) can show, or one that it hides, with a clause that says why. Empty if
 * there is none.
 */
export interface Above {
  repository?: RepositoryAbove
  hidden?: { top: string, why: string }
}

/** Names in a git directory that git acts on, or that lead git elsewhere. A box is allowed to read them. */
const OBEYED_BY_GIT = ['config', 'config.worktree', 'commondir', 'gitdir', 'hooks', 'info', 'modules', 'remotes', 'branches']
/** The most other worktrees that are made read-only. A command could lead a worktree to settings of its own. */
const MOST_WORKTREES = 64

/**
 * Finds the repository that a working folder (a real path) belongs to, if the git directory lies outside of the folder; {} if there is
 * none, or if the git directory is in the folder.
 */
export async function findRepositoryAbove (folder: string, ownHome: string): Promise<Above> {
  for (let top = folder; ; top = dirname(top)) {
    const git = join(top, '.git')
    const entry = await lstat(git).catch(() => undefined)
    if (entry?.isDirectory() && await isGitDirectory(git)) {
      return top === folder ? {} : check({ top, common: git, own: git }, ownHome)
    }
    if (entry?.isFile()) return findLinked(top, folder, ownHome)
    if (entry?.isSymbolicLink()) return { hidden: { top, why: 'its .git is a link' } }
    if (dirname(top) === top) return {}
  }
}

const isGitDirectory = async (path: string): Promise<boolean> =>
  (await Promise.all(['HEAD', 'objects', 'refs'].map((name) => lstat(join(path, name)).catch(() => undefined)))).every(Boolean)

/**
 * Finds the git directory that the file .git of a worktree or submodule names. That git directory must name the folder in return. Otherwise
 * a file .git, which anybody can have written, could open any repository of the user.
 */
async function findLinked (top: string, folder: string, ownHome: string): Promise<Above> {
  const hidden = (why: string): Above => ({ hidden: { top, why } })
  const named = await leadsTo(join(top, '.git'))
  if (named === undefined) return {}
  const own = await realpath(named).catch(() => undefined)
  if (own === undefined) return hidden('its git directory is not there')
  if (isIn(folder, own)) return {}
  const common = resolve(own, (await readSmall(join(own, 'commondir')) ?? '').trim())
  if (common === own) {
    const [, worktree] = /^\tworktree = ([^"\\\n]+)$/m.exec(await readSmall(join(own, 'config')) ?? '') ?? []
    const isNamed = worktree !== undefined && resolve(own, worktree) === top
    return isNamed && await isGitDirectory(own) ? check({ top, common: own, own }, ownHome) : hidden('its git directory does not name it')
  }
  const isWorktree = common === dirname(dirname(own)) && basename(dirname(own)) === 'worktrees' && await isGitDirectory(common)
  const isNamed = resolve(own, (await readSmall(join(own, 'gitdir')) ?? '').trim()) === join(top, '.git')
  return isWorktree && isNamed ? check({ top, common, own }, ownHome) : hidden('its git directory does not name it')
}

async function check (repository: RepositoryAbove, ownHome: string): Promise<Above> {
  const { top, common, own } = repository
  const places = [top, common, ...basename(common) === '.git' ? [dirname(common)] : []]
  if (places.some((each) => unfitReason(each, ownHome) !== undefined)) {
    return { hidden: { top, why: 'it is the repository of a home, of the system or of this service' } }
  }
  for (const folder of new Set([common, own])) {
    if ((await lstat(folder)).uid !== process.getuid?.()) return { hidden: { top, why: 'it belongs to another user' } }
    for (const name of OBEYED_BY_GIT) {
      const entry = await lstat(join(folder, name)).catch(() => undefined)
      if (entry?.isSymbolicLink()) return { hidden: { top, why: `its ${name} is a link` } }
    }
  }
  return { repository }
}

/**
 * Opens a repository as a box shows it: read-only, or writable except for what git acts on. Throws if its git directory is gone, or was
 * replaced by a link.
 */
export async function holdRepository ({ top, common, own }: RepositoryAbove, folder: string, isWritable: boolean): Promise<Held[]> {
  const held: Held[] = []
  try {
    const handle = await open(common, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    // Opened once more as a plain descriptor, which `closeHeld` closes.
    const fd = holdEntry(held, { entry: `/proc/self/fd/${handle.fd}/.`, path: common, flags: O_DIRECTORY, isWritable })
    await handle.close()
    const inside = (path: string) => holdEntry(held, { entry: `/proc/self/fd/${fd}/${path}`, path: join(common, path), isWritable: false })
    if (isWritable) {
      const name = basename(own)
      for (const each of OBEYED_BY_GIT) inside(each)
      if (own !== common) for (const each of OBEYED_BY_GIT) inside(`worktrees/${name}/${each}`)
      // HEAD and index of the main worktree.
      if (own !== common) for (const each of ['HEAD', 'index']) inside(each)
      const others = namesIn(`/proc/self/fd/${fd}/worktrees`).filter((each) => own === common || each !== name)
      for (const each of others.slice(0, MOST_WORKTREES)) inside(`worktrees/${each}`)
    }
    const file = join(top, '.git')
    if (top !== folder && lstatSync(file).isFile()) holdEntry(held, { entry: file, path: file, isWritable: false })
    return held.map((each) => ({ ...each, isBeside: true }))
  } catch (error) {
    closeHeld(held)
    throw error
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Opens the node_modules folders above a working folder, in which Node.js finds packages. */
export function holdPackages (folder: string): Held[] {
  const held: Held[] = []
  for (let above = dirname(folder); ; above = dirname(above)) {
    const path = join(above, 'node_modules')
    holdEntry(held, { entry: path, path, flags: O_DIRECTORY, isWritable: false })
    if (dirname(above) === above) return held.map((each) => ({ ...each, isBeside: true }))
  }
}
