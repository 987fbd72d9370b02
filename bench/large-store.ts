import { Level } from 'level'
import { systemClock } from '../services/lib/clock.ts'
import type { Op } from '../services/store/store-types.ts'
import type { OpenDatabase } from '../services/store/database.ts'
import { openStore } from '../services/store/open.ts'
import { createThreadRepository, type ThreadMessage } from '../services/threads/thread-repository.ts'

// Fills the store of a configuration directory with threads. Usage: node bench/large-store.ts <directory> <megabytes>

/** The number of question and answer pairs in a thread. */
const PAIRS = 100
/** The number of threads per commit, so that few synced writes are needed. */
const TOGETHER = 8
const WORDS = 'the boat that left in the morning had not come back when the light on the pier was lit '.repeat(90)

/** Returns a thread of about 400 KB: short questions and long answers, every fourth with the output of a tool. */
function thread (n: number): ThreadMessage[] {
  return Array.from({ length: PAIRS }, (_, pair): ThreadMessage[] => [
    { role: 'user', parts: [{ type: 'text', text: `Question ${pair} of conversation ${n}: what happened at the harbour?` }] },
    {
      role: 'assistant',
      parts: [
        ...pair % 4 === 0
          ? [{
              type: 'tool-readFile',
              toolCallId: `call-${pair}`,
              state: 'output-available',
              input: { path: 'log.txt' },
              output: { text: WORDS }
            }]
          : [],
        { type: 'text', text: WORDS.slice(0, 500 + (pair * 37) % 3_000) }
      ]
    }
  ]).flat()
}

/** Opens the service's database with a larger buffer and without sync. If the filling is interrupted, the store must be made again. */
export const openLarge: OpenDatabase = async (location, { createIfMissing }) => {
  const level = new Level<string, Buffer>(location, {
    createIfMissing,
    compression: false,
    valueEncoding: 'buffer',
    writeBufferSize: 64 * 1024 * 1024
  })
  await level.open()
  return {
    get: (key) => level.get(key),
    batch: (ops) => level.batch(ops, { sync: false }),
    iterator: (range) => level.iterator(range),
    close: () => level.close()
  }
}

/** Writes threads until their records take this number of bytes. Resolves to the number of threads. */
export async function fillStore (dir: string, bytes: number): Promise<number> {
  const store = await openStore({ dir, clock: systemClock, openDatabase: openLarge })
  const threads = createThreadRepository({ store, clock: systemClock, readAnswer: async () => ({ role: 'assistant' }) })
  let written = 0
  let count = 0
  try {
    while (written < bytes) {
      const ops: Op[] = []
      for (let n = 0; n < TOGETHER; n++) ops.push(...await threads.replace(`bench-${count++}`, thread(count)))
      for (const op of ops) written += op.type === 'put' ? JSON.stringify(op.value).length : 0
      await store.transact(ops)
    }
    return count
  } finally {
    await store.close()
  }
}

if (import.meta.main) console.log(`${await fillStore(process.argv[2], Number(process.argv[3]) * 1e6)} threads`)
