/** A sentence that a user wrote themselves, as it stands in the message, without its end mark. */
export interface Sentence {
  text: string
  /** Where it begins in the message. */
  at: number
  /** What it ends with, '' at a line's end. */
  mark: string
}

/** Longer messages hold more than their user's own words. */
const LONGEST = 4_000
const HIDDEN = '\uE000'

/** What may belong to somebody else: code, quotations, quoted lines, markup, data, what stands below a rule. */
const FOREIGN = [
  /(```|~~~)[^]*?(?:\1|$)/g,
  /`[^`]*`/g,
  /^[^\S\n]*[>|{[<].*$/gm,
  /^(?:\t| {4,}).*$/gm,
  /^[^\S\n]*(?:-{3,}|_{3,}|={3,}|\*{3,})[^]*/gm,
  /<(\w+)[^>]*>[^]*?(?:<\/\1>|$)/g,
  /["\u201C\u201D\u201E][^"\u201C\u201D\u201E]*(?:["\u201C\u201D\u201E]|$)/g,
  /[\u00AB\u2039][^\u00BB\u203A]*(?:[\u00BB\u203A]|$)/g,
  /[\u00BB][^\u00AB]*\u00AB/g,
  /\u2018[^\u2018]*?\u2019(?![\p{L}])/gu,
  /(?<![\p{L}\p{N}])'[^'\n]+(?:'[\p{L}][^'\n]*)*'(?![\p{L}])/gu,
  /https?:\/\/\S+/g
]
/** After a colon comes what somebody else said, or a text to work on. */
const INTRODUCED = /:(?=\s)[^]*/
const OWN_INTRODUCTION = /((?:^|[.!?\n])\s*(?:please\s+)?(?:remember|note|fyi|for the record|correction|update|about me)(?:\s+this|\s+that)?):(?=\s)/gi

/** The message is a text to work on, a play or a joke: whatever it says in the first person, nobody says of themselves. */
const PLAY = /\b(?:translate|translation|proofread|rephrase|reword|rewrite|paraphrase|summari[sz]e|grammar|spell-?check|how (?:do|would|can) (?:you|i|we|one) (?:say|spell|write)|role-?play|pretend|imagine|act as|act like|you are now|story|novel|poem|lyrics|song|dialogue|screenplay|fiction|fictional|character|joke|for example|an example|sample|template|dummy|test data|placeholder)\b/i
const IRONY = /\b(?:lol|lmao|rofl|ha(?:ha)+h?|he(?:he)+|jk|j\/k|kidding|joking|just a joke|sarcasm|sarcastic|yeah,? right|as if|not really|obviously not|totally not)\b|(?:^|\s)\/s\b|\bnot!|[\u{1F602}\u{1F923}\u{1F61C}\u{1F643}\u{1F609}\u{1F61D}\u{1F92A}]|[;:]-?[)Pp](?!\w)/iu
/** Said after something that was not meant. */
const TAKEN_BACK = /^\s*(?:(?:no|nah|wait|oh|sorry|ok|haha)[,.! ]+)*(?:just |only |i(?:'|\u2019)?m |i am |was )*(?:kidding|joking|jk|j\/k|not really|not true|scratch that|forget (?:that|it|what i said)|never ?mind|ignore that|i lied|that was a joke)\b/i
const ABBREVIATION = /(?:^|[\s(])(?:st|mr|mrs|ms|dr|prof|vs|etc|inc|ltd|co|no|ave|approx|e\.g|i\.e|u\.s|u\.k|a\.m|p\.m|\p{Lu})$/iu

/** Whether a message takes back what the one before it said. */
export const takesBack = (message: string): boolean => TAKEN_BACK.test(message)

/**
 * The sentences of a message that its user wrote and may mean: none when it is long, a play, or ironic; without code,
 * quotations and what follows a colon. In doubt a sentence is left out.
 */
export function ownSentences (message: string): Sentence[] {
  if (message.length > LONGEST) return []
  // Private characters of the message itself would look like hidden ones; hidden they are then.
  let text = message.replaceAll('\u2019', "'")
  for (const pattern of FOREIGN) text = text.replace(pattern, (found) => HIDDEN.repeat(found.length))
  text = text.replace(OWN_INTRODUCTION, (found) => /remember|correction|update/i.test(found) ? `${found.slice(0, -1)} ` : found.replace(/[\p{L}:]/gu, ' '))
  text = text.replace(INTRODUCED, (found) => HIDDEN.repeat(found.length))
  if (PLAY.test(text) || IRONY.test(text)) return []
  return split(text).filter(({ text }) => text !== '' && !text.includes(HIDDEN))
}

function split (text: string): Sentence[] {
  const sentences: Sentence[] = []
  let start = 0
  for (const end of text.matchAll(/[.!?…]+(?=\s|$)|[;\n]+|$/g)) {
    const before = text.slice(start, end.index)
    if (end[0].startsWith('.') && ABBREVIATION.test(before)) continue
    const sentence = before.replace(/^[\s*•-]+/, '')
    sentences.push({ text: sentence.trimEnd(), at: end.index - sentence.length, mark: end[0].trim() })
    start = end.index + end[0].length
  }
  return sentences
}
