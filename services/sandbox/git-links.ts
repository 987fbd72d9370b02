import { basename, dirname, resolve } from 'node:path'
import { isGitName } from '../lib/obeyed-names.ts'
import { isIn } from './box-places.ts'
import type { ObeyedState } from './obeyed-state.ts'
import { readSmall } from './read-small.ts'

// Which folder of files belongs to which git directory.

/** A repository: the folder of its files, and the git directory with its objects. */
export interface Repository {
  top: string
  common: string
}

/** Returns the path that a file `.git` names. */
export async function leadsTo (path: string): Promise<string | undefined> {
  const [, way] = /^gitdir: ([^\n]+)\n?$/.exec(await readSmall(path) ?? '') ?? []
  return way === undefined ? undefined : resolve(dirname(path), way)
}

/** Returns the folders of files of each git directory, those of its worktrees too. One without files stands for itself. */
export async function topsOf (
  { entries, gitDirectories, outside, top }: Pick<ObeyedState, 'entries' | 'gitDirectories' | 'outside' | 'top'>
): Promise<Map<string, string[]>> {
  const tops = new Map<string, string[]>()
  for (const git of gitDirectories.keys()) {
    tops.set(git, [outside.includes(git) ? top ?? dirname(git) : isGitName(basename(git)) ? dirname(git) : git])
  }
  for (const [path, { kind }] of entries) {
    const own = kind === 'file' && isGitName(basename(path)) ? await leadsTo(path) : undefined
    if (own === undefined) continue
    const common = basename(dirname(own)) === 'worktrees' ? dirname(dirname(own)) : own
    for (const git of new Set([own, common])) tops.get(git)?.push(dirname(path))
  }
  return tops
}

/** Returns the folder of the files of a git directory. */
export const topOf = ({ tops }: ObeyedState, git: string): string | undefined => tops.get(git)?.find((top) => top !== git)

/** Returns the repository that a path belongs to. */
export function repositoryOf ({ tops }: ObeyedState, path: string): Repository | undefined {
  let found: Repository | undefined
  for (const [common, folders] of tops) {
    const isWorktree = basename(dirname(common)) === 'worktrees'
    for (const top of isWorktree ? [] : folders) {
      if (top !== common && isIn(top, path) && (found === undefined || top.length > found.top.length)) found = { top, common }
    }
  }
  return found
}
