import { basename, dirname, resolve } from 'node:path'
import { isGitName } from '../lib/obeyed-names.ts'
import { isIn } from './box-places.ts'
import type { ObeyedState } from './obeyed-state.ts'
import { readSmall } from './read-small.ts'

// Finds which work tree belongs to which git directory.

/** A repository: its work tree (`top`), and the git directory with its objects (`common`). */
export interface Repository {
  top: string
  common: string
}

/** Returns the path of the git directory that a file `.git` names; undefined if the file does not name one. */
export async function leadsTo (path: string): Promise<string | undefined> {
  const [, way] = /^gitdir: ([^\n]+)\n?$/.exec(await readSmall(path) ?? '') ?? []
  return way === undefined ? undefined : resolve(dirname(path), way)
}

/** Returns the work trees of each git directory, by its path, including linked worktrees. A bare git directory is its own work tree. */
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

/** Returns the first work tree of a git directory; undefined if it has none. */
export const topOf = ({ tops }: ObeyedState, git: string): string | undefined => tops.get(git)?.find((top) => top !== git)

/** Returns the innermost repository that a path belongs to; undefined if there is none. */
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
