// LevelDB's log and its MANIFEST use one format: blocks of 32 KiB that hold records or fragments of records.
// See https://github.com/google/leveldb/blob/main/doc/log_format.md

const BLOCK_BYTES = 32 * 1024
/** Checksum (4), length (2), type (1). */
const HEADER_BYTES = 7
const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4]

/** Yields the records of a log without checking checksums. Returns whether the log ends at the end of a fragment. */
export function * recordsIn (log: Buffer): Generator<Buffer, boolean> {
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
