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

/** Runs a program in a box of its own over a folder, and returns what it wrote; undefined where it failed. */
export type RunInBox = (args: string[], options: { isWritable: boolean, cwd: string, input?: string }) => Promise<Buffer | undefined>

/** What the comparison afterwards asks of git, which runs in a box, as the repository may be anybody's. */
export interface BoxedGit {
  /** Returns those of the paths at which a commit that no command made has the same bytes; those that are staged, where these are named. */
  findCommitted(paths: readonly string[], states: States, staged?: ReadonlyMap<string, StagedFile>): Promise<Set<string>>
  /** Aborts a stopped rebase of a git directory. Returns whether it did. */
  abortRebase(git: string, after: ObeyedState): Promise<boolean>
  /** Returns what programs obey of the files that commits brought which lead to `tips` and not to `known`; undefined for too many. */
  listObeyed(git: string, commits: { tips: readonly string[], known: readonly string[] }): Promise<StagedFile[] | undefined>
  /** Returns what programs obey of the files that are staged, also in folders that the index has as one; undefined where git fails. */
  listStaged(git: string): Promise<StagedFile[] | undefined>
  /** Makes the index have files as they are in the folder. Returns whether it did. */
  unstage(git: string, top: string, names: readonly string[]): Promise<boolean>
  /** Makes a stash a reference of another name. Returns whether it did. */
  dropStash(git: string, id: string): Promise<boolean>
}

interface States {
  before: ObeyedState
  after: ObeyedState
  /** Who made which commits. */
  ends: readonly CommitEnd[]
}

/** Paths that are looked for at once, and commits of one command. */
const MOST_PATHS = 2_000
const MOST_COMMITS = 1_000
/** No hook and no program of the settings, though they could harm nothing but the box. */
const OFF = [
  ...['--no-replace-objects', '-c', 'core.hooksPath=/nowhere', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false'],
  ...['-c', 'core.commitGraph=false', '-c', 'core.multiPackIndex=false']
]

/** `run` is undefined where there are no such boxes: then nothing is known to be in a commit. */
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
      // What a link leads to must be in a commit, too.
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

/** What stands before each commit of a log, and is no path. */
const COMMIT = '//commit'

/** Reads what `git log --raw -z` says of files that programs obey. */
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

/** Returns those of the paths at which a commit of the repository that no command made has the same bytes. */
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

/** Returns the bytes that git has for a file or a link. */
async function bytesAt (path: string, folder: string): Promise<{ bytes: Buffer, isLink: boolean } | undefined> {
  const content = await readSmall(path, undefined, 'base64')
  if (content !== undefined) return { bytes: Buffer.from(content, 'base64'), isLink: false }
  const target = await readlink(path).catch(() => undefined)
  const real = target === undefined ? undefined : await realpath(path).catch(() => undefined)
  return target !== undefined && real !== undefined && isIn(folder, real) ? { bytes: Buffer.from(target), isLink: true } : undefined
}

/** The mode of a link in an index. */
const LINK_MODE = 0o120000

/** Returns what git calls the bytes of a file, or of a link; nothing for what is neither. */
export async function blobsAt (path: string): Promise<Set<string>> {
  const content = await bytesAt(path, '/')
  return content === undefined ? new Set() : blobNames(content.bytes)
}

/** Returns what git calls these bytes. */
export const blobNames = (bytes: Buffer): Set<string> =>
  new Set(['sha1', 'sha256'].map((kind) => createHash(kind).update(`blob ${bytes.length}\0`).update(bytes).digest('hex')))
