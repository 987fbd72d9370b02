import { createHash } from 'node:crypto'
import { readlink, realpath } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { isIn } from './box-places.ts'
import type { CommitEnd } from './commit-ends.ts'
import { isObeyedName } from './git-index.ts'
import { type Repository, repositoryOf, topOf } from './git-links.ts'
import type { ObeyedState, StagedFile } from './obeyed-state.ts'
import { readSmall } from './read-small.ts'
import { findVouched, type WantedFile } from './vouched-commits.ts'

/**
 * Runs a program (`args[0]`) in a box (a sandbox) of its own, and returns its standard output; undefined if it failed. `isWritable`: it can
 * write into the folder.
 */
export type RunInBox = (args: string[], options: { isWritable: boolean, cwd: string, input?: string }) => Promise<Buffer | undefined>

/** The git operations that the check after a command needs. Git runs in a box, because anybody can have written the repository. */
export interface BoxedGit {
  /** Returns the paths whose bytes are in a commit that no command in a box made. For a path in `staged`, the staged bytes are compared. */
  findCommitted(paths: readonly string[], states: States, staged?: ReadonlyMap<string, StagedFile>): Promise<Set<string>>
  /** Aborts a stopped rebase of a git directory. Returns whether it did. */
  abortRebase(git: string, after: ObeyedState): Promise<boolean>
  /**
   * Returns the obeyed files (hooks, editor settings, git attributes) that the commits from `known` up to `tips` added or changed;
   * undefined if there are too many commits, or if git fails.
   */
  listObeyed(git: string, commits: { tips: readonly string[], known: readonly string[] }): Promise<StagedFile[] | undefined>
  /** Returns the obeyed files in the index, also those in folders that a sparse index stores as one entry; undefined if git fails. */
  listStaged(git: string): Promise<StagedFile[] | undefined>
  /** Resets the index entries `names` to the files in the folder `top`. Returns whether it did. */
  unstage(git: string, top: string, names: readonly string[]): Promise<boolean>
  /** Turns a stash into the reference refs/boxed/<id>. Returns whether it did. */
  dropStash(git: string, id: string): Promise<boolean>
}

interface States {
  before: ObeyedState
  after: ObeyedState
  /** The recorded ends of branches, which say who made which commits. */
  ends: readonly CommitEnd[]
}

/** The most paths that are searched for at once, and the most commits of one command that are read. */
const MOST_PATHS = 2_000
const MOST_COMMITS = 1_000
/**
 * Options that turn off hooks, programs named in settings, and files that could misstate the history (replace references, commit graph,
 * multi-pack index).
 */
const OFF = [
  ...['--no-replace-objects', '-c', 'core.hooksPath=/nowhere', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false'],
  ...['-c', 'core.commitGraph=false', '-c', 'core.multiPackIndex=false']
]

/** Returns the git operations. `run` is undefined on a computer without such boxes: then no file counts as committed. */
export const createBoxedGit = (run: RunInBox | undefined): BoxedGit => ({
  async findCommitted (paths, states, staged) {
    const { before, after } = states
    const byTop = new Map<string, { repository: Repository, paths: string[] }>()
    for (const path of paths) {
      const repository = repositoryOf(after, path)
      if (repository === undefined || !before.gitDirectories.has(repository.common)) continue
      const own = byTop.get(repository.top) ?? { repository, paths: [] }
      own.paths.push(path)
      byTop.set(repository.top, own)
    }
    const found = new Set<string>()
    for (const { repository, paths } of byTop.values()) {
      // The target of a link must be in a commit, too.
      const links = new Map<string, string>()
      for (const path of paths) {
        const real = await realpath(path).catch(() => path)
        if (real !== path && !after.entries.has(real)) links.set(path, real)
      }
      const inCommits = await findIn(repository, [...paths, ...links.values()], run, { ...states, staged })
      for (const path of paths) if (inCommits.has(path) && inCommits.has(links.get(path) ?? path)) found.add(path)
    }
    return found
  },

  async abortRebase (git, after) {
    const top = topOf(after, git)
    if (run === undefined || top === undefined) return false
    const abort = ['git', ...OFF, '--git-dir', git, '--work-tree', top, 'rebase', '--abort']
    return await run(abort, { isWritable: true, cwd: top }) !== undefined
  },

  async listObeyed (git, { tips, known }) {
    const log = ['log', '-z', '--raw', '-m', '--root', '--no-renames', '--no-abbrev', '--diff-filter=AMT', `--format=tformat:${COMMIT}`]
    const command = ['git', ...OFF, '--git-dir', git, ...log, '--ignore-missing', `--max-count=${MOST_COMMITS}`, '--stdin']
    const input = [...tips, ...known.map((id) => `^${id}`), ''].join('\n')
    const answer = (await run?.(command, { isWritable: false, cwd: dirname(git), input }))?.toString().split('\0')
    return answer === undefined || answer.filter((part) => part === COMMIT).length >= MOST_COMMITS ? undefined : obeyedIn(answer)
  },

  async listStaged (git) {
    const answer = await run?.(['git', ...OFF, '--git-dir', git, 'ls-files', '-s', '-z'], { isWritable: false, cwd: dirname(git) })
    if (answer === undefined) return undefined
    const all = [...answer.toString().matchAll(/(\d+) ([0-9a-f]+) \d\t([^\0]*)\0/g)]
    return all.flatMap(([, mode, blob, name]) => isObeyedName(name) ? [{ name, blob, mode: parseInt(mode, 8) }] : [])
  },

  unstage: async (git, top, names) =>
    await run?.(['/bin/sh', '-c', UNSTAGE, 'sh', git, ...names.slice(0, MOST_PATHS)], { isWritable: true, cwd: top }) !== undefined,

  dropStash: async (git, id) =>
    await run?.(['/bin/sh', '-c', DROP_STASH, 'sh', git, id], { isWritable: true, cwd: dirname(git) }) !== undefined
})

/** The line before each commit of the log. It cannot be the path of a file. */
const COMMIT = '//commit'

/** Returns the obeyed files in the output of `git log --raw -z`, which is split at each NUL. */
function obeyedIn (parts: readonly string[]): StagedFile[] {
  const found = new Map<string, StagedFile>()
  for (const [at, part] of parts.entries()) {
    const [, mode, blob] = /^\s*:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) [AMT]$/.exec(part) ?? []
    const name = parts[at + 1]
    if (blob !== undefined && isObeyedName(name)) found.set(`${name} ${blob}`, { name, blob, mode: parseInt(mode, 8) })
  }
  return [...found.values()]
}

const UNSTAGE = `GIT_DIR=$1; GIT_WORK_TREE=.; export GIT_DIR GIT_WORK_TREE; shift
for name; do
  if [ -f "$name" ] && [ ! -L "$name" ]; then
    mode=100644; [ ! -x "$name" ] || mode=100755
    id=$(git ${OFF.join(' ')} hash-object -w --no-filters -- "$name") &&
      git ${OFF.join(' ')} update-index --add --cacheinfo "$mode,$id,$name" || exit 1
  else git ${OFF.join(' ')} update-index --force-remove -- "$name" || exit 1; fi
done`

const DROP_STASH = `GIT_DIR=$1; export GIT_DIR; id=$2
at=$(git ${OFF.join(' ')} reflog show --format=%H refs/stash | grep -n "^$id" | head -n 1 | cut -d: -f1) && [ -n "$at" ] || exit 1
git ${OFF.join(' ')} update-ref "refs/boxed/$id" "$id" && git ${OFF.join(' ')} stash drop -q "stash@{$((at - 1))}"`

/** Returns the paths whose bytes are in a commit of the repository that no command in a box made. */
async function findIn (
  { top, common }: Repository,
  paths: readonly string[],
  run: RunInBox | undefined,
  { before, ends, staged }: States & { staged?: ReadonlyMap<string, StagedFile> }
): Promise<Set<string>> {
  const wanted: WantedFile[] = []
  for (const path of paths.slice(0, MOST_PATHS)) {
    const file = staged?.get(path)
    const content = file === undefined ? await bytesAt(path, before.folder) : undefined
    if (file !== undefined) wanted.push({ path, name: file.name, isLink: file.mode === LINK_MODE, blobs: new Set([file.blob]) })
    if (content !== undefined) wanted.push({ path, name: relative(top, path), isLink: content.isLink, blobs: blobNames(content.bytes) })
  }
  const ask = (args: string[], input?: string) =>
    run?.(['git', ...OFF, '--git-dir', common, '--literal-pathspecs', ...args], { isWritable: false, cwd: before.folder, input }) ??
    Promise.resolve(undefined)
  return findVouched(ask, wanted, ends)
}

/**
 * Returns the bytes that git would store for a file (its content) or a link (its target). Undefined for anything else, and for a link that
 * leads out of `folder`.
 */
async function bytesAt (path: string, folder: string): Promise<{ bytes: Buffer, isLink: boolean } | undefined> {
  const content = await readSmall(path, undefined, 'base64')
  if (content !== undefined) return { bytes: Buffer.from(content, 'base64'), isLink: false }
  const target = await readlink(path).catch(() => undefined)
  const real = target === undefined ? undefined : await realpath(path).catch(() => undefined)
  return target !== undefined && real !== undefined && isIn(folder, real) ? { bytes: Buffer.from(target), isLink: true } : undefined
}

/** The mode of a symbolic link in a git index. */
const LINK_MODE = 0o120000

/** Returns the ids that git gives to the bytes of a file or link; an empty set for anything else. */
export async function blobsAt (path: string): Promise<Set<string>> {
  const content = await bytesAt(path, '/')
  return content === undefined ? new Set() : blobNames(content.bytes)
}

/** Returns the ids that git gives to these bytes: by SHA-1, and by SHA-256. */
export const blobNames = (bytes: Buffer): Set<string> =>
  new Set(['sha1', 'sha256'].map((kind) => createHash(kind).update(`blob ${bytes.length}\0`).update(bytes).digest('hex')))
