import type { SearchQuery, SearchResult, SearchResults } from '../../../schemas/search.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  messageKey,
  metadataKey,
  parseIndexKey,
  RECENT,
  searchPlacesKey,
  searchWordsKey,
  type Store,
  threadKey,
  unlessDamaged
} from '../../store/index.ts'
import type { ThreadHead } from '../thread-head.ts'
import type { ThreadMessage } from '../thread-message.ts'
import type { Metadata } from '../thread-metadata.ts'
import type { ThreadRepository } from '../thread-repository.ts'
import { BLOCK, blockCount, blockOf, versionOf, messagesOfBlock, searchedText } from './blocks.ts'
import { findTerms, parseQuery, type Term, type Found, type Match } from './query.ts'
import { type BlockPlaces, type BlockWords, mayHold, placesOf } from './word-index.ts'

/** A page ends after this time, with what it has found. Milliseconds. */
const PAGE_MS = 600

/** A thread that is searched, and the position of a message before which the search goes on. */
interface Place {
  key: string
  thread: string
  head: ThreadHead
  before: number
}

/** Searches the texts of all threads. The words of blocks say which messages to read; where a block changed since, all of it is read. */
export function createThreadSearch (
  { store, clock, threads }: { store: Store, clock: Clock, threads: Pick<ThreadRepository, 'shownId' | 'saidAt'> }
) {
  const headOf = (thread: string) => unlessDamaged(store.get<ThreadHead>(threadKey(thread)))

  /** Yields the threads from a cursor on, the most recently changed first. */
  async function * threadsFrom (cursor: string | undefined): AsyncGenerator<Place> {
    const [key, before] = cursor?.split('.') ?? []
    if (key !== undefined && before !== undefined) {
      const { thread, time } = parseIndexKey(`/${key}`)
      const head = await headOf(thread)
      // A thread that has changed meanwhile is among the newest, where its results are new.
      if (head !== undefined && head.updatedAt === time) yield { key, thread, head, before: Number(before) }
    }
    for await (const found of store.keys(RECENT, { reverse: true, after: key && RECENT + key })) {
      const { thread } = parseIndexKey(found)
      const head = await headOf(thread)
      if (head !== undefined) yield { key: found.slice(RECENT.length), thread, head, before: Infinity }
    }
  }

  /** Yields the messages of a block that may hold the terms, the newest first. */
  async function * candidates (
    { thread, head, before }: Place,
    block: number,
    terms: readonly Term[]
  ): AsyncGenerator<{ at: number, message: ThreadMessage }> {
    const version = versionOf(head, block)
    const { of, words } = await unlessDamaged(store.get<BlockWords>(searchWordsKey(thread, block))) ?? {}
    if (of === version && words !== undefined) {
      if (!mayHold(words, terms)) return
      const index = await unlessDamaged(store.get<BlockPlaces>(searchPlacesKey(thread, block)))
      if (index?.of === version) {
        for (const n of placesOf(words, index.places, terms)) {
          const at = block * BLOCK + n
          const message = at < before ? await unlessDamaged(store.get<ThreadMessage>(messageKey(thread, at))) : undefined
          if (message !== undefined) yield { at, message }
        }
        return
      }
    }
    yield * messagesOfBlock(store, thread, block, { reverse: true, before })
  }

  /** Returns a page of results. Throws NoWords (400). `signal` aborts when nobody waits for it any more. */
  return async function search ({ q, cursor, limit }: SearchQuery, signal: AbortSignal): Promise<SearchResults> {
    const terms = parseQuery(q)
    const end = clock.monotonic() + PAGE_MS
    const results: SearchResult[] = []
    for await (const place of threadsFrom(cursor)) {
      const { key, thread, head, before } = place
      const { title } = await unlessDamaged(store.get<Metadata>(metadataKey(thread))) ?? {}
      const ofThread = { threadId: head.id, title: title ?? head.words }
      const isWhole = before === Infinity
      const inTitle = isWhole && title !== undefined ? await findTerms(title, terms) : undefined
      if (inTitle !== undefined) results.push({ ...ofThread, time: head.updatedAt, snippet: snippetOf(title!, inTitle) })
      let next = Math.min(before, head.messageCount)
      const isFull = () => results.length >= limit || clock.monotonic() > end || signal.aborted
      if (isFull()) return { results, nextCursor: `${key}.${next}` }
      for (let block = next > 0 ? Math.min(blockOf(next - 1), blockCount(head) - 1) : -1; block >= 0; block--) {
        for await (const { at, message } of candidates(place, block, terms)) {
          next = at
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
          if (isFull()) return { results, nextCursor: `${key}.${next}` }
        }
        next = block * BLOCK
        if (isFull()) return { results, nextCursor: `${key}.${next}` }
      }
    }
    return { results }
  }
}

/** Characters of a snippet, and of those before the match that it is about. */
const SNIPPET = 240
const BEFORE = 60

interface Snippet {
  text: string
  matches: Match[]
}

/** Returns the part of a text around the first place of its last term, on one line, with the matches in it. */
function snippetOf (text: string, { matches, at }: Found): Snippet {
  const from = beginOf(text, Math.max(0, at - BEFORE), at)
  const to = Math.min(text.length, from + SNIPPET)
  const before = from > 0 ? '…' : ''
  const shift = before.length - from
  // One character for each, so that the places stay.
  const line = text.slice(from, to).toWellFormed().replace(/[\s\p{Cc}]/gu, ' ')
  return {
    text: `${before}${line}${to < text.length ? '…' : ''}`,
    matches: matches.filter(({ start }) => start >= from && start < to)
      .map(({ start, end }) => ({ start: start + shift, end: Math.min(end, to) + shift }))
  }
}

/** Returns where a word begins at or after `from`, unless that is behind `first`. */
function beginOf (text: string, from: number, first: number): number {
  if (from === 0) return 0
  const blank = text.slice(from, first).search(/\s/)
  return blank === -1 ? from : from + blank + 1
}
