import { lstat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isAttributes, isOpenedPath, MAY_BE_OPENED } from '../lib/obeyed-names.ts'
import type { StagedFile } from './obeyed-state.ts'
import { readSmall } from './read-small.ts'

// Reads the index of a repository. Git obeys attributes that are only in the index, and a checkout writes staged files into the folder.

/** The largest index file that is read, in bytes. */
const LARGEST = 128 * 1024 ** 2
/** Lengths and offsets in bytes, see gitformat-index(5): the header, the part of an entry before its digest (20 or 32 bytes), the mode. */
const HEADER = 12
const BEFORE_ID = 40
const MODE_AT = 24
const FLAG_EXTENDED = 0x4000
/** The mode of an entry for a whole folder that is not checked out (sparse index). */
export const TREE_MODE = 0o40000
/** The mask for the length of a name in the flags of an entry. All names of at least this length have this value. */
const LENGTH = 0xfff
const SPLIT = /^sharedindex\.[0-9a-f]+$/

/** Whether programs act by themselves on a file with this path in a repository: in the folder, or in the index alone. */
export const isObeyedName = (name: string): boolean =>
  MAY_BE_OPENED.test(name) && (isOpenedPath(name) || isAttributes(basename(name)))

/**
 * Returns a text that changes whenever the index of a git directory does, made of inode and change time of its files. `names`: the names in
 * the git directory. A file that cannot be examined counts as missing.
 */
export async function indexIdOf (git: string, names: ReadonlySet<string>): Promise<string> {
  const files = [...names].filter((name) => name === 'index' || SPLIT.test(name)).sort()
  const stats = await Promise.all(files.map((name) => lstat(join(git, name), { bigint: true }).catch(() => undefined)))
  return stats.map((stat) => `${stat?.ino} ${stat?.ctimeNs}`).join(' ')
}

/**
 * Returns the staged files that programs act on by themselves (hooks, editor settings, git attributes), and folders that are staged as one
 * entry.
 */
export async function stagedIn (git: string, names: ReadonlySet<string>): Promise<StagedFile[]> {
  const found: StagedFile[] = []
  for (const name of names) {
    if (name !== 'index' && !SPLIT.test(name)) continue
    const content = await readSmall(join(git, name), LARGEST, 'latin1')
    if (content !== undefined) found.push(...readIndex(Buffer.from(content, 'latin1')))
  }
  return found
}

function readIndex (bytes: Buffer): StagedFile[] {
  if (bytes.length < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC') return []
  // The index does not say whether its digests are SHA-1 or SHA-256.
  return readEntries(bytes, 20) ?? readEntries(bytes, 32) ?? []
}

function readEntries (bytes: Buffer, idBytes: number): StagedFile[] | undefined {
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)]
  const found: StagedFile[] = []
  let last: Buffer = Buffer.alloc(0)
  let at = HEADER
  for (let entry = 0; entry < count; entry++) {
    const flagsAt = at + BEFORE_ID + idBytes
    if (flagsAt + 4 > bytes.length) return undefined
    const flags = bytes.readUInt16BE(flagsAt)
    let from = flagsAt + ((flags & FLAG_EXTENDED) === 0 ? 2 : 4)
    // In version 4, a name is stored as the difference from the name of the entry before it.
    let kept = 0
    if (version === 4) {
      let drop = 0
      for (let byte = 0x80; (byte & 0x80) !== 0; from++) {
        byte = bytes[from]
        drop = (byte & 0x80) === 0 ? (drop << 7) + byte : ((drop << 7) + (byte & 0x7f)) + 1
      }
      kept = last.length - drop
    }
    const end = bytes.indexOf(0, from)
    if (end === -1 || kept < 0) return undefined
    const name = version === 4 ? Buffer.concat([last.subarray(0, kept), bytes.subarray(from, end)]) : bytes.subarray(from, end)
    if ((flags & LENGTH) !== LENGTH && (flags & LENGTH) !== name.length) return undefined
    last = name
    const text = name.toString()
    const mode = bytes.readUInt32BE(at + MODE_AT)
    if (isObeyedName(text) || mode === TREE_MODE) found.push({ name: text, blob: bytes.toString('hex', at + BEFORE_ID, flagsAt), mode })
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8
  }
  return found
}
