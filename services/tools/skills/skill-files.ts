import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { within } from '../path-policy.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'

/** The files in the folder of a skill, without its SKILL.md. */
export interface SkillFiles {
  /** The digests of the files, by the path in the skill's folder, with forward slashes. All files beyond the limits share one digest. */
  digests: Record<string, string>
  /** Symbolic links that lead out of the folder. Nothing is read through these links. */
  leadOut: string[]
}

/** The most files whose content is compared, and the most that are visited. */
const MOST_READ = 300
const MOST_SEEN = 3_000
const MOST_BYTES = 16 * 1024 * 1024
const DEEPEST = 8
/** The key of the digest that all files beyond the limits share. */
const REST = '…'
const DIGEST_LENGTH = 16

// Windows lacks O_NOFOLLOW.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

const digestOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('base64url').slice(0, DIGEST_LENGTH)

/**
 * Returns the files in a skill's folder (a real path) with digests of their content. For files beyond the limits, the digest covers size
 * and modification time. For a symbolic link, it covers the target.
 */
export async function filesOf (folder: string): Promise<SkillFiles> {
  const found: SkillFiles = { digests: {}, leadOut: [] }
  const rest: string[] = []
  let bytes = 0
  let seen = 0

  async function visit (path: string, shown: string, depth: number): Promise<void> {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
    for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (seen++ >= MOST_SEEN) return
      if (seen % 50 === 0) await yieldToEventLoop()
      const place = join(path, entry.name)
      const name = shown === '' ? entry.name : `${shown}/${entry.name}`
      if (entry.isSymbolicLink()) {
        found.digests[name] = digestOf(`link ${await readlink(place).catch(() => '')}`)
        const real = await realpath(place).catch(() => undefined)
        if (real === undefined || !within(real, folder)) found.leadOut.push(name)
      } else if (entry.isDirectory()) {
        if (depth < DEEPEST) await visit(place, name, depth + 1)
      } else if (entry.isFile() && name !== 'SKILL.md') {
        const stat = await lstat(place).catch(() => undefined)
        if (stat === undefined) continue
        bytes += stat.size
        if (Object.keys(found.digests).length >= MOST_READ || bytes > MOST_BYTES) rest.push(`${name} ${stat.size} ${stat.mtimeMs}`)
        else found.digests[name] = await contentOf(place, stat)
      }
    }
  }

  await visit(folder, '', 0)
  if (rest.length > 0) found.digests[REST] = digestOf(rest.join('\n'))
  return found
}

async function contentOf (path: string, { size, mtimeMs }: Stats): Promise<string> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  try {
    return digestOf(await file?.readFile() ?? `${size} ${mtimeMs}`)
  } finally {
    await file?.close()
  }
}

/** Returns the names of the files that differ between two states of a skill. */
export const changedFiles = (before: SkillFiles['digests'], after: SkillFiles['digests']): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name])
    .map((name) => name === REST ? 'others' : name)
