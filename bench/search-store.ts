import { systemClock } from '../services/lib/clock.ts'
import type { Op } from '../services/store/store-types.ts'
import { openStore } from '../services/store/open.ts'
import { createSearchIndexing } from '../services/threads/search/indexing.ts'
import { createThreadRepository, type ThreadMessage } from '../services/threads/thread-repository.ts'
import { openLarge } from './large-store.ts'

// Fills the store of a configuration directory with threads of varied words, and indexes them.
// Usage: node bench/search-store.ts <directory> <threads> <messages of each>

/** The number of threads per commit. */
const TOGETHER = 8
const VOCABULARY = 20_000

/** Returns a generator of pseudo-random numbers between 0 and 1, which depend only on the seed. */
function numbersFrom (seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const SYLLABLES = 'ba co du el fin gra ho in ju ka lo mer na or pe qui ra sto tu ver'.split(' ')
const words = Array.from({ length: VOCABULARY }, (_, n) => {
  let word = ''
  for (let rest = n + 20; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) word += SYLLABLES[rest % SYLLABLES.length]
  return word
})

/** Returns a word of the vocabulary. Words with low numbers are far more frequent, as in real texts. */
const pick = (next: () => number) => words[Math.floor(VOCABULARY ** next()) - 1]

/** Returns a thread of messages of 20 to 80 words. The first message of the first thread has the words "seldomword" and "corareword". */
function thread (n: number, messages: number): ThreadMessage[] {
  const next = numbersFrom(n)
  return Array.from({ length: messages }, (_, at): ThreadMessage => {
    const text = Array.from({ length: 20 + Math.floor(next() * 60) }, () => pick(next)).join(' ')
    return { role: at % 2 === 0 ? 'user' : 'assistant', content: n === 0 && at === 0 ? `seldomword corareword ${text}` : text }
  })
}

/** `both` holds two words: a fifth of the messages contain one of them, few contain both. `usual` is in almost all threads. */
export const QUERIES = { both: `${words[400]} ${words[500]}`, usual: words[5] }
/** A word of one message, in an index shard with many frequent words. */
export const RARE = 'corareword'

/** Writes and indexes threads. Resolves to the duration of the indexing in milliseconds. */
export async function fillForSearch (dir: string, { threads: count, messages }: { threads: number, messages: number }): Promise<number> {
  const store = await openStore({ dir, clock: systemClock, openDatabase: openLarge })
  const threads = createThreadRepository({ store, clock: systemClock, readAnswer: async () => ({ role: 'assistant' }) })
  try {
    for (let n = 0; n < count; n += TOGETHER) {
      const ops: Op[] = []
      for (let at = n; at < Math.min(n + TOGETHER, count); at++) ops.push(...await threads.replace(`bench-${at}`, thread(at, messages)))
      await store.transact(ops)
    }
    const begin = performance.now()
    await createSearchIndexing({ store, clock: systemClock, readAnswer: threads.readAnswer, log: { warn: console.warn } })
      .takeInDue(new AbortController().signal)
    return performance.now() - begin
  } finally {
    await store.close()
  }
}

if (import.meta.main) {
  const [dir, threads, messages] = process.argv.slice(2)
  const took = await fillForSearch(dir, { threads: Number(threads), messages: Number(messages) })
  console.log(`indexed in ${Math.round(took)} ms`)
}
