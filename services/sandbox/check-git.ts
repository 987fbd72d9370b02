import { basename, dirname, join, relative, resolve } from 'node:path'
import { isAttributes, isGitName } from '../lib/obeyed-names.ts'
import { blobNames, blobsAt } from './boxed-git.ts'
import { leadsTo, topOf } from './git-links.ts'
import { TREE_MODE } from './git-index.ts'
import { harmlessSettings } from './git-settings.ts'
import type { StagedFile } from './obeyed-state.ts'
import { type Check, moveAside, writeText } from './put-back.ts'
import { readSmall } from './read-small.ts'

// Checks what a command left in git directories, and undoes what would make git start programs or bring obeyed files into the folder.

/** Returns true if a new or changed entry of a git directory is allowed to stay. Not called for PLAIN_FILES, which always are. */
export async function isAllowedInGit (check: Check, git: string, path: string): Promise<boolean> {
  const { before, after } = check
  const name = relative(git, path)
  const { kind, links } = after.entries.get(path)!
  if (kind !== 'file' || links !== 1) return false
  const isNew = before.gitDirectories.get(git)?.isComplete !== true
  // With a HEAD, the working folder itself would become a git directory.
  if (git === after.folder && isNew) return name !== 'HEAD'
  // info/refs lists the references again, for the dumb HTTP protocol.
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

/** Returns true if the path is a file `.git` that names one of the git directories that were checked. */
export async function isDotGit ({ after }: Check, path: string): Promise<boolean> {
  const target = after.entries.get(path)?.kind === 'file' ? await leadsTo(path) : undefined
  return target !== undefined && after.gitDirectories.has(target)
}

/** Rewrites the config of a new git directory with its harmless settings alone. Returns false if the file cannot be read. */
async function keepHarmless (check: Check, git: string, path: string): Promise<boolean> {
  const text = await readSmall(path)
  if (text === undefined) return false
  const top = topOf(check.after, git)
  const kept = harmlessSettings(text, top && `\tworktree = ${relative(git, top)}`)
  if (kept.text === text) return true
  if (!await moveAside(check, path)) return true
  await writeText(check, path, kept.text)
  const dropped = kept.dropped.slice(0, 10).join('; ')
  if (dropped !== '') check.taken.push(`These settings of git are not in it any more: ${dropped}`)
  return true
}

const STOPPED = ['rebase-merge', 'rebase-apply', 'sequencer', 'MERGE_AUTOSTASH']

/**
 * Aborts rebases, and other stopped operations, that would start programs or bring obeyed files (hooks, editor settings) as they continue.
 * Returns whether there was one.
 */
export async function endRebases (check: Check): Promise<boolean> {
  const { before, after, taken, git } = check
  let isEnded = false
  for (const [path, { execs, resumes }] of after.gitDirectories) {
    const was = before.gitDirectories.get(path)
    const added = execs.filter((line) => !was?.execs.includes(line))
    const brought = was === undefined ? [] : resumes.filter((id) => !was.resumes.includes(id))
    added.push(...await findForeign(check, path, brought) ?? ['commits that could not be looked at'])
    if (added.length === 0) continue
    isEnded = true
    await check.begin(`The rebase of ${path}`)
    if (await git.abortRebase(path, after)) {
      taken.push(`The rebase of ${path} was aborted: it would have run or brought ${added.slice(0, 5).join('; ')}.`)
    } else for (const name of STOPPED) await moveAside(check, join(path, name), { isSilentIfGone: true })
  }
  return isEnded
}

/** Removes new references whose names a script could take for a command or an option, and those of refs/replace. */
export async function endOddRefs (check: Check): Promise<void> {
  const { before, after } = check
  for (const [git, { oddRefs }] of after.gitDirectories) {
    const { oddRefs: known = [], head = '' } = before.gitDirectories.get(git) ?? {}
    const added = oddRefs.filter((ref) => !known.includes(ref))
    for (const ref of added) {
      const isHead = ref.startsWith('ref:')
      await moveAside(check, join(git, isHead ? 'HEAD' : ref), { isSilentIfGone: true })
      if (isHead) await writeText(check, join(git, 'HEAD'), `${head === '' ? 'ref: refs/heads/main' : head}\n`)
    }
    const packed = added.length === 0 ? undefined : await readSmall(join(git, 'packed-refs'))
    const lines = packed?.split('\n') ?? []
    const kept = lines.filter((line, at) => !added.includes((line.startsWith('^') ? lines[at - 1] : line).slice(line.indexOf(' ') + 1)))
    if (kept.length === lines.length || !await moveAside(check, join(git, 'packed-refs'))) continue
    await writeText(check, join(git, 'packed-refs'), kept.join('\n'))
  }
}

/** The most versions of one file that are searched for in commits. */
const MOST_VERSIONS = 4

/** Returns the files that come from commands alone: nobody else committed them or put them into the folder. */
async function withoutKnown ({ before, after, git, ends }: Check, top: string, files: readonly StagedFile[]): Promise<StagedFile[]> {
  let left: StagedFile[] = []
  for (const file of files) {
    const at = join(top, file.name)
    const content = before.entries.get(at)?.content
    const known = content === undefined ? await blobsAt(at) : blobNames(Buffer.from(content, 'base64'))
    if (!known.has(file.blob)) left.push(file)
  }
  const foreign: StagedFile[] = []
  for (let version = 0; version < MOST_VERSIONS && left.length > 0; version++) {
    const round = new Map(left.map((file) => [join(top, file.name), file]))
    left = left.filter((file) => round.get(join(top, file.name)) !== file)
    const committed = await git.findCommitted([...round.keys()], { before, after, ends }, round)
    foreign.push(...[...round].flatMap(([at, file]) => committed.has(at) ? [] : [file]))
  }
  return [...foreign, ...left]
}

/**
 * Returns the names of obeyed files (hooks, editor settings) that come from commands alone, in the commits that lead to `ids` and not to
 * the branches from before; undefined if the commits could not be read.
 */
async function findForeign (check: Check, path: string, ids: readonly string[]): Promise<string[] | undefined> {
  const { before, after, git } = check
  const top = ids.length === 0 ? undefined : topOf(after, path)
  if (top === undefined) return []
  const files = await git.listObeyed(path, { tips: ids, known: before.gitDirectories.get(path)?.tips ?? [] })
  return files && [...new Set((await withoutKnown(check, top, files)).map(({ name }) => name))]
}

const list = (names: readonly string[]) => names.slice(0, 10).join(', ') + (names.length > 10 ? ` and ${names.length - 10} more` : '')

/** Takes obeyed files out of the index that come from commands alone: nobody else staged or committed them. */
export async function unstageObeyed (check: Check): Promise<void> {
  const { before, after, git, taken } = check
  for (const [path, { index, staged }] of after.gitDirectories) {
    const was = before.gitDirectories.get(path)
    const top = was?.index === index ? undefined : topOf(after, path)
    if (top === undefined) continue
    const isKnown = (file: StagedFile) => was?.staged.some(({ name, blob }) => name === file.name && blob === file.blob)
    const isAnyNew = staged.some((file) => file.mode === TREE_MODE && !isKnown(file))
    const files = isAnyNew ? await git.listStaged(path) ?? staged : staged
    // In a new repository everything can stay in the index but attributes, because git obeys them even if they are only in the index.
    const added = files.filter((file) => !isKnown(file) && (was !== undefined || isAttributes(basename(file.name))))
    const names = (await withoutKnown(check, top, added)).map(({ name }) => name)
    if (names.length === 0) continue
    const what = `${list(names)}, which was staged in ${path},`
    await check.begin(what)
    const isDone = await git.unstage(path, top, names)
    taken.push(`${what} ${isDone ? 'is not staged any more' : 'could not be taken out of what is staged'}.`)
  }
}

/** Turns new stashes with obeyed files into references refs/boxed/<id>, because nobody inspects a stash before applying it. */
export async function setStashesAside (check: Check): Promise<void> {
  const { before, after, git, taken } = check
  for (const [path, { stashes }] of after.gitDirectories) {
    const was = before.gitDirectories.get(path)
    for (const id of was === undefined ? [] : stashes.filter((id) => !was.stashes.includes(id))) {
      const names = await findForeign(check, path, [id])
      if (names?.length === 0) continue
      const what = `A stash of the command in ${path}`
      await check.begin(what)
      const isDone = await git.dropStash(path, id)
      const held = names === undefined ? 'could not be looked at' : `holds what programs obey (${list(names)})`
      taken.push(`${what} ${held} and ${isDone ? 'is' : 'could not be made'} refs/boxed/${id} instead.`)
    }
  }
}

/** Returns a sentence for each repository with new commits of commands that hold obeyed files: the user's own git might check these out. */
export async function describeCommits (check: Check): Promise<string[]> {
  const { before, after } = check
  const sentences: string[] = []
  for (const [path, { tips, stashes }] of after.gitDirectories) {
    const was = before.gitDirectories.get(path)
    const made = was === undefined ? [] : tips.filter((id) => !was.tips.includes(id) && !stashes.includes(id))
    const names = await findForeign(check, path, made)
    if (names?.length === 0) continue
    const held = names === undefined ? 'could not be looked at' : `holds what programs obey: ${list(names)}`
    sentences.push(`A commit that the command made or fetched in ${path} ${held}. It comes into the folder ` +
      'with a git checkout, git stash or git reset --hard of the user, who should look at it before.')
  }
  return sentences
}
