import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'local-agent-box-'
/** A folder of this age, in milliseconds, is abandoned: no command runs for so long. */
const ABANDONED_MS = 24 * 60 * 60 * 1000

/** Makes a folder outside the box (the sandbox) for files that one box needs. Returns its real path. */
export const makeTemporary = async (): Promise<string> => realpath(await mkdtemp(join(tmpdir(), PREFIX)))

/** Runs `work` with a new temporary folder, and removes the folder afterwards. */
export async function inTemporary<T> (work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await makeTemporary()
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Removes the folders of boxes whose service was killed, as far as they belong to this user. `now`: milliseconds since the Unix epoch. A
 * folder that cannot be removed is left.
 */
export async function removeAbandoned (now: number): Promise<void> {
  for (const name of await readdir(tmpdir()).catch((): string[] => [])) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(tmpdir(), name)
    const stat = await lstat(path).catch(() => undefined)
    if (stat?.isDirectory() !== true || stat.uid !== process.getuid?.()) continue
    if (stat.mtimeMs < now - ABANDONED_MS) await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}
