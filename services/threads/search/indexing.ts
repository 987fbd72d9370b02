import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import {
  type Op,
  parseIndexKey,
  RECENT,
  SEARCH_PLACES,
  SEARCH_WORDS,
  searchPlacesKey,
  searchWordsKey,
  type Store,
  threadKey,
  THREADS,
  unlessDamaged
} from '../../store/index.ts'
import type { ThreadHead } from '../thread-head.ts'
import { BLOCK, blockCount, removeBlocks, versionOf, messagesOfBlock, searchedText } from './blocks.ts'
import { type BlockWords, indexBlock } from './word-index.ts'

/** How long a thread rests before its changes are indexed, so that a quick exchange is indexed once. Milliseconds. */
const REST_MS = 1_000
/** Pause after a failure. Milliseconds. */
const RETRY_MS = 60_000
/** Records of the index, and characters of their words, that are written at once. */
const BATCH = 100
const BATCH_CHARACTERS = 1_000_000
/** Of the time that older threads take, how much as long again nothing is done, so that they slow nothing down. */
const PAUSES = 3

/**
 * Keeps the index of words up to date, behind the writes: threads that changed, and after a start all whose index is missing. Until then
 * they are searched in their texts.
 */
export function createSearchIndexing ({ store, clock, log }: { store: Store, clock: Clock, log: Pick<Log, 'warn'> }) {
  /** Digests of threads that changed. */
  const changed = new Set<string>()
  let wake = Promise.withResolvers<void>()

  store.onCommit((ops) => {
    for (const { type, key } of ops) if (type === 'put' && key.startsWith(THREADS)) changed.add(key.slice(THREADS.length))
    if (changed.size > 0) wake.resolve()
  })

  const headOf = (thread: string) => unlessDamaged(store.get<ThreadHead>(threadKey(thread)))

  async function * textsOf (thread: string, block: number): AsyncGenerator<[at: number, text: string]> {
    for await (const { at, message } of messagesOfBlock(store, thread, block)) yield [at - block * BLOCK, searchedText(message)]
  }

  /** Begins to index threads. Many are written at once, as a write costs more than the words of a thread. */
  function beginBatch () {
    let ops: Op[] = []
    let characters = 0
    let read: Array<{ thread: string, blocks: number }> = []

    async function write (): Promise<void> {
      await store.transact(ops)
      for (const { thread, blocks } of read) {
        // It may have been removed or shortened meanwhile.
        const now = await headOf(thread)
        const left = now === undefined ? 0 : blockCount(now)
        if (left < blocks) await store.transact(removeBlocks(thread, { from: left, to: blocks }))
      }
      ops = []
      read = []
      characters = 0
    }

    /** Indexes the blocks of a thread whose index is not that of their messages. Resolves to whether there were any. */
    async function add (thread: string, signal: AbortSignal): Promise<boolean> {
      const head = await headOf(thread)
      if (head === undefined) return false
      const blocks = blockCount(head)
      read.push({ thread, blocks })
      let isBehind = false
      for (let block = 0; block < blocks; block++) {
        signal.throwIfAborted()
        const version = versionOf(head, block)
        const key = searchWordsKey(thread, block)
        if ((await unlessDamaged(store.get<BlockWords>(key)))?.of === version) continue
        isBehind = true
        const [words, places] = await indexBlock(version, textsOf(thread, block))
        ops.push({ type: 'put', key, value: words }, { type: 'put', key: searchPlacesKey(thread, block), value: places })
        characters += (words.words?.length ?? 0) + places.places.length
        if (ops.length >= BATCH || characters > BATCH_CHARACTERS) {
          await write()
          read.push({ thread, blocks })
        }
      }
      return isBehind
    }

    return { add, write }
  }

  /** Removes what a crash left of threads that were removed. */
  async function removeOrphans (signal: AbortSignal) {
    let known: { thread: string, isThere: boolean } | undefined
    for (const prefix of [SEARCH_WORDS, SEARCH_PLACES]) {
      for await (const key of store.keys(prefix)) {
        signal.throwIfAborted()
        const [thread] = key.slice(prefix.length).split('/')
        if (known?.thread !== thread) known = { thread, isThere: await headOf(thread) !== undefined }
        if (!known.isThere) await store.transact([{ type: 'del', key }])
      }
    }
  }

  /** Indexes all threads whose index is missing, the most recently changed first; `pause` is called with the time that each took. */
  async function catchUp (signal: AbortSignal, pause?: (tookMs: number) => Promise<void>) {
    await removeOrphans(signal)
    for await (const key of store.keys(RECENT, { reverse: true })) {
      signal.throwIfAborted()
      const begin = clock.monotonic()
      const batch = beginBatch()
      const isBehind = await batch.add(parseIndexKey(key).thread, signal)
      await batch.write()
      if (isBehind) await pause?.(clock.monotonic() - begin)
      await indexChanged(signal)
    }
  }

  async function indexChanged (signal: AbortSignal) {
    const batch = beginBatch()
    for (const thread of changed) {
      changed.delete(thread)
      await batch.add(thread, signal)
    }
    await batch.write()
  }

  return {
    catchUp,
    indexChanged,

    /** Indexes until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      let isCaughtUp = false
      signal.addEventListener('abort', () => wake.resolve(), { once: true })
      while (!signal.aborted) {
        try {
          if (!isCaughtUp) await catchUp(signal, (tookMs) => clock.sleep(tookMs * PAUSES, signal))
          isCaughtUp = true
          await wake.promise
          wake = Promise.withResolvers()
          await clock.sleep(REST_MS, signal)
          await indexChanged(signal)
        } catch (error) {
          if (signal.aborted) return
          log.warn({ err: error }, 'the words of threads could not be indexed; trying again later')
          isCaughtUp = false
          await clock.sleep(RETRY_MS, signal).catch(() => {})
        }
      }
    }
  }
}
