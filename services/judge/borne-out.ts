import { basename } from 'node:path'
import { wordFinder } from '../lib/quotes.ts'
import type { CallFact } from './call-facts.ts'
import { mentions, textOfInput } from './claim-target.ts'

/** Created at its first use, because a segmenter loads the rules of all scripts. */
let segmenter: Intl.Segmenter | undefined

/** Returns the whole sentences of a report that contain a quote; undefined if the report does not contain the quote. */
export function quotedSentence (report: string, quote: string): string | undefined {
  const text = report.toWellFormed().normalize('NFC')
  const [place] = wordFinder(text)(quote)
  if (place === undefined) return undefined
  segmenter ??= new Intl.Segmenter('und', { granularity: 'sentence' })
  const sentences = text.split(/(?<=\n)/).flatMap((line) => [...segmenter!.segment(line)])
  let at = 0
  let found = ''
  for (const { segment } of sentences) {
    if (at < place.to && at + segment.length > place.from) found += segment
    at += segment.length
  }
  return found.trim()
}

/** The fewest characters of a name that is searched in a sentence, and the most characters of an input value that counts as a name. */
const SHORTEST_NAME = 3
const LONGEST_NAME = 200
const NUMBERS = /\p{Nd}+(?:[.,:]\p{Nd}+)*/gu
/** Matches the separators between the words of an output. */
const BETWEEN = /[\s"'`\u201C\u201D\u00AB\u00BB(){}[\],;:<>|=\uFF1A\uFF0C\u3001\u3002]+/u
/** Matches a word that names something: a path, an address, a code, a name with inner capitals, or a phrase in a script without blanks. */
const NAME =
  /\p{L}.*[./_@-].*[\p{L}\p{N}]|\p{Ll}\p{Lu}|\p{Lu}{3}|\p{L}\p{N}|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]{4}/u

/** Returns the names of a call's subjects: its target, the paths that it changed, and the short values of its input. */
function namesOf ({ target, changes, input }: CallFact): string[] {
  const values = textOfInput(input).split('\n').filter(({ length }) => length <= LONGEST_NAME)
  const names = [target ?? '', ...changes.map(({ path }) => path), ...values]
  return [...new Set(names.flatMap((name) => [name, basename(name)]).map((name) => name.normalize('NFC').trim()))]
    .filter(({ length }) => length >= SHORTEST_NAME)
}

/** True if a text contains an absolute path by itself, not only as the end of a longer path. */
const beginsPath = (text: string, path: string) => text.split(path).slice(0, -1).some((before) => !/[\p{L}\p{N}_.-]$/u.test(before))

/**
 * True if a successful call supports a sentence: the sentence contains a subject of the call, a name from its
 * output, or a number from its input or output. With `name`, the call must contain that name instead.
 */
export function bearsOut (call: CallFact, sentence: string, name?: string): boolean {
  if (call.status !== 'completed') return false
  const output = textOfInput(call.output)
  const known = [...namesOf(call), textOfInput(call.input), output].join('\n')
  if (name !== undefined) return mentions(known, name) && (!name.startsWith('/') || beginsPath(known, name))
  const about = [...namesOf(call), ...output.split(BETWEEN).filter((word) => NAME.test(word))]
  const text = sentence.normalize('NFC')
  return about.some((each) => mentions(text, each)) || (text.match(NUMBERS) ?? []).some((number) => mentions(known, number))
}
