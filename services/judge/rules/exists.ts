import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'

/** Folders below the working folder that are looked through for a bare name: so deep, and so many entries in all. */
const DEPTH = 3
const MOST_ENTRIES = 2_000
const PASSED_OVER = new Set(['node_modules', '.git'])

/**
 * The size of what lies at a path that a report or a goal names, in bytes; undefined when nothing does. A bare name may be
 * that of a file further down. Only this is told, to nobody but the rules.
 */
export const existing = (cwd: string) => async (path: string): Promise<number | undefined> => {
  const absolute = path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(cwd, path)
  const size = await sizeAt(absolute)
  if (size !== undefined || path.includes('/')) return size
  const found = await below(cwd, path)
  return found === undefined ? undefined : sizeAt(found)
}

const sizeAt = (path: string) => stat(path).then(({ size }) => size, () => undefined)

async function below (folder: string, name: string): Promise<string | undefined> {
  let left = MOST_ENTRIES
  let level = [folder]
  for (let depth = 0; depth <= DEPTH && level.length > 0; depth++) {
    const next: string[] = []
    for (const each of level) {
      const entries = await readdir(each, { withFileTypes: true }).catch(() => [])
      for (const entry of entries.slice(0, left)) {
        if (basename(entry.name) === name) return join(each, name)
        if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) next.push(join(each, entry.name))
      }
      left -= entries.length
      if (left <= 0) return undefined
    }
    level = next
  }
  return undefined
}
