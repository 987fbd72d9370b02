import { lstat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isAttributes, isGitName } from '../lib/obeyed-names.ts'
import { describeCommits, endOddRefs, endRebases, isAllowedInGit, isDotGit, setStashesAside, unstageObeyed } from './check-git.ts'
import { isIn } from './box-places.ts'
import { LOOK_MS, lookAtObeyed, MOST_ENTRIES, wayTo } from './look-at-obeyed.ts'
import { addsHarmless } from './git-settings.ts'
import { type Entry, identityOf, type ObeyedState } from './obeyed-state.ts'
import { putBackScripts } from './package-scripts.ts'
import { type Check, type CheckParts, gitAround, moveAside, putBack, restore, write } from './put-back.ts'
import { readSmall } from './read-small.ts'

// Compares the state of a folder after a command with the state before, and undoes changes that are not allowed.

/** Sentences about the changes that were undone (`taken`), and about those that were not (`notes`). */
export interface Checked {
  taken: string[]
  notes: string[]
}

/**
 * Undoes forbidden changes to files that programs act on by themselves (git settings, hooks, editor settings). Returns sentences about the
 * changes, the identities of new git directories (`made`), and the state before the changes were undone (`after`).
 */
export async function checkObeyed (
  before: ObeyedState,
  parts: CheckParts
): Promise<Checked & { made: string[], after: ObeyedState }> {
  const taken: string[] = []
  const { folder, outside, named, top } = before
  const look = () => lookAtObeyed(folder, { outside, named, top, known: before, limits: parts.limits })
  const check: Check = { ...parts, before, after: await look(), taken }
  await putBackChanged(check)
  if (await endRebases(check)) await putBackChanged({ ...check, after: await look() })
  await setStashesAside(check)
  const notes = await describeCommits(check)
  for (const what of before.begun ?? []) {
    if (!taken.some((sentence) => sentence.startsWith(`${what} `))) taken.push(`${what} was put back, or got another name.`)
  }
  const isNew = ([path, { id }]: [string, { id: string }]) => before.gitDirectories.get(path)?.id !== id
  return { taken, notes, made: [...check.after.gitDirectories].filter(isNew).map(([, { id }]) => id), after: check.after }
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
  await putBackLinks(check)
  await putBackScripts(check)
  await endOddRefs(check)
  await unstageObeyed(check)
  for (const [path, was] of before.entries) {
    const git = gitAround(after, path)
    if (was.kind === 'folder' || after.entries.has(path)) continue
    if (before.begun?.includes(path) === true || (git !== undefined && before.gitDirectories.has(git))) await restore(check, path)
  }
  if (after.isWhole) return
  const { entries = MOST_ENTRIES, ms = LOOK_MS } = check.limits ?? {}
  taken.push(
    `Not all of ${JSON.stringify(before.folder)} could be looked at: it has more than ${entries.toLocaleString('en')} entries, folders ` +
      `that cannot be read, or takes longer than ${ms / 1000} s.`
  )
  for (const path of after.gitDirectories.keys()) if (!before.gitDirectories.has(path)) await moveAside(check, path)
}

/** Attributes with drivers that git has built in, or with that of git-lfs. Other drivers are programs from the user's settings. */
const USUAL_DRIVER = new RegExp(
  '^(?:filter=lfs|diff=(?:lfs|ada|bash|bibtex|cpp|csharp|css|dts|elixir|fortran|fountain|golang|html|java|kotlin|markdown|matlab|objc|' +
    'pascal|perl|php|python|ruby|rust|scheme|tex)|merge=(?:lfs|union|binary|text|ours))$'
)
const hasUsualDrivers = async (path: string): Promise<boolean> =>
  (await readSmall(path) ?? 'filter=?').split(/\s+/).every((word) => !/^(?:filter|diff|merge)=/.test(word) || USUAL_DRIVER.test(word))

async function isUnchanged (check: Check, path: string, now: Entry): Promise<boolean> {
  const { before, readOnly } = check
  const was = before.entries.get(path)
  if (was?.kind === now.kind && was.id === now.id && was.mode === now.mode) return true
  if (was?.kind === now.kind && now.kind === 'link' && was.target === now.target) return true
  // Through another hard link, a command could have changed a file that is read-only at this path.
  if (now.kind === 'other' || now.links !== 1 || (was !== undefined && was.links !== 1)) return false
  const content = now.kind === 'file' ? await readSmall(path, undefined, 'base64') : undefined
  if (was?.kind === 'file' && content !== undefined && content === was.content && was.mode === now.mode) return true
  if (!await isChangedByOthers(path, now, readOnly)) return mayBeOfOthers(check, path, content)
  before.entries.set(path, { ...now, content })
  return true
}

const inodeOf = ({ id }: Entry): string => id.slice(0, id.lastIndexOf(' '))

/**
 * Returns true if the path is, or lies in, a read-only file or folder that nobody replaced. Then somebody else than a command changed it.
 */
async function isChangedByOthers (path: string, now: Entry, readOnly: ReadonlyMap<string, string>): Promise<boolean> {
  if (readOnly.has(path)) return readOnly.get(path) === inodeOf(now)
  for (let at = dirname(path); dirname(at) !== at; at = dirname(at)) {
    const id = readOnly.get(at)
    if (id !== undefined) return lstat(at, { bigint: true }).then((stat) => stat.isDirectory() && identityOf(stat) === id, () => false)
  }
  return false
}

/**
 * Returns true for a git config that somebody else replaced, and to which only harmless settings were added since, maybe by a command. For
 * any other read-only file that was replaced, returns false and adds a sentence that both versions are kept.
 */
function mayBeOfOthers ({ before, readOnly, taken }: Check, path: string, content: string | undefined): boolean {
  const was = before.entries.get(path)
  if (!readOnly.has(path) || was?.content === undefined) return false
  const [old, text] = [was.content, content ?? ''].map((each) => Buffer.from(each, 'base64').toString())
  if (basename(path) === 'config' && gitAround(before, path) !== undefined && addsHarmless(old, text)) return true
  taken.push(`Somebody else replaced ${path} while a command ran, and what the command made of it then is not known: both are kept.`)
  return false
}

/** Undoes new and changed links that lead out of the folder: other programs would write through such a link to another place. */
async function putBackLinks (check: Check): Promise<void> {
  const { before, after, linkable } = check
  const changed = [...after.links].filter(([path, target]) => before.links.get(path) !== target)
  const places = changed.length === 0 ? [] : [before.folder, before.seenAt, ...before.outside, ...linkable()]
  for (const [path] of changed) {
    const was = before.links.get(path)
    const end = (await wayTo(path)).at(-1)!
    if (places.some((place) => isIn(place, end)) || !await moveAside(check, path)) continue
    if (was !== undefined) await write(check, path, { kind: 'link', id: '', mode: 0o777, links: 1, target: was })
  }
}

/** Undoes new and changed files that programs act on when somebody opens the folder, except those that somebody else committed to git. */
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
    // A new folder is moved as a whole, unless a part of it is allowed to stay.
    const isWhole = !before.entries.has(root) && ![...committed].some((each) => each === root || each.startsWith(`${root}/`))
    if (isWhole) done.add(root)
    if (isWhole || after.entries.get(path)?.kind !== 'folder') await putBack(check, isWhole ? root : path)
  }
  if (committed.size > 0) await putBackNamed(check)
}

/** How far the change time of a file can be behind the clock, in milliseconds. */
const CLOCK_MS = 20

/**
 * Renames files that the command wrote, so that no program runs them, if obeyed files (hooks, editor settings) from a commit name them by
 * now, such as the script of a hook.
 */
async function putBackNamed (check: Check): Promise<void> {
  const { before, after, git, ends } = check
  const { folder, outside, home, top, seenAt } = before
  const now = await lookAtObeyed(folder, { outside, home, top, seenAt, known: before, limits: check.limits })
  const changed: string[] = []
  for (const path of now.named) {
    if (!before.named.includes(path) && !before.entries.has(path) && await isChangedSince(path, before.at - CLOCK_MS)) changed.push(path)
  }
  const committed = changed.length === 0 ? new Set() : await git.findCommitted(changed, { before, after, ends })
  for (const path of changed) if (!committed.has(path)) await moveAside(check, path)
}

const isChangedSince = (path: string, since: number): Promise<boolean> =>
  lstat(path).then((stat) => !stat.isDirectory() && stat.ctimeMs >= since, () => false)
