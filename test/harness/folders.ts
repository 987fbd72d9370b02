import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'

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
