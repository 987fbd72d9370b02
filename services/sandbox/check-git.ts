import { basename, dirname, join, relative, resolve } from 'node:path'
import { isAttributes, isGitName } from '../lib/obeyed-names.ts'
import { blobNames, blobsAt } from './boxed-git.ts'
import { leadsTo, topOf } from './git-links.ts'
import { TREE_MODE } from './git-index.ts'
import { harmlessSettings } from './git-settings.ts'
import type { StagedFile } from './obeyed-state.ts'
import { type Check, moveAside, writeText } from './put-back.ts'
import { readSmall } from './read-small.ts'

// What a command may leave in a git directory, and what is ended of it.

/** True if a new or changed entry of a git directory may stay. Not called for PLAIN_FILES, which always may. */
export async function isAllowedInGit (check: Check, git: string, path: string): Promise<boolean> {
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
export async function isDotGit ({ after }: Check, path: string): Promise<boolean> {
  const target = after.entries.get(path)?.kind === 'file' ? await leadsTo(path) : undefined
  return target !== undefined && after.gitDirectories.has(target)
}

/** Writes the settings of a new git directory anew from the harmless ones. */
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

/** Ends rebases that would start programs when they go on, or bring what programs obey. Returns whether there was one. */
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

/** Takes away branches whose names scripts would take for something else. */
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

/** Versions of one file that are looked for in commits, at most. */
const MOST_VERSIONS = 4

/** Returns those of the files that nobody else committed or put into the folder. */
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
 * Returns the names of files that programs obey, that nobody else committed or put into the folder, and that commits have which lead to
 * `ids` and not to the branches from before; undefined where the commits could not be looked at.
 */
async function findForeign (check: Check, path: string, ids: readonly string[]): Promise<string[] | undefined> {
  const { before, after, git } = check
  const top = ids.length === 0 ? undefined : topOf(after, path)
  if (top === undefined) return []
  const files = await git.listObeyed(path, { tips: ids, known: before.gitDirectories.get(path)?.tips ?? [] })
  return files && [...new Set((await withoutKnown(check, top, files)).map(({ name }) => name))]
}

const list = (names: readonly string[]) => names.slice(0, 10).join(', ') + (names.length > 10 ? ` and ${names.length - 10} more` : '')

/** Takes out of the index what programs obey and nobody else staged or committed. */
export async function unstageObeyed (check: Check): Promise<void> {
  const { before, after, git, taken } = check
  for (const [path, { index, staged }] of after.gitDirectories) {
    const was = before.gitDirectories.get(path)
    const top = was?.index === index ? undefined : topOf(after, path)
    if (top === undefined) continue
    const isKnown = (file: StagedFile) => was?.staged.some(({ name, blob }) => name === file.name && blob === file.blob)
    const isAnyNew = staged.some((file) => file.mode === TREE_MODE && !isKnown(file))
    const files = isAnyNew ? await git.listStaged(path) ?? staged : staged
    // A new repository may hold anything, but its attributes are obeyed from the index alone.
    const added = files.filter((file) => !isKnown(file) && (was !== undefined || isAttributes(basename(file.name))))
    const names = (await withoutKnown(check, top, added)).map(({ name }) => name)
    if (names.length === 0) continue
    const what = `${list(names)}, which was staged in ${path},`
    await check.begin(what)
    const isDone = await git.unstage(path, top, names)
    taken.push(`${what} ${isDone ? 'is not staged any more' : 'could not be taken out of what is staged'}.`)
  }
}

/** Takes stashes away that would bring what programs obey: nobody looks at one before it is applied. */
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

/** Returns sentences about files that programs obey in new commits, and that nobody else committed: the user's own git may bring them. */
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
