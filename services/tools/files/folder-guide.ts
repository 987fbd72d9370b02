import { statSync } from 'node:fs'
import { lstat, type FileHandle } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import type { FolderGuide } from '../../contracts/run-events.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StoredRecord } from '../../store/index.ts'
import type { PathPolicy } from '../path-policy.ts'
import { locateFolder } from '../work-folder.ts'
import { withFile, withParent } from '../../workspace/index.ts'

/** The digests of the guides (AGENTS.md, else CLAUDE.md, of a folder) that runs started by a person were given, oldest first. */
export interface KnownGuides {
  digests: string[]
}

const NAMES = ['AGENTS.md', 'CLAUDE.md']
/** The most bytes of a guide that models get. */
export const MAX_GUIDE_BYTES = 8 * 1024
const MAX_KNOWN = 1_000
/** The most folders without a guide that are remembered. */
const MAX_EMPTY = 100
/** A folder that changed more recently than this, in milliseconds, might change again without a new modification time. */
const RECENT_MS = 5_000

interface Parts {
  paths: PathPolicy
  known: StoredRecord<KnownGuides>
  digest: (text: string) => string
  clock: Pick<Clock, 'now'>
}

export type FolderGuides = ReturnType<typeof createFolderGuides>

/**
 * Reads the guides of working folders, under the path rules of tools, and records the guides that runs started by a person were given.
 * Anybody can have written into a folder, so a run that nobody watches gets only a recorded guide.
 */
export function createFolderGuides ({ paths, known, digest, clock }: Parts) {
  /** The modification times of folders that had no guide. Most folders have none, and the user waits for this check. */
  const empty = new Map<string, number>()
  const digests = (): Promise<string[]> => known.get().then((record) => record.digests, () => [])

  /** Returns the guide of a folder; undefined if it has none that can be read as text. */
  async function read (cwd: string): Promise<FolderGuide | undefined> {
    const changedAt = changeOf(cwd)
    if (changedAt === undefined || empty.get(cwd) === changedAt) return undefined
    const there = await Promise.all(NAMES.map((name) => lstat(join(cwd, name)).then(() => true, () => false)))
    const folder = there.includes(true) ? await locateFolder(cwd) : undefined
    if (folder === undefined) {
      if (empty.size === MAX_EMPTY) empty.clear()
      if (clock.now() - changedAt > RECENT_MS) empty.set(cwd, changedAt)
      return undefined
    }
    for (const name of NAMES.filter((_name, at) => there[at])) {
      const found = await readName(name, folder.path).catch(() => undefined)
      if (found !== undefined) return { name, ...found, digest: digest(JSON.stringify([folder.path, name, found])) }
    }
    return undefined
  }

  async function readName (name: string, folder: string) {
    const real = await paths.resolve(name, folder)
    const inside = relative(folder, real)
    // A link is allowed to lead to another file in the same folder, such as CLAUDE.md to AGENTS.md, but nowhere else.
    if (inside.startsWith('..') || isAbsolute(inside)) return undefined
    return withParent(real, (parent, entry) => withFile(parent, entry, paths, readText))
  }

  return {
    read,

    /** Returns the guide of a folder for a run that nobody watches; undefined unless a run started by a person was given the same guide. */
    async readKnown (cwd: string): Promise<FolderGuide | undefined> {
      const guide = await read(cwd)
      return guide !== undefined && (await digests()).includes(guide.digest) ? guide : undefined
    },

    /** Records that a run started by a person was given the guide. Resolves once the record is on disk. */
    async markKnown ({ digest }: FolderGuide): Promise<void> {
      if ((await digests()).includes(digest)) return
      await known.update(({ digests }) => ({ digests: [...digests, digest].slice(-MAX_KNOWN) })).catch((error) => {
        if (error.code !== 'ERR_RECORD_DAMAGED') throw error
        return known.replace({ digests: [digest] })
      })
    }
  }
}

/**
 * Returns the modification time of a folder in epoch milliseconds; undefined if it cannot be read. Synchronous, because this takes
 * microseconds: an asynchronous call would take as long as all other work before the first model call.
 */
function changeOf (folder: string): number | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.mtimeMs
  } catch {
    return undefined
  }
}

/** Reads the beginning of a file. Returns undefined if the file is binary or blank. Throws a TypeError if it is not UTF-8. */
async function readText (file: FileHandle, size: number): Promise<Pick<FolderGuide, 'text' | 'size'> | undefined> {
  const bytes = Buffer.alloc(MAX_GUIDE_BYTES)
  let length = 0
  for (let more = -1; more !== 0 && length < MAX_GUIDE_BYTES; length += more) {
    more = (await file.read(bytes, length, MAX_GUIDE_BYTES - length, length)).bytesRead
  }
  // The buffer can end inside a character, which `stream` allows.
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream: length === MAX_GUIDE_BYTES }).trim()
  return text === '' || text.includes('\0') ? undefined : { text, ...(size > MAX_GUIDE_BYTES && { size }) }
}
