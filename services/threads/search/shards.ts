import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { type Op, SEARCH_SHARDS, searchSegmentKey, type Store } from '../../store/index.ts'
import type { Term } from './query.ts'

// The index of words has shards, and a shard has segments. A segment is a text: ";word:place,place;word:place;". A place is a block of a
// thread.

/** The entry in place of all words of a block that has too many words. Every search reads such a block. */
export const ANY_WORD = '*'

/**
 * A segment with this many characters gets no further places (blocks of threads that contain a word). The segment of a frequent word can
 * become longer.
 */
const FULL = 64_000
/**
 * The number of bytes of a thread's digest in a place, and the number of characters that encode them. If two threads have the same place, a
 * search reads both.
 */
const THREAD_BYTES = 6
const THREAD_CHARACTERS = 8

/** Returns the place of a block: the beginning of its thread's digest, and the number of the block. */
export const placeOf = (thread: string, block: number): string =>
  Buffer.from(thread.slice(0, 2 * THREAD_BYTES), 'hex').toString('base64url') + block.toString(36)
const threadAt = (place: string) => Buffer.from(place.slice(0, THREAD_CHARACTERS), 'base64url').toString('hex')
const blockAt = (place: string) => parseInt(place.slice(THREAD_CHARACTERS), 36)
/** Returns the part of a thread's digest that places contain. */
export const beginningOf = (thread: string): string => thread.slice(0, 2 * THREAD_BYTES)

/** The name of a shard has two digests with this many characters each: of the first letter, and of the first two letters of its words. */
const DIGEST = 16
const digestOf = (store: Pick<Store, 'digest'>, letters: string) => store.digest(`words ${letters}`).slice(0, DIGEST)
/** Returns the name of the shard of a word. The names of the shards of words with the same first letter have the same beginning. */
export const shardOf = (store: Pick<Store, 'digest'>, word: string): string =>
  digestOf(store, word.slice(0, 1)) + digestOf(store, word.slice(0, 2))

/**
 * Returns the blocks that contain all words of all terms. The keys are the parts of the threads' digests that places contain. Throws
 * RecordDamaged.
 */
export async function findBlocks (store: Pick<Store, 'list' | 'digest'>, terms: readonly Term[]): Promise<Map<string, number[]>> {
  let common: Set<string> | undefined
  for (const { words, isPrefix } of terms) {
    for (const [n, word] of words.entries()) {
      if (common?.size === 0) break
      const held = await placesOf(store, word, isPrefix && n === words.length - 1)
      common = common === undefined ? held : new Set([...common].filter((place) => held.has(place)))
    }
  }
  const found = new Map<string, number[]>()
  for (const place of [...common ?? [], ...await placesOf(store, ANY_WORD, false)]) {
    const blocks = found.get(threadAt(place))
    if (blocks === undefined) found.set(threadAt(place), [blockAt(place)])
    else blocks.push(blockAt(place))
  }
  return found
}

async function placesOf (store: Pick<Store, 'list' | 'digest'>, word: string, isBeginning: boolean): Promise<Set<string>> {
  const found = new Set<string>()
  const shard = isBeginning && word.length === 1 ? digestOf(store, word) : `${shardOf(store, word)}/`
  const wanted = `;${word}${isBeginning ? '' : ':'}`
  for await (const [, segment] of store.list<string>(SEARCH_SHARDS + shard)) {
    for (let at = segment.indexOf(wanted); at !== -1; at = segment.indexOf(wanted, at + 1)) {
      const from = segment.indexOf(':', at) + 1
      for (const place of segment.slice(from, segment.indexOf(';', from)).split(',')) found.add(place)
    }
    await yieldToEventLoop()
  }
  return found
}

/** The places that are added to a word of a shard, and those that are removed. */
export interface PlaceChanges {
  added: string[]
  removed: string[]
}

/**
 * Returns the operations that change a shard. New places become a new segment. The newest stored segments are merged into the new one as
 * long as they are not longer than it. So each place is rewritten only a few times, however many places there are. Throws RecordDamaged.
 */
export async function changeShard (store: Pick<Store, 'list'>, shard: string, changes: Map<string, PlaceChanges>): Promise<Op[]> {
  const fresh = new Map([...changes].flatMap(([word, { added }]) => added.length > 0 ? [[word, added]] : []))
  const removed = new Map([...changes].flatMap(([word, { removed }]) => removed.length > 0 ? [[word, new Set(removed)]] : []))
  const prefix = `${SEARCH_SHARDS}${shard}/`
  const ops: Op[] = []
  let length = lengthOf(fresh)
  let next: number | undefined
  for await (const [key, stored] of store.list<string>(prefix, { reverse: true })) {
    const left = removed.size > 0 ? withoutPlaces(stored, removed) : stored
    if (left === '' || (next === undefined && left.length <= length && length < FULL)) {
      for (const [word, places] of parse(left)) fresh.set(word, [...fresh.get(word) ?? [], ...places])
      length += left.length
      ops.push({ type: 'del', key })
      continue
    }
    next ??= Number(key.slice(prefix.length)) + 1
    if (left !== stored) ops.push({ type: 'put', key, value: left })
    else if (removed.size === 0) break
    await yieldToEventLoop()
  }
  const first = next ?? 0
  return [...ops, ...segmentsOf(fresh).map((value, n): Op => ({ type: 'put', key: searchSegmentKey(shard, first + n), value }))]
}

function * parse (segment: string): Generator<[word: string, places: string[]]> {
  for (const entry of segment.split(';')) {
    const [word, places] = entry.split(':')
    if (places !== undefined) yield [word, places.split(',')]
  }
}

/** Returns a segment without the removed places; '' if nothing is left. */
function withoutPlaces (segment: string, removed: Map<string, Set<string>>): string {
  let text = segment
  for (const [word, gone] of removed) {
    const at = text.indexOf(`;${word}:`)
    if (at === -1) continue
    const from = at + word.length + 2
    const end = text.indexOf(';', from)
    const places = text.slice(from, end).split(',')
    const left = places.filter((place) => !gone.has(place))
    if (left.length < places.length) text = text.slice(0, left.length > 0 ? from : at) + left.join() + text.slice(end)
  }
  return text === ';' ? '' : text
}

const lengthOf = (words: Map<string, string[]>): number =>
  [...words].reduce((sum, [word, places]) => sum + word.length + 2 + places.length * (THREAD_CHARACTERS + 2), 0)

/** Encodes words with their places as segments. */
function segmentsOf (words: Map<string, string[]>): string[] {
  const segments: string[] = []
  let text = ';'
  for (const [word, places] of words) {
    text += `${word}:${places.join()};`
    if (text.length < FULL) continue
    segments.push(text)
    text = ';'
  }
  return text === ';' ? segments : [...segments, text]
}
