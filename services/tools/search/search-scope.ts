import { lstat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { TransformFailed } from '../transform/transform.ts'
import type { FilesRequest } from './search-rpc.ts'

/** Returns what a search of a folder or file looks at. Throws PathRefused, and ToolFailed for what is neither. */
export async function searchScope (path: string, cwd: string, paths: PathPolicy): Promise<Omit<FilesRequest, 'glob' | 'offset' | 'limit'>> {
  const real = await paths.resolve(path, cwd)
  const stat = await lstat(real)
  if (!stat.isDirectory() && !stat.isFile()) throw new ToolFailed(`${JSON.stringify(path)} is neither a folder nor a regular file.`)
  const excluded = await paths.ownIdentities()
  if (stat.isFile()) return { folder: dirname(real), file: basename(real), parents: [], excluded }
  return { folder: real, parents: await parentsOf(real, cwd, paths), excluded }
}

/** Returns the folders above a folder up to that of its repository, as far as they may be used, the outermost first. */
async function parentsOf (folder: string, cwd: string, paths: PathPolicy): Promise<string[]> {
  const parents: string[] = []
  for (let place = folder; place !== dirname(place) && !await isThere(join(place, '.git')); place = dirname(place)) {
    const allowed = await paths.resolve(dirname(place), cwd).catch(() => undefined)
    if (allowed !== dirname(place)) break
    parents.unshift(allowed)
  }
  return parents
}

const isThere = (path: string): Promise<boolean> => lstat(path).then(() => true, () => false)

/** Runs a search in the worker; turns its failure into a ToolFailed that says what to do. */
export async function runSearch<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TransformFailed)) throw error
    throw new ToolFailed(
      `The search was stopped: ${error.message.replace(/^.*?: /, '')} The pattern may repeat within a repetition, such as (a+)+, or the ` +
      'lines ' +
        'may be very long. Use a simpler pattern, literal: true, a smaller folder or a glob.'
    )
  }
}

/** Returns the glob relative to the searched folder. Throws ToolFailed for one that leads elsewhere. */
export function relativeGlob (glob: string, folder: string): string {
  const relative = glob.startsWith(`${folder}/`) ? glob.slice(folder.length + 1) : glob.replace(/^(?:\.\/)+/, '')
  if (relative.startsWith('/') || relative.split('/').includes('..')) {
    throw new ToolFailed(`The glob ${JSON.stringify(glob)} must be relative to the searched folder: name another folder by path.`)
  }
  return relative
}

/** Returns the sentences about the rest of a search. */
export function restOf ({ hasMore, endedAt }: { hasMore: boolean, endedAt?: string }, nextOffset: number): string[] {
  if (endedAt !== undefined) {
    return [`The search was ended for its time at ${JSON.stringify(
      endedAt
    )}: what follows was not searched. Search a smaller folder, or by glob.`]
  }
  return hasMore ? [`There are more: go on with offset ${nextOffset}, or narrow the search by path, glob or a more exact pattern.`] : []
}
