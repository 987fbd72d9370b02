import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Creates the folders `a` and `b`, and `link`, a symbolic link to `a`. Returns their real paths. */
export function layFolders (dir: string) {
  const base = realpathSync(dir)
  const [a, b, link] = ['a', 'b', 'link'].map((name) => `${base}/${name}`)
  mkdirSync(a)
  mkdirSync(b)
  symlinkSync(a, link)
  return {
    a,
    b,
    link,
    /** Points the link at another target. */
    retarget (to: string) {
      rmSync(link)
      symlinkSync(to, link)
    },
    /** Replaces a folder by another one; the old folder is kept under the name `old`. */
    replace (folder: string) {
      renameSync(folder, `${base}/old`)
      mkdirSync(folder)
      return `${base}/old`
    }
  }
}

/** Returns everything below a folder: kind, permissions and content by path. */
export function stateOf (folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const stat = lstatSync(path)
    const mode = (stat.mode & 0o777).toString(8)
    const state = stat.isFile()
      ? `file ${mode} ${readFileSync(path).toString('base64')}`
      : stat.isSymbolicLink() ? `link ${readlinkSync(path)}` : `folder ${mode}`
    return [path.slice(folder.length + 1), state]
  }))
}
