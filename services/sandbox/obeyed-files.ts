import { constants } from 'node:fs'
import { lstat, open, readdir, rename, type FileHandle } from 'node:fs/promises'
import { dirname, basename, join, relative, resolve, sep } from 'node:path'
import { foldCase } from '../lib/windows-path.ts'
import { isOpened, KEY_FOLDERS, OBEYED } from './box-places.ts'
import { obeyedSettings } from './git-settings.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * Folders that are searched for repositories, before and after a command; after one that began with fewer, also those that it made, so
 * that it cannot hide a repository behind them.
 */
const MOST_FOLDERS = 3_000
const MOST_MADE = 20_000
/** Folders of packages and of built files: nobody works in a repository there. */
const SKIPPED = new Set(['node_modules', '.venv', 'venv', '__pycache__', 'target', 'objects', 'refs', 'logs'])
/** The largest configuration of a repository that is read, bytes. */
const LARGEST_CONFIG = 1024 * 1024

/** An open folder of a real path, see withFolder. */
export interface OpenFolder {
  path: string
  handle: { fd: number }
  entry(name: string): string
}
export type WithFolder = <T>(path: string, work: (folder: OpenFolder) => Promise<T>) => Promise<T>

/** What git would obey in one of its folders. */
interface Repository {
  config: string
  /** When the files were changed that git obeys, by their name below the folder. */
  obeyed: Map<string, string>
}

/** What programs obey in a working folder. */
interface Obeyed {
  /** Names of OBEYED that are there. */
  names: Set<string>
  /** By the path of the folder that git calls its directory. */
  repositories: Map<string, Repository>
  /** Files and links named .git, which say where that directory is, and when they were changed. */
  links: Map<string, string>
  /** Folders of keys, the nearest first. */
  keys: string[]
  /** What programs obey when somebody opens or enters a folder, the nearest first; not what lies in further repositories. */
  opens: string[]
  /** No folder was left out. */
  isWhole: boolean
}

/** What was there before the commands began that run now, by their working folder. */
export type Snapshots = Map<string, { before: Obeyed, count: number }>

/** Adds a command to those that run in a folder. What one of them makes there is new for all of them, whichever ends first. */
export function shareSnapshot (snapshots: Snapshots, folder: string, now: Obeyed): { before: Obeyed, leave: () => void } {
  const shared = snapshots.get(folder) ?? { before: now, count: 0 }
  shared.count++
  snapshots.set(folder, shared)
  return { before: shared.before, leave: () => void (--shared.count === 0 && snapshots.delete(folder)) }
}

/** Looks at what programs would obey in the folder, with this real path, and in git directories outside of it. */
export async function lookAtObeyed (path: string, outside: readonly string[] = [], most = MOST_FOLDERS): Promise<Obeyed> {
  const obeyed: Obeyed = { names: new Set(), repositories: new Map(), links: new Map(), keys: [], opens: [], isWhole: true }
  const folders = [...outside, path]
  /** Folders in which nothing is looked for that is opened. */
  const closed = new Set(outside)
  for (let at = 0; at < folders.length; at++) {
    if (at === most) {
      obeyed.isWhole = false
      break
    }
    const folder = folders[at]
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    // A file system of macOS takes `.GIT` for `.git`.
    const names = new Set(entries.map(({ name }) => foldCase(name)))
    if (folder === path) for (const { name } of entries) if (OBEYED.includes(foldCase(name))) obeyed.names.add(name)
    // A folder `.git` may be none yet: `git init` keeps the hooks and the settings that it finds there.
    const isRepository = foldCase(basename(folder)) === '.git' || isWorktree(folder) ||
      ['HEAD', 'objects', 'refs'].every((name) => names.has(foldCase(name)))
    if (isRepository) obeyed.repositories.set(folder, await lookAtRepository(folder, names))
    const isClosed = closed.has(folder) || isRepository || (folder !== path && names.has('.git'))
    for (const entry of entries) {
      const inner = join(folder, entry.name)
      const isOpen = !isClosed && isOpened(basename(folder), entry.name)
      if (isOpen) obeyed.opens.push(inner)
      if (isClosed || isOpen) closed.add(inner)
      const isGit = foldCase(entry.name) === '.git'
      if (isGit && !entry.isDirectory()) obeyed.links.set(inner, await changeOf(inner))
      // First, so that the limit does not hide it.
      else if (isGit) folders.splice(at + 1, 0, inner)
      else if (entry.isDirectory() && KEY_FOLDERS.includes(entry.name)) obeyed.keys.push(inner)
      else if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(inner)
    }
  }
  return obeyed
}

/** Whether a folder of a repository holds what git knows of a worktree. */
const isWorktree = (folder: string): boolean => basename(dirname(folder)) === 'worktrees'

async function lookAtRepository (folder: string, names: ReadonlySet<string>): Promise<Repository> {
  const obeyed = new Map<string, string>()
  const add = async (name: string) => obeyed.set(name, await changeOf(join(folder, name)))
  if (names.has('config.worktree')) await add('config.worktree')
  // What they lead to may be changed at any time.
  for (const name of ['config', 'hooks']) if ((await lstat(join(folder, name)).catch(() => undefined))?.isSymbolicLink()) await add(name)
  const isUsual = isWorktree(folder) && (await readSmall(join(folder, 'commondir'))).trim() === '../..'
  if (names.has('commondir') && !isUsual) await add('commondir')
  // Lines by which a rebase that goes on would run programs.
  const todo = 'rebase-merge/git-rebase-todo'
  if (names.has('rebase-merge') && /^\s*(?:exec|x)\s/m.test(await readSmall(join(folder, todo)))) await add(todo)
  const hooks = await readdir(join(folder, 'hooks')).catch(() => [])
  for (const name of hooks) if (!name.endsWith('.sample')) await add(`hooks/${name}`)
  return { config: await readSmall(join(folder, 'config')), obeyed }
}

/** Returns what tells a changed file from one that is as it was: nobody can set the time of a change. */
async function changeOf (path: string): Promise<string> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined)
  return stat === undefined ? '' : `${stat.dev} ${stat.ino} ${stat.ctimeNs}`
}

async function readSmall (path: string): Promise<string> {
  let file: FileHandle | undefined
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, LARGEST_CONFIG)))
    // What is beyond the limit is no form that is known.
    return buffer.toString('utf8', 0, bytesRead) + (size > LARGEST_CONFIG ? '\n…' : '')
  } catch {
    return ''
  } finally {
    await file?.close()
  }
}

/**
 * Takes away what programs would obey and what was not so before: it is renamed, and settings of git are put back. Returns a sentence for
 * each. Errors of single places do not hide the others.
 */
export async function takeAwayObeyed (
  path: string,
  before: Obeyed,
  withFolder: WithFolder,
  outside: readonly string[] = []
): Promise<string[]> {
  const after = await lookAtObeyed(path, outside, before.isWhole ? MOST_MADE : MOST_FOLDERS)
  const taken: string[] = []
  if (before.isWhole && !after.isWhole) taken.push(`There are more than ${MOST_MADE} folders; not all were searched for repositories.`)
  const aside = async (place: string): Promise<boolean> => {
    const name = basename(place)
    const moved = await withFolder(dirname(place), async (folder) => {
      for (let number = 1; number < 100; number++) {
        const free = `${name}.boxed${number === 1 ? '' : `-${number}`}`
        if (await lstat(folder.entry(free)).then(() => true, () => false)) continue
        await rename(folder.entry(name), folder.entry(free))
        return free
      }
      return undefined
    }).catch(() => undefined)
    taken.push(moved === undefined ? `${place} should not be there and could not be renamed.` : `${place} is now ${moved}.`)
    return moved !== undefined
  }

  const putBack = async (folder: string, known: Repository | undefined) => {
    if (known === undefined) return
    await withFolder(folder, async (open) => writeNew(open.entry('config'), known.config)).catch(() => {})
  }

  for (const name of after.names) if (!before.names.has(name)) await aside(join(path, name))
  const submodules = await submodulesIn(path, after)
  const working = new Set(submodules.values())
  for (const [place, change] of after.links) {
    if (before.links.get(place) !== change && !working.has(dirname(place))) await aside(place)
  }
  for (const [folder, { config, obeyed }] of after.repositories) {
    const known = before.repositories.get(folder)
    for (const [name, change] of obeyed) {
      if (known?.obeyed.get(name) !== change && await aside(join(folder, name)) && name === 'config') await putBack(folder, known)
    }
    const settings = obeyedSettings(config, known?.config ?? '', worktreeLine(folder, submodules))
    if (settings.length === 0 || !await aside(join(folder, 'config'))) continue
    await putBack(folder, known)
    taken.push(`These settings of git are not in it any more: ${settings.slice(0, 10).join('; ')}`)
  }
  return taken
}

/** The setting by which git says where a submodule's files are; undefined for other repositories. */
const worktreeLine = (repository: string, submodules: ReadonlyMap<string, string>): string | undefined => {
  const folder = submodules.get(repository)
  return folder && `\tworktree = ${relative(repository, folder)}`
}

/**
 * Returns the submodules of the working folder, as git itself makes them: by the repository, below `modules` of the folder's own directory
 * of git, the folder whose file `.git` names it. What git obeys in such a repository is looked at like in any other.
 */
async function submodulesIn (path: string, { links, repositories }: Obeyed): Promise<Map<string, string>> {
  const submodules = new Map<string, string>()
  for (const place of links.keys()) {
    const [, way] = /^gitdir: ((?:\.\.\/)+\.git\/modules\/[^\n]+)\n$/.exec(await readSmall(place)) ?? []
    if (way === undefined) continue
    const repository = resolve(dirname(place), way)
    const isOwn = repository.startsWith(join(path, '.git/modules') + sep) && repositories.has(repository)
    // The names of the folders that were walked: no link is among them.
    if (isOwn) submodules.set(repository, dirname(place))
  }
  return submodules
}

async function writeNew (path: string, text: string): Promise<void> {
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}
