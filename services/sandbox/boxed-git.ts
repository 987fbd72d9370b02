import { createHash } from 'node:crypto'
import { readlink, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { wasObject } from '../workspace/index.ts'
import { isIn } from './box-places.ts'
import type { ObeyedState } from './obeyed-state.ts'
import { readSmall } from './read-small.ts'

/** Runs a program in a box of its own over a folder, and returns what it wrote; undefined where it failed. */
export type RunInBox = (args: string[], options: { isWritable: boolean, cwd: string }) => Promise<string | undefined>

/** What the comparison afterwards asks of git, which runs in a box, as the repository may be anybody's. */
export interface BoxedGit {
  /** Returns those of the paths at which a commit that was there before has the same bytes. */
  findCommitted(paths: readonly string[], before: ObeyedState, after: ObeyedState): Promise<Set<string>>
  /** Aborts a stopped rebase of a git directory. Returns whether it did. */
  abortRebase(git: string, after: ObeyedState): Promise<boolean>
}

/** Paths that are looked for at once. */
const MOST_PATHS = 2_000
/** No hook and no program of the settings, though they could harm nothing but the box. */
const OFF = ['-c', 'core.hooksPath=/nowhere', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false']

/** A repository: the folder of its files, and the git directory with its objects. */
interface Repository {
  top: string
  common: string
}

/** `run` is undefined where there are no such boxes: then nothing is known to be in a commit. `above` is a repository above the folder. */
export const createBoxedGit = (run: RunInBox | undefined, above?: { top: string, common: string }): BoxedGit => ({
  async findCommitted (paths, before, after) {
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
      const inCommits = await findIn(repository, [...paths, ...links.values()], { run, before })
      for (const path of paths) if (inCommits.has(path) && inCommits.has(links.get(path) ?? path)) found.add(path)
    }
    return found
  },

  async abortRebase (git, { entries }) {
    const worktree = (await readSmall(join(git, 'gitdir')) ?? '').trim()
    const top = worktree !== '' && entries.has(worktree) ? dirname(worktree) : git.endsWith('/.git') ? dirname(git) : above?.top
    if (run === undefined || top === undefined) return false
    const abort = ['git', '--git-dir', git, '--work-tree', top, ...OFF, 'rebase', '--abort']
    return await run(abort, { isWritable: true, cwd: top }) !== undefined
  }
})

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

/** Returns those of the paths at which an older commit of the repository has the same bytes. */
async function findIn (
  { top, common }: Repository,
  paths: readonly string[],
  { run, before }: { run?: RunInBox, before: ObeyedState }
): Promise<Set<string>> {
  const wanted = new Map<string, { path: string, blobs: Set<string> }>()
  for (const path of paths.slice(0, MOST_PATHS)) {
    const bytes = await bytesAt(path, before.folder)
    if (bytes !== undefined) wanted.set(relative(top, path), { path, blobs: blobNames(bytes) })
  }
  const found = new Set<string>()
  if (wanted.size === 0) return found
  const history = ['log', '--all', '--no-renames', '--root', '-m', '--raw', '--no-abbrev', '--format=commit %H']
  const args = ['--git-dir', common, '--literal-pathspecs', ...OFF, ...history, '--', ...wanted.keys()]
  let commit = ''
  for (const line of (await run?.(['git', ...args], { isWritable: false, cwd: before.folder }) ?? '').split('\n')) {
    commit = /^commit ([0-9a-f]+)$/.exec(line)?.[1] ?? commit
    const [, blob, name] = /^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\t(.*)$/.exec(line) ?? []
    const each = name === undefined ? undefined : wanted.get(name)
    if (each?.blobs.has(blob) && await wasObject(join(common, 'objects'), commit, before.at)) found.add(each.path)
  }
  return found
}

/** Returns the bytes that git has for a file or a link. */
async function bytesAt (path: string, folder: string): Promise<Buffer | undefined> {
  const content = await readSmall(path, undefined, 'base64')
  if (content !== undefined) return Buffer.from(content, 'base64')
  const target = await readlink(path).catch(() => undefined)
  const real = target === undefined ? undefined : await realpath(path).catch(() => undefined)
  return target !== undefined && real !== undefined && isIn(folder, real) ? Buffer.from(target) : undefined
}

const blobNames = (bytes: Buffer): Set<string> =>
  new Set(['sha1', 'sha256'].map((kind) => createHash(kind).update(`blob ${bytes.length}\0`).update(bytes).digest('hex')))
