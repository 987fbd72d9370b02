import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { systemClock } from '../../../services/lib/clock.ts'
import type { OpenDatabase } from '../../../services/store/database.ts'
import { openStore } from '../../../services/store/open.ts'
import { varintAt } from '../../../services/store/recovery/leveldb-files.ts'
import { noise } from '../../faults/backup.ts'
import { flip, unseen } from './harm.ts'

export const KEYS = Array.from({ length: 40 }, (_, n) => `k/${String(n).padStart(3, '0')}`)

/**
 * A closed store in `{dir}/data` with a small table and one that holds a record under each of KEYS. It is too small for
 * LevelDB to compact by itself.
 */
export async function storeWithTable (dir: string): Promise<void> {
  for (const keys of [KEYS, []]) {
    const store = await openStore({ dir, clock: systemClock })
    await store.transact(keys.map((key) => ({ type: 'put', key, value: { key, pad: noise(3_000) } })))
    await store.close()
  }
}

/** Names of the tables, by age. */
export const tablesOf = (dir: string): string[] => readdirSync(join(dir, 'data')).filter((name) => name.endsWith('.ldb')).sort()

/** The table with the records. */
export const oldTable = (dir: string): string => tablesOf(dir).find((name) => statSync(join(dir, 'data', name)).size > 50_000)!

/** Changes a byte as a disk does that fails: inode, size and times of the file stay. */
export const rot = (path: string, at: number): void => unseen(flip(() => at))(path)

/** Opens databases whose tables can be merged into new ones at will. */
export function compacting () {
  let level: Level<string, Buffer>
  const openDatabase: OpenDatabase = async (location, options) => {
    level = new Level<string, Buffer>(location, { ...options, compression: false, valueEncoding: 'buffer' })
    await level.open()
    return level
  }
  return {
    openDatabase,
    compact: () => (level as unknown as { compactRange(from: string, to: string): Promise<void> }).compactRange('!', '~')
  }
}

/** Where the data blocks of a table end, in order: there lies the type of the block, and behind it the checksum. */
export function blockEnds (path: string): number[] {
  const table = readFileSync(path)
  const footer = table.length - 48
  const [, afterMeta] = varintAt(table, varintAt(table, footer)[1])
  const [index, afterIndex] = varintAt(table, afterMeta)
  const block = table.subarray(index, index + varintAt(table, afterIndex)[0])
  const ends: number[] = []
  for (let at = 0; at < block.length - 4 - 4 * block.readUInt32LE(block.length - 4);) {
    const [, afterShared] = varintAt(block, at)
    const [keyBytes, afterKeyBytes] = varintAt(block, afterShared)
    const [valueBytes, key] = varintAt(block, afterKeyBytes)
    const [start, afterStart] = varintAt(block, key + keyBytes)
    ends.push(start + varintAt(block, afterStart)[0])
    at = key + keyBytes + valueBytes
  }
  return ends
}
