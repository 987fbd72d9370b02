import { createHash } from 'node:crypto'
import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { isGitName } from '../lib/obeyed-names.ts'
import { isIn } from './box-places.ts'
import type { CommitEnd } from './commit-ends.ts'
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
  /** Returns the folder of the files of a git directory. */
  topOf(git: string, after: ObeyedState): Promise<string | undefined>
  /** Makes the index have files as they are in the folder. Returns whether it did. */
  unstage(git: string, top: string, names: readonly string[]): Promise<boolean>
}

interface States {
  before: ObeyedState
  after: ObeyedState
  /** Who made which commits. */
  ends: readonly CommitEnd[]
}

/** Paths that are looked for at once. */
const MOST_PATHS = 2_000
/** No hook and no program of the settings, though they could harm nothing but the box. */
const OFF = [
  ...['--no-replace-objects', '-c', 'core.hooksPath=/nowhere', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false'],
  ...['-c', 'core.commitGraph=false', '-c', 'core.multiPackIndex=false']
]

/** A repository: the folder of its files, and the git directory with its objects. */
interface Repository {
  top: string
  common: string
}

/** `run` is undefined where there are no such boxes: then nothing is known to be in a commit. `above` is a repository above the folder. */
export const createBoxedGit = (run: RunInBox | undefined, above?: { top: string, common: string }): BoxedGit => ({
  async findCommitted (paths, states, staged) {
    const { before, after } = states
    const byTop = new Map<string, { repository: Repository, paths: string[] }>()
    for (const path of paths) {
      const repository = await repositoryOf(path, after) ?? above
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
    const top = await topOf(git, after, above)
    if (run === undefined || top === undefined) return false
    const abort = ['git', ...OFF, '--git-dir', git, '--work-tree', top, 'rebase', '--abort']
    return await run(abort, { isWritable: true, cwd: top }) !== undefined
  },

  topOf: (git, after) => topOf(git, after, above),

  unstage: async (git, top, names) =>
    await run?.(['/bin/sh', '-c', UNSTAGE, 'sh', git, ...names.slice(0, MOST_PATHS)], { isWritable: true, cwd: top }) !== undefined
})

const UNSTAGE = `GIT_DIR=$1; GIT_WORK_TREE=.; export GIT_DIR GIT_WORK_TREE; shift
for name; do
  if [ -f "$name" ] && [ ! -L "$name" ]; then
    mode=100644; [ ! -x "$name" ] || mode=100755
    id=$(git ${OFF.join(' ')} hash-object -w --no-filters -- "$name") &&
      git ${OFF.join(' ')} update-index --add --cacheinfo "$mode,$id,$name" || exit 1
  else git ${OFF.join(' ')} update-index --force-remove -- "$name" || exit 1; fi
done`

/** Returns the folder of the files of a git directory. */
async function topOf (git: string, { entries }: ObeyedState, above?: { top: string, common: string }): Promise<string | undefined> {
  if (basename(git) === '.git') return dirname(git)
  if (git === above?.common) return above.top
  for (const [file, { kind }] of entries) {
    if (kind === 'file' && isGitName(basename(file)) && await leadsTo(file) === git) return dirname(file)
  }
  return undefined
}

/** Returns the path that a file `.git` names. */
export async function leadsTo (path: string): Promise<string | undefined> {
  const [, way] = /^gitdir: ([^\n]+)\n?$/.exec(await readSmall(path) ?? '') ?? []
  return way === undefined ? undefined : resolve(dirname(path), way)
}

/** Returns the repository in the folder that a path belongs to. */
async function repositoryOf (path: string, { folder, gitDirectories, entries }: ObeyedState): Promise<Repository | undefined> {
  for (let top = dirname(path); isIn(folder, top); top = dirname(top)) {
    const dotGit = join(top, '.git')
    if (gitDirectories.has(dotGit)) return { top, common: dotGit }
    if (!entries.has(dotGit)) continue
    const [, way] = /^gitdir: ([^\n]+)\n?$/.exec(await readSmall(dotGit) ?? '') ?? []
    const git = way === undefined ? '' : resolve(top, way)
    return { top, common: resolve(git, (await readSmall(join(git, 'commondir')) ?? '').trim()) }
  }
  return undefined
}

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

const blobNames = (bytes: Buffer): Set<string> =>
  new Set(['sha1', 'sha256'].map((kind) => createHash(kind).update(`blob ${bytes.length}\0`).update(bytes).digest('hex')))
