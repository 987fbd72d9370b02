import { chmod, lstat, mkdir, open, rename, symlink } from 'node:fs/promises'
import { constants } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { harmlessSettings } from './git-settings.ts'
import { LOOK_MS, lookAtObeyed, MOST_ENTRIES } from './look-at-obeyed.ts'
import { type Entry, entryAt, isAttributes, isGitName, type ObeyedState } from './obeyed-state.ts'
import type { BoxedGit } from './boxed-git.ts'
import type { CommitEnd } from './commit-ends.ts'
import { readSmall } from './read-small.ts'

// What a command left is compared with what was there before it. Whatever is not known to be harmless is moved aside, and what was there
// is put back.

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** An open folder of a real path, see withFolder. */
export interface OpenFolder {
  path: string
  handle: { fd: number }
  entry(name: string): string
}
export type WithFolder = <T>(path: string, work: (folder: OpenFolder) => Promise<T>) => Promise<T>

interface CheckParts {
  withFolder: WithFolder
  git: BoxedGit
  /** Who made which commits. */
  ends: readonly CommitEnd[]
  /** Places that no command could write: one that changed there without being replaced was changed by somebody else. */
  readOnly: ReadonlySet<string>
  limits?: { entries: number, ms: number }
}

/** A comparison of two looks at a folder. */
interface Check extends CheckParts {
  before: ObeyedState
  after: ObeyedState
  /** Sentences for the model and the person. */
  taken: string[]
}

/**
 * Puts back what programs would obey and what is not allowed to be so now. Returns a sentence for each, and the identities of new git
 * directories.
 */
export async function checkObeyed (before: ObeyedState, parts: CheckParts): Promise<{ taken: string[], made: string[], after: ObeyedState }> {
  const taken: string[] = []
  const { folder, outside, named } = before
  const look = () => lookAtObeyed(folder, { outside, named, known: before, limits: parts.limits })
  const check: Check = { ...parts, before, after: await look(), taken }
  await putBackChanged(check)
  if (await endRebases(check)) await putBackChanged({ ...check, after: await look() })
  const isNew = ([path, { id }]: [string, { id: string }]) => before.gitDirectories.get(path)?.id !== id
  return { taken, made: [...check.after.gitDirectories].filter(isNew).map(([, { id }]) => id), after: check.after }
}

async function putBackChanged (check: Check): Promise<void> {
  const { before, after, taken } = check
  const inTree: string[] = []
  for (const [path, now] of after.entries) {
    const git = gitAround(after, path)
    if (now.kind === 'folder') {
      if (git === undefined && !before.entries.has(path)) inTree.push(path)
      continue
    }
    if (await isUnchanged(check, path, now)) continue
    if (git === undefined && isAttributes(basename(path)) && !before.hasDrivers && await hasUsualDrivers(path)) continue
    if (git === undefined && !isGitName(basename(path))) inTree.push(path)
    else if (!await (git === undefined ? isDotGit(check, path) : isAllowedInGit(check, git, path))) await putBack(check, path)
  }
  await putBackOpened(check, inTree)
  for (const [path, was] of before.entries) {
    const git = gitAround(after, path)
    if (was.kind !== 'folder' && git !== undefined && !after.entries.has(path) && before.gitDirectories.has(git)) await restore(check, path)
  }
  if (after.isWhole) return
  const { entries = MOST_ENTRIES, ms = LOOK_MS } = check.limits ?? {}
  taken.push(
    `Not all of ${JSON.stringify(before.folder)} could be looked at: it has more than ${entries.toLocaleString('en')} entries, folders ` +
      `that cannot be read, or takes longer than ${ms / 1000} s.`
  )
  for (const path of after.gitDirectories.keys()) if (!before.gitDirectories.has(path)) await moveAside(check, path)
}

/** Drivers that git has itself, and that of large files: others are programs of the user's settings. */
const USUAL_DRIVER = new RegExp(
  '^(?:filter=lfs|diff=(?:lfs|ada|bash|bibtex|cpp|csharp|css|dts|elixir|fortran|fountain|golang|html|java|kotlin|markdown|matlab|objc|' +
    'pascal|perl|php|python|ruby|rust|scheme|tex)|merge=(?:lfs|union|binary|text|ours))$'
)
const hasUsualDrivers = async (path: string): Promise<boolean> =>
  (await readSmall(path) ?? 'filter=?').split(/\s+/).every((word) => !/^(?:filter|diff|merge)=/.test(word) || USUAL_DRIVER.test(word))

/** Returns the git directory that a path lies in. */
function gitAround ({ gitDirectories, folder, outside }: ObeyedState, path: string): string | undefined {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (gitDirectories.has(at)) return at
    if (at === folder || outside.includes(at) || dirname(at) === at) return undefined
  }
}

async function isUnchanged ({ before, readOnly }: Check, path: string, now: Entry): Promise<boolean> {
  const was = before.entries.get(path)
  if (was?.kind !== now.kind) return false
  if (was.id === now.id && was.mode === now.mode) return true
  if (now.kind === 'link') return was.target === now.target
  // By another name, a command could have changed what is read-only here.
  if (now.kind !== 'file' || now.links !== 1 || was.links !== 1) return false
  const content = await readSmall(path, undefined, 'base64')
  const isSame = content !== undefined && content === was.content && was.mode === now.mode
  const isOfOthers = inodeOf(was) === inodeOf(now) && isWithin(readOnly, path)
  if (isOfOthers && content !== undefined) before.entries.set(path, { ...now, content })
  return isSame || isOfOthers
}

const inodeOf = ({ id }: Entry): string => id.slice(0, id.lastIndexOf(' '))

const isWithin = (places: ReadonlySet<string>, path: string): boolean =>
  places.has(path) || (dirname(path) !== path && isWithin(places, dirname(path)))

/** Whether something new or changed in a git directory may stay: some files may, beside those that are not asked about (PLAIN_FILES). */
async function isAllowedInGit (check: Check, git: string, path: string): Promise<boolean> {
  const { before, after } = check
  const name = relative(git, path)
  const { kind, links } = after.entries.get(path)!
  if (kind !== 'file' || links !== 1) return false
  const isNew = before.gitDirectories.get(git)?.isComplete !== true
  // The folder itself would become a repository.
  if (git === after.folder && isNew) return name !== 'HEAD'
  // Of the dumb protocol: packed refs in another form.
  if (name === 'HEAD' || name === 'info/refs') return true
  if (name === 'commondir') return after.gitDirectories.has(resolve(git, (await readSmall(path) ?? '').trim()))
  if (basename(dirname(git)) === 'worktrees' && name === 'locked') return true
  if (name === 'gitdir') {
    const file = resolve(git, (await readSmall(path) ?? '').trim())
    return isGitName(basename(file)) && after.entries.has(file) && await leadsTo(file) === git
  }
  if (!isNew) return false
  if (name === 'config') return keepHarmless(check, git, path)
  return name === 'description' || /^info\/(?:exclude|sparse-checkout)$/.test(name)
}

/** A file `.git` may lead to a git directory that was checked with the others. */
async function isDotGit ({ after }: Check, path: string): Promise<boolean> {
  const target = after.entries.get(path)?.kind === 'file' ? await leadsTo(path) : undefined
  return target !== undefined && after.gitDirectories.has(target)
}

/** Returns the path that a file `.git` names. */
async function leadsTo (path: string): Promise<string | undefined> {
  const [, way] = /^gitdir: ([^\n]+)\n?$/.exec(await readSmall(path) ?? '') ?? []
  return way === undefined ? undefined : resolve(dirname(path), way)
}

/** Writes the settings of a new git directory anew from the harmless ones. */
async function keepHarmless (check: Check, git: string, path: string): Promise<boolean> {
  const text = await readSmall(path)
  if (text === undefined) return false
  let worktree: string | undefined
  for (const [file, { kind }] of check.after.entries) {
    if (kind !== 'file' || !isGitName(basename(file)) || await leadsTo(file) !== git) continue
    worktree = `\tworktree = ${relative(git, dirname(file))}`
  }
  const kept = harmlessSettings(text, worktree)
  if (kept.text === text) return true
  if (!await moveAside(check, path)) return true
  await write(check, path, { kind: 'file', id: '', mode: 0o644, links: 1, content: Buffer.from(kept.text).toString('base64') })
  const dropped = kept.dropped.slice(0, 10).join('; ')
  if (dropped !== '') check.taken.push(`These settings of git are not in it any more: ${dropped}`)
  return true
}

/** Puts back what is new and changed of what is opened with a folder, but for files that git had in a commit. */
async function putBackOpened (check: Check, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  const { before, after, git, ends } = check
  const files = paths.filter((path) => after.entries.get(path)?.kind !== 'folder')
  const committed = files.length === 0 ? new Set<string>() : await git.findCommitted(files, { before, after, ends })
  const done = new Set<string>()
  for (const path of paths) {
    let root = path
    while (after.entries.has(dirname(root))) root = dirname(root)
    if (committed.has(path) || done.has(root)) continue
    // A new folder goes whole, unless a part of it may stay.
    const isWhole = !before.entries.has(root) && ![...committed].some((each) => each === root || each.startsWith(`${root}/`))
    if (isWhole) done.add(root)
    if (isWhole || after.entries.get(path)?.kind !== 'folder') await putBack(check, isWhole ? root : path)
  }
}

const REBASES = ['rebase-merge', 'rebase-apply', 'sequencer']

/** Ends rebases that would start programs when they go on. Returns whether there was one. */
async function endRebases (check: Check): Promise<boolean> {
  const { before, after, taken, git } = check
  let isEnded = false
  for (const [path, { execs }] of after.gitDirectories) {
    const known = before.gitDirectories.get(path)?.execs ?? []
    const added = execs.filter((line) => !known.includes(line))
    if (added.length === 0) continue
    isEnded = true
    if (await git.abortRebase(path, after)) {
      taken.push(`The rebase of ${path} was aborted: it would have run ${added.slice(0, 5).join('; ')}.`)
    } else for (const name of REBASES) await moveAside(check, join(path, name), { isSilentIfGone: true })
  }
  return isEnded
}

/** Moves aside what is at a path, and puts back what was there. */
async function putBack (check: Check, path: string): Promise<void> {
  if (await moveAside(check, path) && check.before.entries.has(path)) await restore(check, path)
}

async function restore (check: Check, path: string): Promise<void> {
  const was = check.before.entries.get(path)!
  if (was.kind === 'folder') return
  const isDone = await write(check, path, was)
  check.taken.push(isDone ? `${path} is as it was.` : `${path} could not be put back.`)
}

async function write ({ withFolder }: Check, path: string, { kind, mode, target, content }: Entry): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true })
    return await withFolder(dirname(path), async (folder) => {
      const at = folder.entry(basename(path))
      if (kind === 'link') await symlink(target ?? '', at)
      if (kind === 'link' || content === undefined) return kind === 'link'
      const file = await open(at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
      await file.writeFile(Buffer.from(content, 'base64')).then(() => file.chmod(mode)).finally(() => file.close())
      return true
    })
  } catch {
    return false
  }
}

/**
 * Gives what is at a path a name that nothing obeys, beside the folder that programs obey: hooks may run whatever is in a folder. A program
 * can be run no more.
 */
async function moveAside (check: Check, path: string, { isSilentIfGone = false } = {}): Promise<boolean> {
  const { withFolder, taken } = check
  if (isSilentIfGone && await entryAt(path) === undefined) return true
  const to = folderBeside(check, path)
  const move = (from: OpenFolder) => withFolder(to, async (folder) => {
    for (let number = 1; number < 1_000; number++) {
      const free = `${basename(path)}.boxed${number === 1 ? '' : `-${number}`}`
      const at = folder.entry(free)
      if (await lstat(at).then(() => true, () => false)) continue
      await rename(from.entry(basename(path)), at)
      const stat = await lstat(at)
      if (stat.isFile()) await chmod(at, stat.mode & 0o666)
      return to === dirname(path) ? free : join(to, free)
    }
    return undefined
  })
  const moved = await withFolder(dirname(path), move).catch(() => undefined)
  taken.push(moved === undefined ? `${path} should not be there and could not be renamed.` : `${path} is now ${moved}.`)
  return moved !== undefined
}

/** Returns the folder that holds what programs obey: the git directory of a hook, or that in which an editor's folder is. */
function folderBeside ({ after }: Check, path: string): string {
  const git = gitAround(after, path)
  if (git !== undefined) return git
  let root = path
  while (after.entries.has(dirname(root))) root = dirname(root)
  return dirname(root)
}
