/** A word of a text, folded, and where it stands: offsets in UTF-16 code units. */
export interface Word {
  word: string
  start: number
  end: number
}

/** Matches letters, digits and marks in a row. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts that put no blanks between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\u30fc]/u
// eslint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/
/** The most characters that are segmented at once, so that a long text without blanks does not block the event loop. */
const RUN_CHARACTERS = 1_000
/** The characters of a word that count; the rest is ignored. */
const WORD_CHARACTERS = 40

/** Letters that Unicode treats as separate, and people write in either way. */
const WRITTEN_AS: Record<string, string> = { ß: 'ss', ς: 'σ', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' }
const TWO_WAYS = new RegExp(`[${Object.keys(WRITTEN_AS).join('')}]`, 'g')

let segmenter: Intl.Segmenter | undefined

/** Folds case, accents and forms of letters that look alike. A longer word is cut to WORD_CHARACTERS characters. */
export function fold (word: string): string {
  const known = word.slice(0, WORD_CHARACTERS * 2)
  return (ASCII.test(known) ? known.toLowerCase() : foldLetters(known)).slice(0, WORD_CHARACTERS)
}

const foldLetters = (word: string) =>
  word.normalize('NFKD').replace(/\p{Mn}/gu, '').normalize('NFKC').toLowerCase().replace(TWO_WAYS, (letter) => WRITTEN_AS[letter])

/** Yields the words of a text in their order. Scripts without blanks are split by `Intl.Segmenter`. */
export function * wordsIn (text: string): Generator<Word> {
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (ASCII.test(run) || !UNSPACED.test(run)) {
      yield { word: fold(run), start: index, end: index + run.length }
      continue
    }
    segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' })
    for (let from = 0; from < run.length; from += RUN_CHARACTERS) {
      for (const { segment, index: at } of segmenter.segment(run.slice(from, from + RUN_CHARACTERS))) {
        yield { word: fold(segment), start: index + from + at, end: index + from + at + segment.length }
      }
    }
  }
}
