import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { indexIdOf, isObeyedName, stagedIn } from './git-index.ts'
import type { GitDirectory } from './obeyed-state.ts'
import { readSmall } from './read-small.ts'

// Reads the parts of a git directory that the check after a command compares: branches, stopped operations, and the index.

/** Folders of a git directory with plain data: a regular file in them is allowed, a link is not. */
export const PLAIN_FOLDERS = new Set(['refs', 'logs', 'reftable', 'lfs', 'rebase-merge', 'rebase-apply', 'sequencer'])
/**
 * Files of a git directory that a command is allowed to write: the index, HEAD and its siblings, messages, packed refs, and notes of
 * operations.
 */
export const PLAIN_FILES = new RegExp(
  '^(?:index|[A-Z_]*HEAD|[A-Z]+_(?:EDIT)?MSG|[A-Z]+_MODE|MERGE_RR|MERGE_AUTOSTASH|AUTO_MERGE|BISECT_[A-Z_]+|NOTES_MERGE_[A-Z]+|' +
    'EDIT_DESCRIPTION|ADD_EDIT\\.patch|addp-hunk-edit\\.diff|packed-refs(?:\\.new)?|shallow|sharedindex\\.[0-9a-f]+|gc\\.(?:log|pid)|' +
    '(?:index|HEAD|packed-refs|shallow|config|gc\\.pid|next-index-\\d+|[A-Z_]+HEAD)\\.lock)$'
)

/** Files with the next steps of a stopped rebase or of a stopped series of cherry-picks. */
const TODO = ['rebase-merge/git-rebase-todo', 'rebase-apply/git-rebase-todo', 'sequencer/todo']
/** Files in which stopped operations name commits that they bring into the folder when they continue or are aborted. */
const RESUMED = [
  ...TODO, 'rebase-merge/autostash', 'rebase-merge/orig-head', 'rebase-apply/autostash', 'rebase-apply/orig-head', 'sequencer/head',
  'MERGE_AUTOSTASH'
]
const ANY_ID = /\b[0-9a-f]{7,64}\b/g
/** A line of a todo list that picks a commit without naming it by its id. */
const UNKNOWN_PICK = /^\s*(?:p|pick|r|reword|e|edit|s|squash|f|fixup)\s+(?:-[cC]\s+)?(?![0-9a-f]{7,64}(?:\s|$))/
/** Names of the patches that a stopped `git am` applies next, and the most that are read. */
const PATCH = /^\d+$/
const MOST_PATCHES = 1_000
const PATCHED = /^(?:\+\+\+ |rename to |copy to |diff --git .* )"?(?:b\/)?(.*?)"?\r?$/gm
/** Files in which stopped operations store their merge strategy, and their options for applying patches. */
const STRATEGY = ['rebase-merge/strategy', 'sequencer/opts']
const OPTIONS = ['rebase-apply/apply-opt']
/** Merge strategies that git has built in. It starts any other strategy as a program, even from a path. */
const KNOWN_STRATEGY = /^(?:recursive|ort|resolve|octopus|ours|subtree)$/
/** Options that change which files a patch reaches, also outside the work tree. */
const UNSAFE = /unsafe-paths|directory|include/

/** The number of branches after which no more branch files are read, and the largest packed-refs file that is read, in bytes. */
const MOST_REFS = 50_000
const LARGEST_PACKED = 64 * 1024 ** 2
/** A line of the reflog of refs/stash. Its second id is the commit of a stash. */
const LOGGED = /^[0-9a-f]+ ([0-9a-f]{40,64}) /gm
const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
/**
 * Names of references that a careless script or shell prompt takes for a command or an option, and those of refs/replace, by which git
 * takes one object for another.
 */
const ODD = /[$`;|&<>]|(?:^|\/)-|^refs\/replace\//

/** Returns the lines of a todo list that start programs, or whose effect cannot be known. */
const execLines = (text: string): string[] =>
  text.split('\n').filter((line) => /^\s*(?:exec|x)(?:\s|$)/.test(line) || UNKNOWN_PICK.test(line)).map((line) => line.trim())

/**
 * Reads the state of a git directory for the check after a command. `known` is an earlier state: its list of staged files is reused while
 * the index is unchanged.
 */
export async function readGitDirectory (path: string, entries: readonly Dirent[], known?: GitDirectory): Promise<GitDirectory> {
  const names = new Set(entries.map(({ name }) => name))
  const stat = await lstat(path, { bigint: true }).catch(() => undefined)
  const indexId = await indexIdOf(path, names)
  const refs = await refsOf(path, names)
  const log = names.has('logs') ? await readSmall(join(path, 'logs/refs/stash')) ?? '' : ''
  const stashes = [...log.matchAll(LOGGED)].map(([, id]) => id)
  return {
    id: `${stat?.dev} ${stat?.ino}`,
    isComplete: names.has('HEAD'),
    ...await stoppedIn(path, names),
    ...refs,
    tips: [...refs.tips, ...stashes],
    stashes,
    index: indexId,
    staged: indexId === known?.index ? known.staged : await stagedIn(path, names)
  }
}

/**
 * Returns the programs, other than git's own, that stopped operations would start (`execs`, with unsafe options and patches), and the ids
 * of commits that they would bring into the folder (`resumes`).
 */
async function stoppedIn (git: string, names: ReadonlySet<string>): Promise<Pick<GitDirectory, 'execs' | 'resumes'>> {
  const execs: string[] = []
  const textsOf = async (files: readonly string[]) =>
    Promise.all(files.filter((name) => names.has(name.split('/', 1)[0])).map(async (name) => await readSmall(join(git, name)) ?? ''))
  for (const text of await textsOf(TODO)) execs.push(...execLines(text))
  for (const text of await textsOf(STRATEGY)) {
    const strategies = text.includes('[') ? [...text.matchAll(/^\s*strategy\s*=\s*(.*)$/gim)].map(([, value]) => value) : [text]
    execs.push(...strategies.map((each) => each.trim()).filter((each) => each !== '' && !KNOWN_STRATEGY.test(each)))
  }
  for (const text of await textsOf(OPTIONS)) if (UNSAFE.test(text)) execs.push(text.trim())
  const patches = names.has('rebase-apply') ? await readdir(join(git, 'rebase-apply')).catch((): string[] => []) : []
  const next = patches.filter((name) => PATCH.test(name)).slice(0, MOST_PATCHES).map((name) => `rebase-apply/${name}`)
  for (const text of await textsOf(next)) {
    for (const [, name] of text.matchAll(PATCHED)) if (isObeyedName(name)) execs.push(`a patch of ${name}`)
  }
  const resumes = (await textsOf(RESUMED)).flatMap((text) => text.match(ANY_ID) ?? [])
  return { execs: [...new Set(execs)], resumes: [...new Set(resumes)] }
}

/** Returns the commits that HEAD and packed branches name, the content of HEAD, and the odd names among the references. */
async function refsOf (git: string, names: ReadonlySet<string>): Promise<Pick<GitDirectory, 'tips' | 'head' | 'oddRefs'>> {
  const head = names.has('HEAD') ? (await readSmall(join(git, 'HEAD')))?.trim() ?? '' : ''
  const refs = { tips: [], head, oddRefs: [] }
  addRef(refs, head.startsWith('ref:') ? head : '', head)
  if (!names.has('packed-refs')) return refs
  for (const line of (await readSmall(join(git, 'packed-refs'), LARGEST_PACKED) ?? '').split('\n')) {
    const [id, ref = ''] = line.split(' ', 2)
    if (ID.test(id)) addRef(refs, ref, id)
  }
  return refs
}

function addRef ({ tips, oddRefs }: Pick<GitDirectory, 'tips' | 'oddRefs'>, ref: string, id: string): void {
  if (ID.test(id)) tips.push(id)
  if (ODD.test(ref)) oddRefs.push(ref)
}

/**
 * Adds the branch in the file at `path` to the state of its git directory. Does nothing if the state has MOST_REFS ends of branches
 * already.
 */
export async function addBranch (directory: GitDirectory, git: string, path: string): Promise<void> {
  if (directory.tips.length < MOST_REFS) addRef(directory, relative(git, path), (await readSmall(path))?.trim() ?? '')
}
