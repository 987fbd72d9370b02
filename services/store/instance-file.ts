import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// `instance.json` holds the address of the service that uses a directory. It exists while that service holds the directory's
// lock. It does not prove that the service runs, and it holds no secret.

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

/** Writes the file atomically, readable by its owner only. The caller holds the lock. */
export function writeInstance (dir: string, instance: Instance): void {
  rmSync(draftIn(dir), { force: true })
  writeFileSync(draftIn(dir), `${JSON.stringify(instance)}\n`, { flag: 'wx', mode: 0o600 })
  renameSync(draftIn(dir), pathIn(dir))
}

/** Removes the file, including one left by a killed process. The caller holds the lock. */
export function removeInstance (dir: string): void {
  for (const path of [draftIn(dir), pathIn(dir)]) {
    try {
      rmSync(path, { force: true })
    } catch {
      // The file is only informative: a failure to remove it must not stop the service.
    }
  }
}

/** Returns the URL of the process that holds the lock; undefined when there is no valid file for that process. */
export function urlOf (dir: string, pid: number): string | undefined {
  try {
    if (!statSync(pathIn(dir)).isFile()) return undefined
    const instance: Instance = JSON.parse(readFileSync(pathIn(dir), 'utf8'))
    return instance.pid === pid && /^http:\/\/[\w.:[\]-]+$/.test(instance.url) ? instance.url : undefined
  } catch {
    return undefined
  }
}
