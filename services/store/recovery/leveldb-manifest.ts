import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { recordsIn } from './log-format.ts'
import { varintAt } from './varint.ts'

// A MANIFEST records the changes of a database's set of tables. See db/version_edit.cc of LevelDB.
const COMPARATOR = 1
const COMPACT_POINTER = 5
const DELETED_FILE = 6
const NEW_FILE = 7

/** Changes applied between two yields to the event loop; they take a few milliseconds. */
const TURN_CHANGES = 2_000

/**
 * Returns the numbers of the tables that belong to a database. Other tables in its directory are unfinished or obsolete, and
 * LevelDB may use their numbers again. Works for an open database too, without the table being written. Empty when no MANIFEST
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
