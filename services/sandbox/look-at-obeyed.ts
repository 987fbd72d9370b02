import type { Dirent } from 'node:fs'
import { lstat, readdir, readlink, realpath, rename } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { ENV_LOADERS, isAttributes, isGitName, isHookName, isOpened, plainName } from '../lib/obeyed-names.ts'
import { isIn, KEY_FOLDERS } from './box-places.ts'
import { inForbidden } from './forbidden-folders.ts'
import { topsOf } from './git-links.ts'
import { namedByScripts } from './named-by-scripts.ts'
import { namedBySettings } from './named-by-settings.ts'
import { addBranch, PLAIN_FILES, PLAIN_FOLDERS, readGitDirectory } from './git-directory.ts'
import { followUses, readPackageUse } from './package-scripts.ts'
import { readSmall } from './read-small.ts'
import { addEntry, type ObeyedState, type Walk } from './obeyed-state.ts'

/** The most entries that one call of `lookAtObeyed` reads, and the most milliseconds that it takes. */
export const MOST_ENTRIES = 500_000
export const LOOK_MS = 20_000
/** The number of folders that are read at once. */
const WIDTH = 16
/** Folders of packages. Nothing in them is read-only during a command, because package managers replace them as a whole. */
const PACKAGES = new Set(['node_modules', '.venv', 'venv', '__pycache__', 'target'])

const LINKED_PACKAGES = /\/(?:node_modules|\.venv|venv)(?:\/|$)/
const MOST_KNOWN_LINKS = 50_000

/** The kind of a folder. It decides which entries of the folder count as obeyed, that is, as files that programs act on by themselves. */
type Sort = 'folder' | 'all' | 'git' | 'hooks' | 'objects' | 'worktrees' | 'modules' | 'plain' | 'resolutions' | 'refs'
interface Visit {
  path: string
  sort: Sort
  /** True if nothing in the folder is read-only during a command. */
  isClosed?: boolean
  /** For a folder of branches: its git directory. */
  git?: string
}

/** Names that git uses in a git directory not called `.git`. Such a directory can hold other files, too. */
const OF_BARE = new Set(['head', 'config', 'config.worktree', 'info', 'commondir', 'gitdir', 'branches', 'remotes'])
const SORTS = new Map<string, Sort>([
  ['objects', 'objects'], ['worktrees', 'worktrees'], ['modules', 'modules'], ['hooks', 'hooks'], ['rr-cache', 'resolutions']
])

interface Look {
  outside?: readonly string[]
  /** Further files and folders whose whole content counts as obeyed. Absent: those that settings, scripts and links name now. */
  named?: readonly string[]
  /** An earlier state: contents that did not change are taken from it. */
  known?: ObeyedState
  /** The home whose git settings apply to the folder. Absent: no contents are read. */
  home?: string
  /** The work tree of the repository above the folder. */
  top?: string
  /** The path at which commands see the folder. In a copy, settings and links name this path. */
  seenAt?: string
  limits?: { entries: number, ms: number }
}

/**
 * Returns the state of the files that programs act on by themselves (git settings, hooks, editor settings) in `folder`, a real path, and in
 * the git directories `outside` of it.
 */
export async function lookAtObeyed (folder: string, look: Look = {}): Promise<ObeyedState> {
  const { outside = [], known, home, top, seenAt = folder, limits = { entries: MOST_ENTRIES, ms: LOOK_MS } } = look
  const state: ObeyedState = {
    ...{ folder, seenAt, home, top, outside: [...outside], at: systemClock.now() },
    ...{ entries: new Map(), gitDirectories: new Map(), links: new Map(), packages: new Map(), tops: new Map() },
    ...{ opens: [], named: [...look.named ?? []], keys: [], hasDrivers: false, strange: [], isWhole: true }
  }
  const seen = { count: 0, bytes: 0, until: performance.now() + limits.ms, entries: limits.entries }
  const walk = (visits: Visit[]) => walkAll(state, visits, { known, isKept: home !== undefined, seen })
  await walk([...outside.map((path): Visit => ({ path, sort: 'git' })), { path: folder, sort: 'folder' }])
  state.tops = await topsOf(state)
  if (look.named === undefined && home !== undefined) {
    const textOf = (path: string) => {
      const entry = state.entries.get(path)
      if (entry === undefined) return state.gitDirectories.has(dirname(path)) && state.isWhole ? '' : undefined
      return entry.content && Buffer.from(entry.content, 'base64').toString()
    }
    const { tops } = state
    const { places, commands, hasDrivers } = await namedBySettings([...state.gitDirectories.keys()], { tops, home, textOf })
    state.hasDrivers = hasDrivers
    const inFolder = (path: string) => isIn(seenAt, path) ? join(folder, relative(seenAt, path)) : path
    const add = async (paths: readonly string[]) => {
      if (paths.length === 0) return
      const links = new Map<string, Promise<string | undefined>>()
      const ways = (await Promise.all(paths.map((path) => wayTo(path, links)))).flat().map(inFolder)
      // Neither the folder itself, nor a git directory, nor a folder that contains one of them.
      const holders = new Set([folder, ...state.gitDirectories.keys()].flatMap(withHolders))
      state.named = [...new Set([...state.named, ...ways])].filter((path) => isIn(folder, path) && !holders.has(path))
      return addNamed(state, { known, isKept: true, seen })
    }
    await add(places)
    // Scripts name other scripts.
    const elsewhere = await textsElsewhere(state, places)
    let scripts: string[] | undefined
    for (let round = 0; round <= MOST_ROUNDS && scripts?.length !== 0; round++) {
      const found = await namedByScripts(state, { tops, hooks: places, elsewhere, commands, scripts })
      scripts = found.places
      await addPackages(state, found.packages)
      await add(scripts)
    }
    const followed = new Set<string>()
    for (;;) {
      const links = [...state.entries].flatMap(([path, { kind }]) =>
        kind === 'link' && !followed.has(path) && isObeyedLink(state, path) ? [path] : [])
      if (links.length === 0) break
      for (const path of links) followed.add(path)
      await add(links)
    }
  } else await addNamed(state, { known, isKept: home !== undefined, seen })
  return state
}

/** The most rounds in which scripts that other scripts name are read. */
const MOST_ROUNDS = 4

async function addPackages ({ packages }: ObeyedState, found: ReadonlyMap<string, readonly string[]>): Promise<void> {
  for (const [path, uses] of found) {
    const all = await followUses(path, [...packages.get(path)?.uses ?? [], ...uses])
    packages.set(path, await readPackageUse(path, all))
  }
}

/** The most hooks outside of the folder that are read, and the largest one, in bytes. */
const MOST_ELSEWHERE = 64
const LARGEST_HOOK = 64 * 1024

/**
 * Returns the texts of the hooks outside of the folder to which settings and links lead. Beyond MOST_ELSEWHERE files, and for files that
 * are too large or cannot be read, no text is returned.
 */
async function textsElsewhere ({ folder, entries }: ObeyedState, places: readonly string[]): Promise<string[]> {
  const links = [...entries].flatMap(([path, { kind }]) => kind === 'link' ? [path] : [])
  const files: string[] = []
  for (const place of [...places, ...links]) {
    const real = await realpath(place).catch(() => undefined)
    if (real === undefined || isIn(folder, real)) continue
    const inside = await readdir(real).catch(() => undefined)
    files.push(...inside?.map((name) => join(real, name)) ?? [real])
  }
  const texts = await Promise.all(files.slice(0, MOST_ELSEWHERE).map((path) => readSmall(path, LARGEST_HOOK)))
  return texts.filter((text) => text !== undefined)
}

/** Returns the existing paths that match a path with `*` in its last part. */
async function matching (path: string): Promise<string[]> {
  const parts = basename(path).split('*').map((part) => part.replace(/[^\w-]/g, '\\$&'))
  const pattern = new RegExp(`^${parts.join('[^/]*')}$`)
  const names = await readdir(dirname(path)).catch((): string[] => [])
  return names.filter((name) => pattern.test(name)).map((name) => join(dirname(path), name))
}

async function addNamed (state: ObeyedState, walk: Walk): Promise<void> {
  const there: Visit[] = []
  const found = await Promise.all(state.named.map((path) => path.includes('*') ? matching(path) : [path]))
  for (const path of found.flat()) {
    if (state.entries.has(path) || await realpath(dirname(path)).catch(() => '') !== dirname(path)) continue
    const entry = await addEntry(state, path, walk)
    if (entry?.kind === 'folder') there.push({ path, sort: 'all' })
  }
  await walkAll(state, there, walk)
}

/** Whether programs would follow a link. In a git directory, only links for settings and hooks are followed. */
function isObeyedLink ({ gitDirectories }: ObeyedState, path: string): boolean {
  const git = [...gitDirectories.keys()].find((each) => isIn(each, path))
  return !/\.boxed(?:-\d+)?$/.test(path) && (git === undefined || /^(?:config|hooks|info)\b/.test(relative(git, path)))
}

/** The most links that are followed on the way to one place. */
const MOST_LINKS = 40

/** Returns the path and all folders above it. */
const withHolders = (path: string): string[] => dirname(path) === path ? [path] : [path, ...withHolders(dirname(path))]

/**
 * Returns the symbolic links on the way to a path, and at last the path to which they lead, which need not exist. `known` caches the target
 * of each link.
 */
export async function wayTo (path: string, known = new Map<string, Promise<string | undefined>>()): Promise<string[]> {
  const links: string[] = []
  let way = '/'
  let left = path.split('/')
  while (left.length > 0) {
    const [name, ...rest] = left
    const next = resolve(way, name)
    if (name !== '' && !known.has(next)) known.set(next, readlink(next).catch(() => undefined))
    const target = name === '' ? undefined : await known.get(next)
    if (target === undefined) {
      [way, left] = [next, rest]
      continue
    }
    links.push(next)
    if (links.length > MOST_LINKS) break
    [way, left] = [target.startsWith('/') ? '/' : way, [...target.split('/'), ...rest]]
  }
  return [...links, way]
}

/** Visits the folders, several at once, and git directories first. */
async function walkAll (state: ObeyedState, visits: Visit[], walk: Walk): Promise<void> {
  const [first, later] = [visits.filter(({ sort }) => sort === 'git'), visits.filter(({ sort }) => sort !== 'git')]
  let at = 0
  while (first.length > 0 || at < later.length) {
    if (walk.seen.count > walk.seen.entries || performance.now() > walk.seen.until) {
      state.isWhole = false
      return
    }
    const ofGit = first.splice(-WIDTH)
    const others = later.slice(at, at + WIDTH - ofGit.length)
    at += others.length
    const found = await Promise.all([...ofGit, ...others].map((visit) => visitFolder(state, visit, walk)))
    for (const visit of found.flat()) (visit.sort === 'folder' ? later : first).push(visit)
  }
}

const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/**
 * Returns the entries of a folder. A folder that its owner is not allowed to list is made readable for the moment, because programs could
 * still open paths in it.
 */
async function entriesOf (path: string, state: ObeyedState): Promise<Dirent[]> {
  try {
    return await inForbidden([path], () => readdir(path, { withFileTypes: true }))
  } catch (error) {
    if (!GONE.has((error as NodeJS.ErrnoException).code ?? '')) state.isWhole = false
    return []
  }
}

/** Matches every name that can be obeyed. Most names do not match and need no closer look. */
const MAY_BE_OBEYED = /^[-._a-eg-ik-mo-uw]|[^\x21-\x39\x3b-\x7e]|\.(?:code-workspace|sublime-project)|\.$/i

/** Adds the obeyed entries of one folder to the state. Returns the folders in it that are to be visited. */
async function visitFolder (state: ObeyedState, visit: Visit, walk: Walk): Promise<Visit[]> {
  const { path, sort } = visit
  const all = await entriesOf(path, state)
  walk.seen.count += all.length
  const isUsual = sort === 'folder' && !/^(?:\.|CVS$|_darcs$)/i.test(basename(path))
  const entries = isUsual ? all.filter((entry) => !entry.isFile() || MAY_BE_OBEYED.test(entry.name)) : all
  if (entries.some((entry) => entry.name.includes('\ufffd') && entry.isDirectory())) {
    const renamed = await nameStrange(path, state, walk)
    if (renamed.length > 0) entries.push(...(await entriesOf(path, state)).filter(({ name }) => renamed.includes(name)))
  }
  const names = new Set(entries.map(({ name }) => plainName(name)))
  // If a folder has a `.git`, git does not take the folder itself for a git directory.
  const isBare = sort === 'folder' && isGitShape(names) && !names.has('.git')
  if (isBare || sort === 'git' || (sort === 'modules' && isGitShape(names))) return visitGit(state, { ...visit, isBare }, entries, walk)
  return visitEntries(state, visit, entries, walk)
}

async function visitEntries (state: ObeyedState, visit: Visit, entries: readonly Dirent[], walk: Walk): Promise<Visit[]> {
  const { path, sort, isClosed, git } = visit
  const found: Visit[] = []
  const names = new Set(entries.map(({ name }) => plainName(name)))
  const isRepository = names.has('.git') && path !== state.folder
  for (const entry of entries) {
    const isInnerClosed = isClosed === true || isRepository || PACKAGES.has(entry.name)
    const inner: Visit = { path: join(path, entry.name), sort, git, isClosed: isInnerClosed }
    const isFolder = entry.isDirectory()
    if (isFolder && KEY_FOLDERS.includes(entry.name) && (walk.isKept || walk.known?.keys.includes(inner.path))) {
      // A box hides key folders that were there before the command.
      state.keys.push(inner.path)
      continue
    }
    if (sort === 'folder') {
      const isEnv = plainName(entry.name) === '.env' && [...ENV_LOADERS].some((name) => names.has(name))
      if (isGitName(entry.name)) {
        if (!isFolder) await addEntry(state, inner.path, walk)
        inner.sort = 'git'
      } else if (isEnv || isOpened(basename(path), entry.name, isFolder, names) || (!isFolder && isHookName(entry.name))) {
        await addEntry(state, inner.path, walk)
        if (!inner.isClosed) state.opens.push(inner.path)
        inner.sort = 'all'
      } else if (!isFolder && isAttributes(entry.name)) await addEntry(state, inner.path, walk)
      else if (entry.isSymbolicLink() && state.links.size < MOST_KNOWN_LINKS && !LINKED_PACKAGES.test(path)) {
        state.links.set(inner.path, await readlink(inner.path).catch(() => ''))
      }
      if (isFolder) found.push(inner)
      continue
    }
    // Copies of a repository that agents work in.
    if (sort === 'all' && isFolder && entry.name === 'worktrees') inner.sort = 'folder'
    if (sort === 'all' && isFolder && isGitName(entry.name)) inner.sort = 'git'
    if (sort === 'worktrees' && isFolder) inner.sort = 'git'
    if (git !== undefined && entry.isFile()) await addBranch(state.gitDirectories.get(git)!, git, inner.path)
    const isPlain = entry.isFile() && (sort === 'plain' || sort === 'refs' || (sort === 'hooks' && entry.name.endsWith('.sample')) ||
      // Recorded resolutions of conflicts: git applies a postimage again without asking.
      (sort === 'resolutions' && !entry.name.startsWith('postimage')))
    const isAllowed = isFolder ? sort !== 'all' : isPlain
    if (!isAllowed) await addEntry(state, inner.path, walk)
    if (isFolder) found.push(sort === 'hooks' ? { ...inner, sort: 'all' } : inner)
  }
  return found
}

/**
 * Handles folders whose name is not UTF-8, which Node.js cannot open. In a look before a command they are noted as strange; later, new ones
 * are renamed. Returns the new names.
 */
async function nameStrange (path: string, state: ObeyedState, { known, isKept }: Walk): Promise<string[]> {
  const renamed: string[] = []
  for (const { name } of await readdir(path, { withFileTypes: true, encoding: 'buffer' }).catch(() => [])) {
    if (!name.toString().includes('\ufffd')) continue
    const at = Buffer.concat([Buffer.from(`${path}/`), name])
    const stat = await lstat(at, { bigint: true }).catch(() => undefined)
    if (!stat?.isDirectory()) continue
    const id = `${stat.dev} ${stat.ino}`
    if (isKept || known?.strange.includes(id)) state.strange.push(id)
    else {
      const free = `${name.toString('latin1').replace(/[^\x20-\x7e]/g, '_')}.boxed-${stat.ino}`
      await rename(at, join(path, free)).then(() => renamed.push(free), () => void (state.isWhole = false))
    }
  }
  return renamed
}

/** Whether git takes a folder with these names for a git directory, or for that of a worktree, whose `commondir` leads to the rest. */
const isGitShape = (names: ReadonlySet<string>): boolean =>
  names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'))

/**
 * Adds the obeyed entries of a git directory. In one that is not called `.git`, entries that are not git's are visited like those of a
 * folder.
 */
async function visitGit (state: ObeyedState, visit: Visit & { isBare: boolean }, entries: readonly Dirent[], walk: Walk): Promise<Visit[]> {
  const { path, isBare } = visit
  state.gitDirectories.set(path, await readGitDirectory(path, entries, walk.known?.gitDirectories.get(path)))
  const isOfGit = ({ name }: Dirent) => !isBare || PLAIN_FILES.test(name) ||
    [OF_BARE, PLAIN_FOLDERS, SORTS].some((names) => names.has(plainName(name)))
  const found = isBare ? await visitEntries(state, visit, entries.filter((entry) => !isOfGit(entry)), walk) : []
  for (const entry of entries.filter(isOfGit)) {
    const inner: Visit = { path: join(path, entry.name), sort: 'all' }
    // On a case-insensitive file system, git finds these names in any case.
    const name = isBare ? plainName(entry.name) : entry.name
    if (!entry.isDirectory()) {
      if (!entry.isFile() || !PLAIN_FILES.test(entry.name) || (isBare && OF_BARE.has(name))) await addEntry(state, inner.path, walk)
    } else if (name === 'objects') found.push(...await visitObjects(state, inner.path, walk))
    else if (name === 'refs') found.push({ ...inner, sort: 'refs', git: path })
    else found.push({ ...inner, sort: PLAIN_FOLDERS.has(name) ? 'plain' : SORTS.get(name) ?? 'all' })
  }
  return found
}

/**
 * Visits the folder of git's objects, except the folders of loose objects. Git writes only lock files through a link, and objects have no
 * lock files.
 */
async function visitObjects (state: ObeyedState, path: string, walk: Walk): Promise<Visit[]> {
  const found: Visit[] = []
  for (const entry of await entriesOf(path, state)) {
    const inner = join(path, entry.name)
    if (!entry.isDirectory()) {
      if (!entry.isFile()) await addEntry(state, inner, walk)
    } else if (['pack', 'info'].includes(entry.name)) found.push({ path: inner, sort: 'plain' })
    else if (!/^[0-9a-f]{2}$/.test(entry.name)) found.push({ path: inner, sort: 'all' })
  }
  return found
}
