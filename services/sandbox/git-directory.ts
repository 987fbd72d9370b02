import type { Dirent } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { indexIdOf, stagedIn } from './git-index.ts'
import type { GitDirectory } from './obeyed-state.ts'
import { readSmall } from './read-small.ts'

// What is read of a git directory itself: its branches, what it is in the middle of, and what is staged.

/** In a git directory: folders of plain data, in which a file is allowed and a link is not. */
export const PLAIN_FOLDERS = new Set(['refs', 'logs', 'reftable', 'lfs', 'rebase-merge', 'rebase-apply', 'sequencer'])
/** Files in it that a command may write: the index, HEAD and its siblings, messages, packed refs, and what git notes meanwhile. */
export const PLAIN_FILES = new RegExp(
  '^(?:index|[A-Z_]*HEAD|[A-Z]+_(?:EDIT)?MSG|[A-Z]+_MODE|MERGE_RR|MERGE_AUTOSTASH|AUTO_MERGE|BISECT_[A-Z_]+|NOTES_MERGE_[A-Z]+|' +
    'EDIT_DESCRIPTION|ADD_EDIT\\.patch|addp-hunk-edit\\.diff|packed-refs(?:\\.new)?|shallow|sharedindex\\.[0-9a-f]+|gc\\.(?:log|pid)|' +
    '(?:index|HEAD|packed-refs|shallow|config|gc\\.pid|next-index-\\d+|[A-Z_]+HEAD)\\.lock)$'
)

/** Lists of what a stopped rebase, or a stopped series of picks, does next. */
const TODO = ['rebase-merge/git-rebase-todo', 'rebase-apply/git-rebase-todo', 'sequencer/todo']
/** Where these note how they merge, and with what options patches are applied. */
const STRATEGY = ['rebase-merge/strategy', 'sequencer/opts']
const OPTIONS = ['rebase-apply/apply-opt']
/** Strategies that git has. It starts others as programs, from a path too. */
const KNOWN_STRATEGY = /^(?:recursive|ort|resolve|octopus|ours|subtree)$/
/** Writes outside of the folder of the files. */
const UNSAFE = /unsafe-paths|directory|include/

/** Branches beyond which files of further ones are not read, and bytes of those that are packed. */
const MOST_REFS = 50_000
const LARGEST_PACKED = 64 * 1024 ** 2
const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
/** Names of branches that a careless script or prompt of a shell takes for a command or an option. */
const ODD = /[$`;|&<>]|(?:^|\/)-/

/** Returns the lines of a list of a rebase by which it starts programs. */
const execLines = (text: string): string[] =>
  text.split('\n').filter((line) => /^\s*(?:exec|x)(?:\s|$)/.test(line)).map((line) => line.trim())

/** Reads what the check afterwards asks about a git directory. */
export async function readGitDirectory (path: string, entries: readonly Dirent[], known?: GitDirectory): Promise<GitDirectory> {
  const names = new Set(entries.map(({ name }) => name))
  const stat = await lstat(path, { bigint: true }).catch(() => undefined)
  const indexId = await indexIdOf(path, names)
  return {
    id: `${stat?.dev} ${stat?.ino}`,
    isComplete: names.has('HEAD'),
    execs: await execsOf(path, names),
    ...await refsOf(path, names),
    index: indexId,
    staged: indexId === known?.index ? known.staged : await stagedIn(path, names)
  }
}

/** Returns what a stopped operation would start, as far as it is none of git itself. */
async function execsOf (git: string, names: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = []
  const texts = async (files: readonly string[]) =>
    Promise.all(files.filter((name) => names.has(dirname(name))).map(async (name) => await readSmall(join(git, name)) ?? ''))
  for (const text of await texts(TODO)) found.push(...execLines(text))
  for (const text of await texts(STRATEGY)) {
    const strategies = text.includes('[') ? [...text.matchAll(/^\s*strategy\s*=\s*(.*)$/gim)].map(([, value]) => value) : [text]
    found.push(...strategies.map((each) => each.trim()).filter((each) => each !== '' && !KNOWN_STRATEGY.test(each)))
  }
  for (const text of await texts(OPTIONS)) if (UNSAFE.test(text)) found.push(text.trim())
  return found
}

/** Returns the ids of the commits to which HEAD and packed branches lead, and which names of branches are odd. */
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

/** Adds a branch that has a file of its own. */
export async function addBranch (directory: GitDirectory, git: string, path: string): Promise<void> {
  if (directory.tips.length < MOST_REFS) addRef(directory, relative(git, path), (await readSmall(path))?.trim() ?? '')
}
