import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Makes the folders `a` and `b`, and `link`, a symbolic link to `a`; real paths. */
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
    /** Makes the link lead elsewhere. */
    retarget (to: string) {
      rmSync(link)
      symlinkSync(to, link)
    },
    /** Puts another folder in the place of one, which is kept under the name `old`. */
    replace (folder: string) {
      renameSync(folder, `${base}/old`)
      mkdirSync(folder)
      return `${base}/old`
    }
  }
}

/** What is below a folder: kinds, permissions and contents by path. */
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
