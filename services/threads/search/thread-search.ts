import type { SearchQuery, SearchResult, SearchResults } from '../../../schemas/search.ts'
import type { Clock } from '../../lib/clock.ts'
import { isDamage, parseIndexKey, RECENT, recentKey, SEARCH_BUILT, type Store, THREADS } from '../../store/index.ts'
import type { ThreadHead } from '../thread-head.ts'
import type { ThreadRepository } from '../thread-repository.ts'
import { blockOf, createSearchedTexts, searchedText } from './blocks.ts'
import { dueThreads } from './due-threads.ts'
import { findTerms, parseQuery, type Found, type Match, type Term } from './query.ts'
import { beginningOf, findBlocks } from './shards.ts'

/** The time after which a page ends with the results found so far, milliseconds. */
const PAGE_MS = 600
/**
 * If at most this many threads might contain the words, each is looked up on its own. If there are more, the list of all threads is read.
 */
const FEW = 300

/** The blocks that might contain the searched words. Without `indexed` there is no index, and any block might contain them. */
interface Candidates {
  /** The numbers of the blocks, by the part of the thread's digest that places contain. */
  indexed?: Map<string, number[]>
  /** The digests of changed threads, and the block from which on all blocks of the thread must be read. */
  due: Map<string, number>
}

/** Returns the blocks of a thread that must be read, the newest first. */
function blocksOf ({ indexed, due }: Candidates, thread: string, { messageCount }: ThreadHead): number[] {
  const last = Math.max(blockOf(messageCount - 1), 0)
  const blocks = new Set(indexed?.get(beginningOf(thread)))
  for (let block = indexed === undefined ? 0 : due.get(thread) ?? Infinity; block <= last; block++) blocks.add(block)
  return [...blocks].filter((block) => block <= last).sort((a, b) => b - a)
}

/**
 * Searches the texts of all threads. The index decides which messages are read, and the texts of these messages decide whether they match.
 */
export function createThreadSearch ({ store, clock, threads, onDamage }: {
  store: Store
  clock: Clock
  threads: Pick<ThreadRepository, 'shownId' | 'saidAt' | 'readAnswer'>
  /** Called when the index cannot be read. */
  onDamage: () => Promise<void>
}) {
  const texts = createSearchedTexts(store, threads.readAnswer)

  async function findCandidates (terms: readonly Term[]): Promise<Candidates> {
    const built = await store.get(SEARCH_BUILT)
    // The marks are read first. If a thread is indexed meanwhile, it is found in the shards, which are read afterwards.
    const due = new Map<string, number>()
    for await (const { thread, from } of dueThreads(store)) due.set(thread, blockOf(from))
    if (built === undefined) return { due }
    const indexed = await findBlocks(store, terms).catch(async (error) => {
      if (!isDamage(error)) throw error
      await onDamage()
    })
    // The index might have been rebuilt meanwhile.
    return await store.get(SEARCH_BUILT) === built && indexed ? { due, indexed } : { due }
  }

  /**
   * Yields the keys of the candidates in the index of recent threads, the most recently changed first, from the one after the key `after`
   * on.
   */
  async function * recentKeys ({ indexed, due }: Candidates, after: string | undefined): AsyncGenerator<string> {
    if (indexed === undefined || indexed.size + due.size > FEW) {
      for await (const key of store.keys(RECENT, { reverse: true, after })) {
        const { thread } = parseIndexKey(key)
        if (indexed === undefined || due.has(thread) || indexed.has(beginningOf(thread))) yield key
      }
      return
    }
    const digests = new Set(due.keys())
    for (const beginning of indexed.keys()) {
      for await (const key of store.keys(THREADS + beginning)) digests.add(key.slice(THREADS.length))
    }
    const keys = await Promise.all([...digests].map(async (thread) => {
      const head = await texts.head(thread)
      return head === undefined ? '' : recentKey(head.updatedAt, thread)
    }))
    yield * keys.filter((key) => key !== '' && (after === undefined || key < after)).sort().reverse()
  }

  /** Yields the candidate threads after a cursor, each with the position of the message before which the search continues. */
  async function * threadsFrom (
    candidates: Candidates,
    cursor: string | undefined
  ): AsyncGenerator<{ key: string, thread: string, head: ThreadHead, before: number }> {
    const [key, before] = cursor?.split('.') ?? []
    if (key !== undefined && before !== undefined) {
      const { thread, time } = parseIndexKey(`/${key}`)
      const head = await texts.head(thread)
      // A thread that has changed since the last page is among the newest threads now, so its results belong to a new search.
      if (head !== undefined && head.updatedAt === time) yield { key, thread, head, before: Number(before) }
    }
    for await (const found of recentKeys(candidates, key && RECENT + key)) {
      const { thread } = parseIndexKey(found)
      const head = await texts.head(thread)
      if (head !== undefined) yield { key: found.slice(RECENT.length), thread, head, before: Infinity }
    }
  }

  /** Returns a page of results. `signal` ends the search if nobody waits for the page any more. Throws NoWords (400). */
  return async function search ({ q, cursor, limit }: SearchQuery, signal: AbortSignal): Promise<SearchResults> {
    const terms = parseQuery(q)
    const end = clock.monotonic() + PAGE_MS
    const results: SearchResult[] = []
    const isFull = () => results.length >= limit || clock.monotonic() > end || signal.aborted
    const candidates = await findCandidates(terms)
    for await (const { key, thread, head, before } of threadsFrom(candidates, cursor)) {
      const blocks = blocksOf(candidates, thread, head)
      const title = await texts.title(thread)
      const ofThread = { threadId: head.id, title: title ?? head.words }
      const inTitle = before === Infinity && title !== undefined && blocks.includes(0) ? await findTerms(title, terms) : undefined
      if (inTitle !== undefined) results.push({ ...ofThread, time: head.updatedAt, snippet: snippetOf(title!, inTitle) })
      // A page that continues a thread reads at least one message of it, so that slow pages come to an end, too.
      if (before === Infinity && isFull()) return { results, nextCursor: `${key}.${head.messageCount}` }
      for (const block of blocks.filter((each) => each <= blockOf(before - 1))) {
        for await (const { at, message } of texts.messages(thread, block, before)) {
          const text = searchedText(message)
          const matches = await findTerms(text, terms)
          if (matches !== undefined) {
            results.push({
              ...ofThread,
              messageId: await threads.shownId(head.id, at, message),
              position: at,
              role: message.role,
              time: await threads.saidAt(head, at) || head.updatedAt,
              snippet: snippetOf(text, matches)
            })
          }
          if (isFull()) return { results, nextCursor: `${key}.${at}` }
        }
      }
    }
    return { results }
  }
}

/** The most characters of a snippet, and of its part before the match. */
const SNIPPET = 240
const BEFORE = 60

interface Snippet {
  text: string
  matches: Match[]
}

/** Returns the part of a text around `at`, on one line, with the matches in that part. */
function snippetOf (text: string, { matches, at }: Found): Snippet {
  const from = beginOf(text, Math.max(0, at - BEFORE), at)
  const to = Math.min(text.length, from + SNIPPET)
  const before = from > 0 ? '…' : ''
  const shift = before.length - from
  // Each character is replaced by exactly one, so that the offsets of the matches stay valid.
  const line = text.slice(from, to).toWellFormed().replace(/[\s\p{Cc}]/gu, ' ')
  return {
    text: `${before}${line}${to < text.length ? '…' : ''}`,
    matches: matches.filter(({ start }) => start >= from && start < to)
      .map(({ start, end }) => ({ start: start + shift, end: Math.min(end, to) + shift }))
  }
}

/** Returns the offset of the first word that begins at `from` or after it, at most `first`. */
function beginOf (text: string, from: number, first: number): number {
  if (from === 0) return 0
  const blank = text.slice(from, first).search(/\s/)
  return blank === -1 ? from : from + blank + 1
}
