import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'

/** Levels below the working folder that are searched for a bare name. */
const DEPTH = 3
/** Directory entries that one search reads. */
const MAX_ENTRIES = 2_000
const SKIPPED = new Set(['node_modules', '.git'])

/**
 * The size in bytes of the file at a path in a report or goal; undefined when it does not exist. A bare name may also be a
 * file in a subfolder. Only the rules use the size; no content is read.
 */
export const fileSizeIn = (cwd: string) => async (path: string): Promise<number | undefined> => {
  const absolute = path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(cwd, path)
  const size = await sizeAt(absolute)
  if (size !== undefined || path.includes('/')) return size
  const found = await findBelow(cwd, path)
  return found === undefined ? undefined : sizeAt(found)
}

const sizeAt = (path: string) => stat(path).then(({ size }) => size, () => undefined)

async function findBelow (folder: string, name: string): Promise<string | undefined> {
  let remaining = MAX_ENTRIES
  let level = [folder]
  for (let depth = 0; depth <= DEPTH && level.length > 0; depth++) {
    const next: string[] = []
    for (const directory of level) {
      const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
      for (const entry of entries.slice(0, remaining)) {
        if (basename(entry.name) === name) return join(directory, name)
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(join(directory, entry.name))
      }
      remaining -= entries.length
      if (remaining <= 0) return undefined
    }
    level = next
  }
  return undefined
}
