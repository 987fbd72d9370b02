import { Level } from 'level'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'

export type RawOp = { type: 'put', key: string, value: Buffer } | { type: 'del', key: string }

export interface RawRange {
  gt?: string
  gte?: string
  lt?: string
  reverse?: boolean
  limit?: number
  highWaterMarkBytes?: number
}

interface RawIterator {
  /** Returns up to `size` entries, or an empty list at the end. */
  nextv(size: number): Promise<[key: string, value: Buffer][]>
  close(): Promise<void>
}

/** The subset of LevelDB that the store uses. */
export interface Database {
  get(key: string): Promise<Buffer | undefined>
  batch(ops: RawOp[], options: { sync: boolean }): Promise<void>
  iterator(range: RawRange): RawIterator
  close(): Promise<void>
}

export type OpenDatabase = (location: string, options: { createIfMissing: boolean }) => Promise<Database>

/** Opens a LevelDB database. Compression is off because ciphertext does not compress. */
export const openLevel: OpenDatabase = async (location, { createIfMissing }) => {
  const level = new Level<string, Buffer>(location, { createIfMissing, compression: false, valueEncoding: 'buffer' })
  await level.open()
  return {
    // A record is found within microseconds, in memory or in the page cache; the way through another thread takes twenty times as long.
    async get (key) {
      await yieldToEventLoop()
      return level.getSync(key)
    },
    batch: (ops, options) => ops.length < MANY ? level.batch(ops, options) : batchOfMany(level, ops, options),
    iterator: (range) => level.iterator(range),
    close: () => level.close()
  }
}

/** From this many operations on, a batch is filled one operation at a time with yields to the event loop. It stays one atomic write. */
const MANY = 1_000

async function batchOfMany (level: Level<string, Buffer>, ops: RawOp[], options: { sync: boolean }): Promise<void> {
  const batch = level.batch()
  try {
    for (const op of ops) {
      if (op.type === 'put') batch.put(op.key, op.value)
      else batch.del(op.key)
      await yieldToEventLoop()
    }
    await batch.write(options)
  } finally {
    await batch.close()
  }
}

/** Returns an upper bound for all keys that start with `prefix`: it appends the greatest code point. */
export const endOf = (prefix: string): string => prefix + '\u{10ffff}'

const CHUNK_ENTRIES = 100
const CHUNK_BYTES = 256 * 1024

/** Yields the entries of a snapshot of a range in chunks. */
export async function * chunks (database: Database, range: RawRange): AsyncGenerator<[key: string, value: Buffer][]> {
  const iterator = database.iterator({ ...range, highWaterMarkBytes: CHUNK_BYTES })
  try {
    for (let chunk = await iterator.nextv(CHUNK_ENTRIES); chunk.length > 0; chunk = await iterator.nextv(CHUNK_ENTRIES)) {
      yield chunk
    }
  } finally {
    await iterator.close()
  }
}

/** Yields the entries of a snapshot of a range one by one. */
export async function * entries (database: Database, range: RawRange): AsyncGenerator<[key: string, value: Buffer]> {
  for await (const chunk of chunks(database, range)) yield * chunk
}
