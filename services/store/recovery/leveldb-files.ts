import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Reads a LevelDB varint: seven bits per byte, least significant group first. Returns the value and the offset of the next
 * field. Throws a RangeError beyond the end.
 */
export function varintAt (bytes: Buffer, from: number): [value: number, next: number] {
  for (let value = 0, scale = 1, at = from; ; scale *= 128) {
    const byte = bytes.readUInt8(at++)
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return [value, at]
  }
}

// LevelDB's log and its MANIFEST use one format: blocks of 32 KiB that hold records or fragments of records.
// See https://github.com/google/leveldb/blob/main/doc/log_format.md

const BLOCK_BYTES = 32 * 1024
/** Checksum (4), length (2), type (1). */
const HEADER_BYTES = 7
const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4]

/** Yields the records of a log without checking checksums. Returns whether the log ends at the end of a fragment. */
function * recordsIn (log: Buffer): Generator<Buffer, boolean> {
  let fragments: Buffer[] = []
  for (let at = 0; at < log.length;) {
    const blockBytesLeft = BLOCK_BYTES - at % BLOCK_BYTES
    if (blockBytesLeft < HEADER_BYTES) at += blockBytesLeft
    else {
      const start = at + HEADER_BYTES
      if (start > log.length) return false
      const [end, type] = [start + log.readUInt16LE(at + 4), log[at + 6]]
      if (end - at > blockBytesLeft || end > log.length || ![FULL, FIRST, MIDDLE, LAST].includes(type)) return false
      if (type === FULL || type === FIRST) fragments = []
      fragments.push(log.subarray(start, end))
      if (type === FULL || type === LAST) yield Buffer.concat(fragments)
      at = end
    }
  }
  return true
}

/** Whether a log ends at the end of a fragment. */
export function endsWhole (log: Buffer): boolean {
  const records = recordsIn(log)
  for (;;) {
    const { done, value } = records.next()
    if (done) return value
  }
}

// LevelDB writes a checksum with each block of a table but does not verify it when it reads.
// See https://github.com/google/leveldb/blob/main/doc/table_format.md

const FOOTER_BYTES = 48
const MAGIC = 0xdb4775248b80fb57n
/** A type (1) and a checksum (4) follow each block. */
const TRAILER_BYTES = 5

/** Bytes checked between two yields to the event loop; they take about a millisecond. */
const TURN_BYTES = 256 * 1024

/** Whether the bytes are a complete table with valid checksums. Yields to the event loop in between. */
export async function isTableWhole (table: Buffer): Promise<boolean> {
  try {
    const { meta, index } = footerOf(table)
    // Blocks are contiguous, so a table with other bytes after the index is not intact.
    if (endOf(index) !== table.length || ![meta, index].every((block) => isBlockWhole(table, block))) return false
    let bytes = 0
    for (const block of [...handlesIn(table, meta), ...handlesIn(table, index)]) {
      if (!isBlockWhole(table, block)) return false
      bytes += block.bytes
      if (bytes < TURN_BYTES) continue
      bytes = 0
      await new Promise(setImmediate)
    }
    return true
  } catch {
    return false // a length that points beyond the end of the file
  }
}

interface Handle {
  at: number
  bytes: number
}

/** Throws a RangeError when the bytes do not end with a footer. */
function footerOf (table: Buffer): { meta: Handle, index: Handle } {
  const footer = table.subarray(-FOOTER_BYTES)
  if (footer.readBigUInt64LE(FOOTER_BYTES - 8) !== MAGIC) throw new RangeError('no table')
  const [meta, afterMeta] = handleAt(footer, 0)
  return { meta, index: handleAt(footer, afterMeta)[0] }
}

/** Returns the file size that the position of the index block implies. */
const endOf = (index: Handle): number => index.at + index.bytes + TRAILER_BYTES + FOOTER_BYTES

function isBlockWhole (table: Buffer, { at, bytes }: Handle): boolean {
  const end = at + bytes + 1
  return end + 4 <= table.length && table.readUInt32LE(end) === masked(crc32c(table.subarray(at, end)))
}

/** Returns the handles of the blocks that an index block points to. */
function handlesIn (table: Buffer, { at, bytes }: Handle): Handle[] {
  const block = table.subarray(at, at + bytes)
  const end = bytes - 4 - 4 * block.readUInt32LE(bytes - 4)
  const handles: Handle[] = []
  for (let from = 0; from < end;) {
    const [, afterShared] = varintAt(block, from)
    const [ownBytes, afterOwn] = varintAt(block, afterShared)
    const [valueBytes, key] = varintAt(block, afterOwn)
    handles.push(handleAt(block, key + ownBytes)[0])
    from = key + ownBytes + valueBytes
  }
  return handles
}

function handleAt (bytes: Buffer, from: number): [Handle, next: number] {
  const [at, afterAt] = varintAt(bytes, from)
  const [length, next] = varintAt(bytes, afterAt)
  return [{ at, bytes: length }, next]
}

/** Tables for CRC-32C (RFC 3720, B.4), which processes four bytes per step: the table at `n * 256` is for a byte followed by `n` bytes. */
const TABLE = new Uint32Array(4 * 256)
for (let at = 0; at < TABLE.length; at++) {
  let crc = at < 256 ? at : TABLE[at - 256]
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0x82f63b78 : crc >>> 1
  TABLE[at] = crc
}

function crc32c (bytes: Buffer): number {
  let crc = -1
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    const next = crc ^ (bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24)
    crc = TABLE[768 + (next & 0xff)] ^ TABLE[512 + (next >>> 8 & 0xff)] ^ TABLE[256 + (next >>> 16 & 0xff)] ^ TABLE[next >>> 24]
  }
  for (; at < bytes.length; at++) crc = TABLE[(crc ^ bytes[at]) & 0xff] ^ crc >>> 8
  return ~crc >>> 0
}

const masked = (crc: number): number => ((crc >>> 15 | crc << 17) + 0xa282ead8) >>> 0

// A MANIFEST records the changes of a database's set of tables. See db/version_edit.cc of LevelDB.
const COMPARATOR = 1
const COMPACT_POINTER = 5
const DELETED_FILE = 6
const NEW_FILE = 7

/** Changes applied between two yields to the event loop; they take a few milliseconds. */
const TURN_CHANGES = 2_000

/**
 * Returns the numbers of the tables that belong to a database. Other tables in its directory are unfinished or obsolete, and
 * LevelDB might use their numbers again. Works for an open database too, without the table being written. Empty when no MANIFEST
 * can be read.
 */
export async function liveTables (location: string): Promise<Set<number>> {
  const live = new Set<number>()
  const current = (await readFile(join(location, 'CURRENT'), 'utf8').catch(() => '')).trim()
  if (!/^MANIFEST-\d+$/.test(current)) return live
  const manifest = await readFile(join(location, current)).catch(() => Buffer.of())
  let changes = 0
  try {
    for (const change of recordsIn(manifest)) {
      apply(change, live)
      if (++changes % TURN_CHANGES === 0) await new Promise(setImmediate)
    }
  } catch {
    // LevelDB itself reports a change that cannot be read.
  }
  return live
}

function apply (change: Buffer, live: Set<number>) {
  let at = 0
  const number = () => {
    const [value, next] = varintAt(change, at)
    at = next
    return value
  }
  const skip = () => {
    const bytes = number()
    at += bytes
  }
  while (at < change.length) {
    const tag = number()
    if (tag === COMPARATOR) skip()
    else if (tag === COMPACT_POINTER) {
      number()
      skip()
    } else if (tag === DELETED_FILE) {
      number()
      live.delete(number())
    } else if (tag === NEW_FILE) {
      number()
      live.add(number())
      number()
      skip()
      skip()
    } else number() // log number, next file number, last sequence, previous log number
  }
}
