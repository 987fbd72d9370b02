import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// `instance.json` says where the service of a directory listens. It is there while that holds the directory's lock, is no
// proof that the service runs, and holds no secret.

/** The contents of `instance.json`. */
export interface Instance {
  url: string
  pid: number
  version: string
  /** Milliseconds since the epoch. */
  startedAt: number
}

const pathIn = (dir: string) => join(dir, 'instance.json')
const draftIn = (dir: string) => `${pathIn(dir)}.new`

/** Writes the file whole, for its owner alone. The caller holds the lock. */
export function writeInstance (dir: string, instance: Instance): void {
  rmSync(draftIn(dir), { force: true })
  writeFileSync(draftIn(dir), `${JSON.stringify(instance)}\n`, { flag: 'wx', mode: 0o600 })
  renameSync(draftIn(dir), pathIn(dir))
}

/** Removes the file, also one that a killed process left. The caller holds the lock. */
export function removeInstance (dir: string): void {
  for (const path of [draftIn(dir), pathIn(dir)]) {
    try {
      rmSync(path, { force: true })
    } catch {
      // It tells where a service is, and stops none.
    }
  }
}

/** Where the process that holds the lock listens; undefined when its file is not there. */
export function urlOf (dir: string, pid: number): string | undefined {
  try {
    if (!statSync(pathIn(dir)).isFile()) return undefined
    const instance: Instance = JSON.parse(readFileSync(pathIn(dir), 'utf8'))
    return instance.pid === pid && /^http:\/\/[\w.:[\]-]+$/.test(instance.url) ? instance.url : undefined
  } catch {
    return undefined
  }
}
