import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { wordsIn } from '../../lib/words.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import {
  isDamage,
  type Op,
  parseIndexKey,
  RECENT,
  SEARCH_BLOCKS,
  SEARCH_BUILT,
  SEARCH_DUE,
  SEARCH_SHARDS,
  SEARCH_TAKEN,
  searchBlockKey,
  type Store
} from '../../store/index.ts'
import type { ReadAnswer } from '../stored-answer.ts'
import { BLOCK, blockOf, createSearchedTexts, searchedText } from './blocks.ts'
import { type DueChange, type DueThread, dueThreads, searchAgain, threadOfMark } from './due-threads.ts'
import { createIndexChanges } from './index-changes.ts'
import { ANY_WORD } from './shards.ts'

/**
 * The number of changed threads after which they are indexed. Indexing many threads together costs less, and until then a search reads
 * their texts.
 */
const MOST_DUE = 32
/** How long indexing then waits for more changes, milliseconds. It waits as long after a text was removed. */
const REST_MS = 1_000
/** The pause after a failure, milliseconds. */
const RETRY_MS = 60_000
/** A block with more different words than this is not indexed by words. Every search reads it. */
const MOST_WORDS = 20_000
/** The number of changed places (blocks of threads, by word) after which the changes are written. */
const BATCH_PLACES = 50_000
/** The number of keys that are removed or written together when the index is rebuilt. */
const BATCH_KEYS = 1_000
/** After indexing many threads, the pause is this many times as long as the work, so that other work is not slowed down. */
const PAUSES = 3

/**
 * Keeps the index of words up to date after writes. Each change of a thread leaves a mark in its transaction, and the write that indexes
 * the change removes the mark. Until then, a search reads the texts of the thread.
 */
export function createSearchIndexing ({ store, clock, readAnswer, log, writeOps }: {
  store: Store
  clock: Clock
  readAnswer: ReadAnswer
  log: Pick<Log, 'warn'>
  /** See `createIndexChanges`. */
  writeOps?: number
}) {
  const texts = createSearchedTexts(store, readAnswer)
  /** The digests of the threads that wait to be indexed, and whether a text was removed from one of them. */
  const due = new Set<string>()
  let isUrgent = false
  let wake = Promise.withResolvers<void>()

  const isTime = () => isUrgent || due.size >= MOST_DUE
  function noticeDue (key: string, { removes }: DueChange) {
    due.add(threadOfMark(key))
    isUrgent ||= removes
    if (isTime()) wake.resolve()
  }
  store.onCommit((ops) => {
    for (const op of ops) if (op.type === 'put' && op.key.startsWith(SEARCH_DUE)) noticeDue(op.key, op.value as DueChange)
  })

  /** Returns the words of a block. The words of the title belong to the first block. */
  async function wordsOf (thread: string, block: number): Promise<Set<string>> {
    const words = new Set<string>()
    const add = async (text: string) => {
      for (const { word } of wordsIn(text)) {
        words.add(word)
        if (words.size % BLOCK === 0) await yieldToEventLoop()
      }
    }
    if (block === 0) await add(await texts.title(thread) ?? '')
    for await (const { message } of texts.messages(thread, block)) await add(searchedText(message))
    return words.size > MOST_WORDS ? new Set([ANY_WORD]) : words
  }

  /** Adds the changes of a thread to `changes`, from the block of position `from` on. Throws RecordDamaged. */
  async function takeIn (thread: string, from: number, changes: ReturnType<typeof createIndexChanges>, signal: AbortSignal) {
    const head = await texts.head(thread)
    const count = head === undefined ? 0 : Math.max(blockOf(head.messageCount - 1) + 1, 1)
    for (let block = blockOf(from); ; block++) {
      signal.throwIfAborted()
      const key = searchBlockKey(thread, block)
      const stored = await store.get<string>(key)
      if (stored === undefined && block >= count) return
      const words = block < count ? await wordsOf(thread, block) : new Set<string>()
      changes.change({ thread, block, key }, words, new Set(stored?.split(' ')))
    }
  }

  /** Indexes the waiting threads. `pause` is called after each large write, with the milliseconds that the work took. */
  async function takeInDue (signal: AbortSignal, pause?: (tookMs: number) => Promise<void>) {
    isUrgent = false
    let isEmpty = due.size > 0
    for await (const key of store.keys(RECENT, { limit: 1 })) isEmpty = key === ''
    // If no thread is left, the whole index is removed.
    if (isEmpty) await store.transact([{ type: 'del', key: SEARCH_BUILT }])
    await build(signal)
    let changes = createIndexChanges(store, writeOps)
    let marks: Op[] = []
    let taken: string[] = []
    let begin = clock.monotonic()
    const add = async ({ thread, from, marks: done }: DueThread) => {
      await takeIn(thread, from, changes, signal)
      marks.push(...done.map((key): Op => ({ type: 'del', key })))
      taken.push(thread)
    }
    const write = async () => {
      await changes.write([...marks, { type: 'put', key: SEARCH_TAKEN, value: taken }])
      changes = createIndexChanges(store, writeOps)
      marks = []
      taken = []
      await takeOut(add)
    }
    await takeOut(add)
    for await (const thread of dueThreads(store)) {
      due.delete(thread.thread)
      await add(thread)
      if (changes.size() < BATCH_PLACES && marks.length < BATCH_KEYS) continue
      await write()
      await pause?.(clock.monotonic() - begin)
      begin = clock.monotonic()
    }
    while (taken.length > 0) await write()
  }

  /** Adds threads that were removed while they were indexed, so that their words are removed from the index again. */
  async function takeOut (add: (thread: DueThread) => Promise<void>) {
    for (const thread of await store.get<string[]>(SEARCH_TAKEN) ?? []) {
      if (await texts.head(thread) !== undefined) continue
      if (await store.get(searchBlockKey(thread, 0)) !== undefined) await add({ thread, from: 0, marks: [] })
    }
  }

  /** Starts a new index if there is none, by marking all threads for indexing. */
  async function build (signal: AbortSignal) {
    if (await store.get(SEARCH_BUILT) !== undefined) return
    const ops: Op[] = []
    const add = async (op: Op) => {
      signal.throwIfAborted()
      if (ops.push(op) === BATCH_KEYS) await store.transact(ops.splice(0))
    }
    for (const prefix of [SEARCH_BLOCKS, SEARCH_SHARDS]) for await (const key of store.keys(prefix)) await add({ type: 'del', key })
    for await (const key of store.keys(RECENT)) await add(searchAgain(parseIndexKey(key).thread, { from: 0, removes: false }))
    await store.transact([...ops, { type: 'put', key: SEARCH_BUILT, value: newId() }])
  }

  /** Rebuilds the index, because a part of it cannot be read. */
  async function rebuild () {
    await store.transact([{ type: 'del', key: SEARCH_BUILT }])
    isUrgent = true
    wake.resolve()
  }

  return {
    takeInDue,
    rebuild,

    /** Keeps the index up to date until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      signal.addEventListener('abort', () => wake.resolve(), { once: true })
      let isFirst = true
      while (!signal.aborted) {
        try {
          if (isFirst) for await (const [key, change] of store.list<DueChange>(SEARCH_DUE, { damaged () {} })) noticeDue(key, change)
          if (isFirst || isTime()) await takeInDue(signal, (tookMs) => clock.sleep(tookMs * PAUSES, signal))
          isFirst = false
          if (isTime()) wake.resolve()
          await wake.promise
          wake = Promise.withResolvers()
          await clock.sleep(REST_MS, signal)
        } catch (error) {
          if (signal.aborted) return
          if (isDamage(error)) await rebuild().catch(() => {})
          log.warn({ err: error }, 'the words of threads could not be indexed; trying again later')
          await clock.sleep(RETRY_MS, signal).catch(() => {})
        }
      }
    }
  }
}
