import { LIMITS } from '../../../schemas/brain.ts'
import { wordFinder } from '../../lib/quotes.ts'
import { holdsSecret } from './secret-words.ts'

/** Why words do not count as a statement of the user. */
export type WordsProblem =
  | 'the words stand in no message of the user'
  | 'the words are too few to tell where they stand'
  | 'the words stand in a quotation, in code or in quoted lines'
  | 'the words are a question'
  | 'the words span too many sentences'
  | 'the words hold what looks like a key, a card number or a password'

/** Whole sentences that the user wrote. */
export interface OwnWords {
  text: string
  sentences: Sentence[]
  /** True if the message might contain text of others, so that a person has to confirm the sentences. */
  isUnsure: boolean
}

/** A message prepared for `findOwnWords`, with its sentences. */
export interface SearchableMessage extends ReadableMessage {
  sentences: Sentence[]
}

/** The most sentences that one span can cover: a statement, and sentences that qualify it. */
const MAX_SENTENCES = 3

/** Prepares a message of the user for `findOwnWords`. */
export function searchable (message: string): SearchableMessage {
  const words = readable(message)
  return { ...words, sentences: sentencesOf(words) }
}

/**
 * Finds the whole sentences of a message that contain `span`. The sentences must be the user's own: they contain no quotation, code, quoted
 * line or apparent secret. A question does not count as a statement, unless `mayAsk` is set, because a wish can be worded as a question.
 */
export function findOwnWords (
  { text, sentences, materialFrom, isMixed }: SearchableMessage,
  span: string,
  { mayAsk = false } = {}
): OwnWords | { problem: WordsProblem } {
  const places = wordFinder(text)(span)
  if (places.length === 0) return { problem: 'the words stand in no message of the user' }
  const found = places.map(({ from, to }) => sentences.filter(({ start, end }) => start < to && end > from))
  const own = found.filter((each) => each.length > 0 && each.every(({ isQuoting }) => !isQuoting))
  if (own.length === 0) return { problem: 'the words stand in a quotation, in code or in quoted lines' }
  const [whole] = own
  const words = text.slice(whole[0].start, whole.at(-1)!.end)
  if (own.some((each) => text.slice(each[0].start, each.at(-1)!.end) !== words)) {
    return { problem: 'the words are too few to tell where they stand' }
  }
  if (whole.length > MAX_SENTENCES || [...words].length > LIMITS.fact) return { problem: 'the words span too many sentences' }
  if (holdsSecret(words)) return { problem: 'the words hold what looks like a key, a card number or a password' }
  if (!mayAsk && whole.some(({ isQuestion }) => isQuestion)) return { problem: 'the words are a question' }
  return { text: words, sentences: whole, isUnsure: isMixed || whole.at(-1)!.end > materialFrom }
}

/** Replaces each character of quoted content. If a message contains this character itself, the character counts as quoted content, too. */
const HIDDEN = '\uE000'

/**
 * Patterns of quoted content: code, quotations, terminal output, quoted lines, markup, data, text below a horizontal rule, URLs. A straight
 * quotation mark within a word, as in Hebrew abbreviations and after numbers, does not begin a quotation.
 */
const QUOTED = [
  /(```|~~~)[^]*?(?:\1|$)/g,
  /`[^`]*`/g,
  /^[^\S\n]*(?:\$|>>>|[\w-]+@[\w-]+[:~])(?=\s|\S*[$#]\s)[^]*/gm,
  /^[^\S\n]*(?:[>|{[<#]|&gt;|\/\/|\d{4}-\d\d-\d\d).*$/gm,
  /^(?:\t| {4,}).*$/gm,
  /^[^\S\n]*(?:-{3,}|_{3,}|={3,}|\*{3,})[^]*/gm,
  /<(\w+)[^>]*>[^]*?(?:<\/\1>|$)/g,
  /(?<![\p{L}\p{N}])"[^"]*(?:"|$)/gu,
  /\uFF02[^\uFF02]*(?:\uFF02|$)/g,
  /[\u201C\u201D\u201E\u201F][^\u201C\u201D\u201E\u201F]*(?:[\u201C\u201D\u201F]|$)/g,
  /[\u00AB\u2039][^\u00BB\u203A]*(?:[\u00BB\u203A]|$)/g,
  /[\u00BB][^\u00AB]*\u00AB/g,
  /[\u300C\u300E\uFF62][^\u300D\u300F\uFF63]*(?:[\u300D\u300F\uFF63]|$)/g,
  /[\u275B\u275D\u300A\u301D][^\u275C\u275E\u300B\u301E\u301F]*(?:[\u275C\u275E\u300B\u301E\u301F]|$)/g,
  /\u201A[^\u2018'\n]*[\u2018']/g,
  /\u2018[^\u2018]*?'(?!\p{L})/gu,
  /(?<![\p{L}\p{N}])'[^'\n]{1,500}(?:'\p{L}[^'\n]{0,500}){0,20}'(?!\p{L})/gu,
  /(?:https?:\/\/|www\.)\S+/g
]

/** Signs of a message that might hold pasted text: URLs, code, and markup such as headings, tables, quoted lines and lists. */
const MARKUP = [
  /https?:\/\/|\bwww\.\w/,
  /```|~~~|`[^`\n]+`/,
  /^[^\S\n]*(?:#{1,6}\s|>|&gt;|\||[{[<])/m,
  /^(?:\t| {4,})\S/m,
  /^[^\S\n]*(?:-{3,}|_{3,}|={3,}|\*{3,})[^\S\n]*$/m,
  /\*\*[^*\n]+\*\*|\b__[^_\n]+__\b|\[[^\]\n]+\]\([^)\n]+\)|<\/?[a-z][^>\n]*>/i,
  /(?:^[^\S\n]*(?:[-*+\u2022\u2013\u2014]|\d+[.)])\s.*\n?){2}/m
]

/** Matches a line that ends with a colon, and all text below that line. */
const INTRODUCED = /[:\uFF1A][^\S\n]*\n[^]*/
/** Matches a line of a transcript: a name, a colon, words. */
const SPEAKER = /^[^\S\n]*[^\s:\uFF1A][^:\uFF1A\n]{0,30}[:\uFF1A](?!\/\/).+$/gm

/** A message in a form in which its words can be looked up. */
interface ReadableMessage {
  /** The message with composed letters and straight apostrophes. */
  text: string
  /** `text` with each character of quoted content replaced by HIDDEN. */
  own: string
  /** The offset of the colon that introduces pasted text, such as material to work on; Infinity for none. */
  materialFrom: number
  /** True if parts of the message might be pasted: the message is long, has markup, URLs or code, or looks like a transcript. */
  isMixed: boolean
}

/** A message with more characters than this might hold pasted text. */
const LONG = 600

/** Prepares a message for the search of words. `text` and `own` have the same length. */
function readable (message: string): ReadableMessage {
  const text = message.toWellFormed().normalize('NFC').replaceAll('\u2019', "'")
  let own = text
  for (const pattern of QUOTED) own = own.replace(pattern, (found) => HIDDEN.repeat(found.length))
  return {
    text: message.toWellFormed().normalize('NFC'),
    own,
    materialFrom: INTRODUCED.exec(text)?.index ?? Infinity,
    isMixed: [...text].length > LONG || MARKUP.some((sign) => sign.test(text)) || (text.match(SPEAKER)?.length ?? 0) > 1
  }
}

/** A sentence of a message. */
interface Sentence {
  /** The words with the final mark, exactly as in the message. */
  text: string
  /** Offsets in the message: `start` is the first character, `end` is after the last one. */
  start: number
  end: number
  isQuestion: boolean
  /** True if the sentence contains quoted content. */
  isQuoting: boolean
}

/** Created at its first use, because a segmenter loads the rules of all scripts. */
let segmenter: Intl.Segmenter | undefined

/** Abbreviations, in several languages, after which a full stop rarely ends the sentence. */
const ABBREVIATIONS = new Set(
  ('dr prof mr mrs ms mx st sr sra srta dra dña ing sig dott hr fr herr nr no nos num núm art abs bzw ca usw etc evtl ggf inkl max min ' +
    'mind vs inc ltd co corp jr gen col sgt rev hon ave blvd rd mt ft approx dept est fig vol ed eds pp cf al av avda blvd cía ee uu ' +
    'geb jh mio mrd std tgl bijv např tzv nám cad sok mah apt örn vb kb exmo exma ' +
    'mme mlle mm bd env tél ud uds pág tel str pl ul gosp mgr inż św godz np itd itp im gg pag sigg dott dhr mevr mw drs ir ' +
    'jan feb mar apr jun jul aug sep sept oct okt nov dec dez г ул д кв стр им тов гр обл см руб тыс млн млрд др пр проф св').split(' ')
)
/**
 * Matches the last word before a full stop. A word is also an initial, a word with full stops inside ("e.g"), or
 * a number of one or two digits ("3. Mai").
 */
const LAST_WORD = /(?:^|[\s([{'"\u00BF\u00A1])((?:\p{L}\.[^\S\n]?)*[\p{L}\p{M}]+|(?<!\d\s)\d{1,2})\.\s*$/u

/** Matches a question mark of any script. */
const QUESTION = /[?\uFF1F\u061F\u2047\u2048\u2049\u055E\u1367\u2E2E]/
/** Matches the particles that end a question in Japanese, Chinese and Thai, where the question mark can be missing. */
const PARTICLE = /(?:か|吗|嗎)。?$|(?:ไหม|มั้ย|หรือเปล่า|หรือไม่)(?:ครับ|ค่ะ|คะ)?$/
/** Matches the Greek question mark, which is written as a semicolon. */
const GREEK_QUESTION = /(?<=\p{Script=Greek}['\u0384]?)[;\u037E](?=\s|$)/gu
const LIST_MARKER = /^(?:[-*+\u2022\u2013\u2014]|\d{1,2}[.)])\s+/

/**
 * Returns the sentences of a message. A sentence does not end after an abbreviation or before a small letter. It
 * does end at a blank line and before a line that begins a list item.
 */
function sentencesOf ({ text, own }: ReadableMessage): Sentence[] {
  const marked = text.replace(GREEK_QUESTION, '?')
  const sentences: Sentence[] = []
  let start = 0
  for (const { index, segment } of (segmenter ??= new Intl.Segmenter('und', { granularity: 'sentence' })).segment(marked)) {
    const end = index + segment.length
    if (end < marked.length && !endsAt(marked.slice(start, end), marked.slice(end, end + 40))) continue
    const raw = marked.slice(start, end)
    const lead = /^\s*/.exec(raw)![0].length
    const marker = LIST_MARKER.exec(raw.slice(lead))?.[0].length ?? 0
    const from = start + lead + marker
    const to = start + raw.trimEnd().length
    start = end
    if (to <= from || !/[\p{L}\p{N}]/u.test(marked.slice(from, to))) continue
    sentences.push({
      text: text.slice(from, to),
      start: from,
      end: to,
      isQuestion: QUESTION.test(marked.slice(from, to)) || PARTICLE.test(marked.slice(from, to)),
      isQuoting: own.slice(from, to).includes(HIDDEN)
    })
  }
  return sentences
}

/** How many characters before a possible end of a sentence are examined. */
const MAX_LOOKBACK = 80

/** True if a sentence ends between the texts `before` and `after`. */
function endsAt (before: string, after: string): boolean {
  before = before.slice(-MAX_LOOKBACK)
  const gap = before.slice(before.trimEnd().length)
  if (/\n[^\S\n]*\n/.test(gap) || LIST_MARKER.test(after)) return true
  if (/^[^\p{L}\p{N}]*\p{Ll}/u.test(after)) return false
  const word = LAST_WORD.exec(before)?.[1]
  if (word === undefined) return true
  return !(/^\d+$/.test(word) || word.includes('.') || /^\p{L}$/u.test(word) || ABBREVIATIONS.has(word.toLowerCase()))
}
