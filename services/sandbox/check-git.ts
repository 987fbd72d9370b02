import { basename, dirname, join, relative, resolve } from 'node:path'
import { isAttributes, isGitName } from '../lib/obeyed-names.ts'
import { blobsAt, leadsTo } from './boxed-git.ts'
import { harmlessSettings } from './git-settings.ts'
import type { StagedFile } from './obeyed-state.ts'
import { type Check, moveAside, write } from './put-back.ts'
import { readSmall } from './read-small.ts'

// What a command may leave in a git directory, and what is ended of it.

/** Whether something new or changed in a git directory may stay: some files may, beside those that are not asked about (PLAIN_FILES). */
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

const REBASES = ['rebase-merge', 'rebase-apply', 'sequencer']

/** Ends rebases that would start programs when they go on. Returns whether there was one. */
export async function endRebases (check: Check): Promise<boolean> {
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

const writeText = (check: Check, path: string, text: string) =>
  write(check, path, { kind: 'file', id: '', mode: 0o644, links: 1, content: Buffer.from(text).toString('base64') })

/** Takes out of the index what programs obey and nobody else staged or committed. */
export async function unstageObeyed (check: Check): Promise<void> {
  const { before, after, git, ends, taken } = check
  for (const [path, { index, staged }] of after.gitDirectories) {
    const was = before.gitDirectories.get(path)
    const top = was?.index === index ? undefined : await git.topOf(path, after)
    if (top === undefined) continue
    const isKnown = (file: StagedFile) => was?.staged.some(({ name, blob }) => name === file.name && blob === file.blob)
    // A new repository may hold anything, but its attributes are obeyed from the index alone.
    const added = staged.filter((file) => !isKnown(file) && (was !== undefined || isAttributes(basename(file.name))))
    const files = new Map(added.map((file) => [join(top, file.name), file]))
    for (const [at, { blob }] of files) if ((await blobsAt(at)).has(blob)) files.delete(at)
    if (files.size === 0) continue
    for (const at of await git.findCommitted([...files.keys()], { before, after, ends }, files)) files.delete(at)
    const names = [...files.values()].map(({ name }) => name)
    if (names.length === 0) continue
    const isDone = await git.unstage(path, top, names)
    const end = isDone ? 'is not staged any more' : 'could not be taken out of what is staged'
    taken.push(`${names.slice(0, 10).join(', ')} ${end} in ${path}.`)
  }
}
