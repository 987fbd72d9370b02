import { recordsIn } from './log-format.ts'
import { varintAt } from './varint.ts'

// A MANIFEST tells, change by change, which tables a database is made of. See db/version_edit.cc of LevelDB.
const COMPARATOR = 1
const COMPACT_POINTER = 5
const DELETED_FILE = 6
const NEW_FILE = 7

/** The numbers of the tables that a database is made of; others in its directory were never finished, or are done with. */
export function liveTables (manifest: Buffer): Set<number> {
  const live = new Set<number>()
  try {
    for (const change of recordsIn(manifest)) apply(change, live)
  } catch {
    // A change that cannot be read: LevelDB will say so.
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
