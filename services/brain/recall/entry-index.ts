import type MiniSearch from 'minisearch'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import type { Entry } from '../memory.ts'
import { beginningOf, isFormOf, isUnspaced, partsOf, termsOf } from './terms.ts'

/** How many words of a long message are looked up: at its beginning, and at its end, where the question usually stands. */
const FIRST_WORDS = 60
const LAST_WORDS = 40
/** A word is ignored if more entries contain it than this share of all entries, and more than this number. */
const FREQUENT_SHARE = 0.05
const FREQUENT = 8
/** The lowest score of a match, as a share of the score of a word that only one entry contains. */
const FLOOR = 0.42
/** The factors for a word that matches only as a part of a compound, and for one that matches with a typing mistake. */
const PART = 0.7
const MISTYPED = 0.5
/** The fewest letters of a word for which a typing mistake is tolerated. */
const MISTYPED_LETTERS = 7

type Indexed = Pick<Entry, 'id' | 'fact' | 'key' | 'value' | 'topics' | 'asked'>

/** An entry that fits a text. A higher score is a better fit. */
interface Match {
  id: string
  score: number
}

const wordsOf = ({ fact, key = '', value = '', asked = '' }: Indexed) => `${fact}\n${key}\n${value}\n${asked}`
const topicsOf = ({ topics = [] }: Indexed) => topics.join('\n')

/**
 * Creates a search index of the known entries, by their words and topics. An update compares the entries with
 * those of the last update, so that only changed entries are indexed again.
 */
export function createEntryIndex () {
  let index: MiniSearch | undefined
  const indexed = new Map<string, string>()
  let last: readonly Entry[] | undefined
  let updating: Promise<void> = Promise.resolve()

  async function bring (entries: readonly Entry[]): Promise<void> {
    if (entries === last) return
    const { default: Index } = await import('minisearch')
    index ??= new Index({
      fields: ['words', 'topics'],
      tokenize: termsOf,
      processTerm: (term) => term
    })
    const known = entries.filter(({ state }) => state === 'known')
    const ids = new Set(known.map(({ id }) => id))
    for (const id of indexed.keys()) {
      if (ids.has(id)) continue
      index.discard(id)
      indexed.delete(id)
    }
    for (const entry of known) {
      const { id } = entry
      const [words, topics] = [wordsOf(entry), topicsOf(entry)]
      const content = `${words}\n${topics}`
      const before = indexed.get(id)
      if (before === content) continue
      if (before !== undefined) index.discard(id)
      index.add({ id, words, topics })
      indexed.set(id, content)
      await yieldToEventLoop()
    }
    last = entries
  }

  /** Returns the entries that contain a word in any of its forms: for each entry id a factor up to 1. */
  function found (word: string): Map<string, number> {
    const scores = new Map<string, number>()
    const options = { prefix: !isUnspaced(word), tokenize: (text: string) => [text], processTerm: (term: string) => term }
    for (const { id, terms } of index!.search(beginningOf(word), options)) {
      if (terms.some((term) => isFormOf(word, term))) scores.set(id, 1)
    }
    for (const part of partsOf(word)) {
      for (const { id } of index!.search(part, { ...options, prefix: false })) if (!scores.has(id)) scores.set(id, PART)
    }
    if (scores.size > 0 || isUnspaced(word) || word.length < MISTYPED_LETTERS) return scores
    for (const { id } of index!.search(word, { ...options, prefix: false, fuzzy: 1 })) scores.set(id, MISTYPED)
    return scores
  }

  return {
    /** Updates the index to the given entries. Updates run one after the other. */
    update: (entries: readonly Entry[]): Promise<void> => (updating = updating.then(() => bring(entries), () => bring(entries))),

    /**
     * Returns the entries that fit a text, the best first. Words that many entries contain are ignored. The matches
     * of an entry must reach a minimum score: one rare word, or several less rare ones.
     */
    search (text: string): Match[] {
      if (index === undefined || indexed.size === 0) return []
      const all = termsOf(text)
      const words = all.length > FIRST_WORDS + LAST_WORDS ? [...all.slice(0, FIRST_WORDS), ...all.slice(-LAST_WORDS)] : all
      const most = Math.max(FREQUENT, indexed.size * FREQUENT_SHARE)
      const scores = new Map<string, number>()
      for (const word of words) {
        const having = found(word)
        if (having.size > most) continue
        const rarity = Math.log(1 + indexed.size / having.size)
        for (const [id, share] of having) scores.set(id, (scores.get(id) ?? 0) + share * rarity)
      }
      const floor = FLOOR * Math.log(1 + indexed.size)
      return [...scores].filter(([, score]) => score >= floor).map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score)
    }
  }
}
