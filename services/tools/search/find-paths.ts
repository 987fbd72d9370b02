import { FITTING_BYTES, jsonBytes } from '../fitting-text.ts'
import { createGlobFilter } from './search-glob.ts'
import type { FilesRequest, FoundFiles } from './search-rpc.ts'
import { startSearch } from './search-time.ts'
import { walk } from './walk.ts'

/** Finds the files and links below a folder that match a glob; the folders, for a glob that ends with `/`. Runs in the worker. */
export function findPaths (request: FilesRequest): FoundFiles {
  const { glob, offset, limit } = request
  const isTimeUp = startSearch()
  const wantsFolders = glob.endsWith('/')
  const matches = createGlobFilter(wantsFolders ? glob.slice(0, -1) : glob)
  const paths: string[] = []
  let toSkip = offset
  let room = FITTING_BYTES
  for (const { path, kind } of walk(request)) {
    if (isTimeUp()) return { paths, hasMore: true, endedAt: path }
    if ((kind === 'folder') !== wantsFolders || !matches(wantsFolders ? path.slice(0, -1) : path)) continue
    if (toSkip-- > 0) continue
    room -= jsonBytes(path)
    if (paths.length === limit || room < 0) return { paths, hasMore: true }
    paths.push(path)
  }
  return { paths, hasMore: false }
}
