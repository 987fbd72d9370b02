import { createGlobFilter } from './search-folder.ts'
import type { Scanned, ScannedFile, ScanRequest } from './search-rpc.ts'
import { walk } from './walk.ts'

/**
 * Lists the files of a folder that match a glob, with their sizes and times. Links are not followed and not listed. Ends as soon as there
 * are more files than may be looked at. Runs in a worker. Throws when the folder cannot be opened.
 */
export function scanFiles ({ glob, most, mostFolders, ...scope }: ScanRequest): Scanned {
  const isWanted = createGlobFilter(glob)
  const files: ScannedFile[] = []
  const folders: string[] = []
  const closed: string[] = []
  const seen = { file: 0, folder: 0 }
  for (const { path, kind, stat } of walk(scope, (folder) => void closed.push(folder))) {
    if (kind === 'link') continue
    if (++seen[kind] > most) return { is: 'beyond' }
    if (kind === 'folder') {
      if (folders.length < mostFolders) folders.push(path)
      continue
    }
    if (!isWanted(path)) continue
    const found = stat()
    if (found?.isFile()) files.push([path, found.size, found.mtimeMs])
  }
  if (closed.includes('')) return { is: 'closed' }
  return { is: 'scanned', files, folders, hasMoreFolders: seen.folder > folders.length, closed }
}
