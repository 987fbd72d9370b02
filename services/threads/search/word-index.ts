import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { fits, type Term } from './query.ts'
import { wordsIn } from '../../lib/words.ts'

/**
 * The words of a block of messages, each once, with a blank before and after. `of` is the version of the block that they were read from.
 * Without `words`, the block has too many of them.
 */
export interface BlockWords {
  of: number
  words?: string
}
/** The messages that hold each of these words, in their order: their numbers in the block, in base 36, as steps from one to the next. */
export interface BlockPlaces {
  of: number
  places: string
}

/** Characters of words beyond which a block has no index, and is searched in its texts. */
const MAX_CHARACTERS = 2_000_000
/** Words after which others get their turn. */
const SLICE = 500

/** Makes the index of the texts of a block, which come in order with the numbers of their messages. */
export async function indexBlock (of: number, texts: AsyncIterable<[at: number, text: string]>): Promise<[BlockWords, BlockPlaces]> {
  const held = new Map<string, { last: number, places: string }>()
  let characters = 0
  let read = 0
  for await (const [at, text] of texts) {
    for (const { word } of wordsIn(text)) {
      if (++read % SLICE === 0) await yieldToEventLoop()
      const known = held.get(word)
      if (known === undefined) {
        held.set(word, { last: at, places: at.toString(36) })
        characters += word.length + 1
      } else if (known.last !== at) {
        known.places += `,${(at - known.last).toString(36)}`
        known.last = at
      }
      if (characters > MAX_CHARACTERS) return [{ of }, { of, places: '' }]
    }
  }
  return [{ of, words: ` ${[...held.keys()].join(' ')} ` }, { of, places: [...held.values()].map(({ places }) => places).join(' ') }]
}

/** Whether a block may hold all terms in one of its messages. */
export const mayHold = (words: string, terms: readonly Term[]): boolean =>
  terms.every((term) => term.words.every((word, n) => words.includes(` ${word}${isBeginning(term, n) ? '' : ' '}`)))

/** Returns the numbers of the messages in the block that hold all words of all terms, the last one first. */
export function placesOf (words: string, places: string, terms: readonly Term[]): number[] {
  const listed = words.slice(1, -1).split(' ')
  const steps = places.split(' ')
  let common: Set<number> | undefined
  for (const term of terms) {
    for (const [n, wanted] of term.words.entries()) {
      const held = new Set<number>()
      for (const [at, word] of listed.entries()) if (fits(word, wanted, isBeginning(term, n))) addPlaces(steps[at], held)
      const before = common
      common = before === undefined ? held : new Set([...held].filter((place) => before.has(place)))
    }
  }
  return [...common ?? []].sort((a, b) => b - a)
}

const isBeginning = ({ words, isPrefix }: Term, n: number) => isPrefix && n === words.length - 1

function addPlaces (steps: string, held: Set<number>) {
  let at = 0
  for (const step of steps.split(',')) held.add(at += parseInt(step, 36))
}
