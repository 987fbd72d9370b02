import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXERCISED } from '../harness/exercise.ts'

/** Makes a folder outside of the project that is removed at the exit. Every user may enter it. */
export function scratch (): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'shipped-')))
  chmodSync(dir, 0o755)
  process.once('exit', () => {
    // A part of it may be read-only.
    spawnSync('chmod', ['-R', 'u+w', dir])
    rmSync(dir, { recursive: true, force: true })
  })
  return dir
}

/** Makes a home with the configuration for `exercise` and a working folder, both of the user `uid`. */
export function places (dir: string, uid?: number) {
  const [home, cwd] = ['its home', 'its work'].map((name) => join(dir, name))
  for (const folder of [home, cwd]) {
    mkdirSync(folder, { mode: 0o700 })
    if (uid !== undefined) chownSync(folder, uid, uid)
  }
  writeFileSync(join(home, 'config.json'), JSON.stringify(EXERCISED))
  if (uid !== undefined) chownSync(join(home, 'config.json'), uid, uid)
  return { home, cwd }
}

/** Returns the bytes that the files of a folder take on the disk. */
export function sizeOf (dir: string): number {
  return readdirSync(dir, { recursive: true }).reduce((sum, name) => sum + statSync(join(dir, String(name))).blocks * 512, 0)
}
