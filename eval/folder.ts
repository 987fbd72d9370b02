import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

/** File contents by path. */
export type Files = Record<string, string | Uint8Array>

/**
 * The files and links below a folder, by their paths with `/`. The value of a link is `-> ` and its target. Empty folders are not recorded.
 */
export type Snapshot = Map<string, Buffer>

export function writeFiles (folder: string, files: Files = {}, links: Record<string, string> = {}) {
  mkdirSync(folder, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path))
}

export function snapshotOf (folder: string): Snapshot {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)).sort()
  return new Map(paths.flatMap((path): Array<[string, Buffer]> => {
    const stat = lstatSync(path)
    if (stat.isDirectory()) return []
    const name = relative(folder, path).split(sep).join('/')
    return [[name, stat.isSymbolicLink() ? Buffer.from(`-> ${readlinkSync(path)}`) : readFileSync(path)]]
  }))
}

/** Returns the paths that are new, changed or gone, each with that word. */
export function differences (before: Snapshot, after: Snapshot): Map<string, 'new' | 'changed' | 'gone'> {
  const found = new Map<string, 'new' | 'changed' | 'gone'>()
  for (const [path, content] of after) {
    const old = before.get(path)
    if (old === undefined) found.set(path, 'new')
    else if (!old.equals(content)) found.set(path, 'changed')
  }
  for (const path of before.keys()) if (!after.has(path)) found.set(path, 'gone')
  return found
}
