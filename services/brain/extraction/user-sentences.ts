import { FIRST_PERSON } from './english/sentence-core.ts'
import { OVER, retractsPrevious } from './english/sincerity.ts'
import { HIDDEN, hideQuotedContent } from './quoted-content.ts'

/** A sentence in the user's own words, exactly as in the message, without its final mark. */
export interface Sentence {
  text: string
  /** Its offset in the message. */
  at: number
  /** Its final mark; '' at the end of a line. */
  mark: string
  /** The whole sentence, when this is a clause of it. */
  whole?: string
}

/** Longer messages usually contain pasted text, so they are not read; characters. */
const MAX_MESSAGE = 4_000

/** The text after a colon is often quoted, or a text to work on. */
const INTRODUCED = /:(?=\s)[^]*/
/** Introductions with a colon after which the user speaks of themselves. */
const OWN_INTRODUCTION =
  /((?:^|[.!?\n])\s{0,9}(?:please\s+)?(?:remember|note|fyi|for the record|correction|update|(?:(?:here are )?(?:some|a few|two|three|more) (?:quick )?(?:things|facts|notes|details|points) )?about (?:me|myself))(?:\s+this|\s+that)?):(?=\s)/gi

/** Signs of a text to work on, a role-play or a joke: its first person is not the user. */
const PLAY =
  /\b(?:translate|translation|proofread|rephrase|reword|rewrite|paraphrase|summari[sz]e|grammar|spell-?check|how (?:do|would|can) (?:you|i|we|one) (?:say|spell|write)|role-?play|pretend|imagine|act as|act like|you are now|story|novel|poem|lyrics|song|dialogue|screenplay|fiction|fictional|character|joke|for example|an example|sample|template|dummy|test data|placeholder|suppose|assume|assuming|hypothetical(?:ly)?|scenario|thought experiment|let's (?:say|play)|persona|campaign|riddle|quiz|guess who|(?:who|what) am i|ad copy|slogan|headline|caption|system prompt|(?:talk|speak|sound|write) like|impersonate|on behalf of|(?:asking|ask|answer|answering|writing|typing) (?:this )?(?:for|as) (?:an?|my|his|her|their)|should (?:say|read|start|begin)|test (?:sentence|message|text|input))\b/i
/** Mentions of a text, which may follow in the message. */
const TEXT =
  /\b(?:(?:this|these|following|below|attached|pasted) (?:[\p{L}-]+ )?(?:bio|tweet|post|messages?|e-?mails?|letter|text|paragraph|sentences?|passage|review|comment|cv|resume|r\u00E9sum\u00E9|essay|article|speech|note|transcript|chat|conversation|log|caption|description|quote|abstract|draft|intro(?:duction)?|profile|reply|statements?|lines?|words|prompt|error|output|trace(?:back)?|snippet|response|warning)|the (?:following|text below|sentences below))\b/iu
/** Requests to edit or store a text. The text may follow the request. */
const WORK =
  /(?<=^|[.!?\n]\s{0,9})(?:(?:please|now|then|and|ok|just|can you|could you|would you)[, ]+)*(?:improve|edit|fix|shorten|expand|polish|review|check|rate|classify|continue|complete|finish|convert|format|parse|sort|count|conjugate|label|change|rename|solve|answer|evaluate|analy[sz]e|extract|tag|mark|save|append|insert|type|copy|paste|send|post|commit|draft|compose|reply|respond|put|add|write)\b(?! me\b)[^]*/i
/** Reports of other people's words, which continue on the next line. */
const REPORTS =
  /\b(?:said|says|told|tells|wrote|writes|asks|asked|answers|answered|replied|replies|reads|goes)\b[^.!?\n]{0,100}[.!:]*[^\S\n]*\n[^]*/i
const IRONY =
  /\b(?:lol|lmao|rofl|ha(?:ha)+h?|he(?:he)+|jk|j\/k|kidding|joking|just a joke|sarcasm|sarcastic|yeah,? right|as if|not really|obviously not|totally not)\b|(?:^|\s)\/s\b|\bnot!|[\u{1F602}\u{1F923}\u{1F61C}\u{1F643}\u{1F609}\u{1F61D}\u{1F92A}]|[;:]-?[)Pp](?!\w)/iu
const ABBREVIATION = /(?:^|[\s(])(?:st|mr|mrs|ms|dr|prof|vs|etc|inc|ltd|co|no|ave|approx|e\.g|i\.e|u\.s|u\.k|a\.m|p\.m|\p{Lu})$/iu

const GREETING = /^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| all| everyone)?$/i

/**
 * The sentences of a message in the user's own words that may be sincere. Long, playful and ironic messages have none.
 * Quoted content and text after a colon are left out. When the rules are not sure, a sentence is left out.
 */
export function userSentences (message: string): Sentence[] {
  if (message.length > MAX_MESSAGE) return []
  let text = hideQuotedContent(message)
  text = text.replace(
    OWN_INTRODUCTION,
    (found) => /remember|correction|update/i.test(found) ? `${found.slice(0, -1)} ` : found.replace(/[\p{L}:]/gu, ' ')
  )
  text = text.replace(INTRODUCED, (found) => HIDDEN.repeat(found.length))
  for (const pattern of [REPORTS, WORK]) text = text.replace(pattern, (found) => HIDDEN.repeat(found.length))
  text = withoutList(text)
  if ([PLAY, TEXT, IRONY].some((sign) => sign.test(text.replace(OVER, '')))) return []
  const sentences = split(text)
  return sentences.filter(({ text }, n) => text !== '' && !text.includes(HIDDEN) && !retractsPrevious(sentences[n + 1]?.text ?? ''))
}

/** Hides everything after a line without a final mark and without the first person, because such a line introduces the text below it. */
function withoutList (text: string): string {
  let from = 0
  for (const line of text.split('\n')) {
    from += line.length + 1
    if (/[\p{L}\p{N})]\s*$/u.test(line) && !FIRST_PERSON.test(line) && !GREETING.test(line)) {
      return text.slice(0, from) + HIDDEN.repeat(Math.max(0, text.length - from))
    }
  }
  return text
}

function split (text: string): Sentence[] {
  const sentences: Sentence[] = []
  let start = 0
  for (const end of text.matchAll(/[.!?…]+(?=\s|$)|[;\n]+|$/g)) {
    const before = text.slice(start, end.index)
    if (end[0].startsWith('.') && ABBREVIATION.test(before)) continue
    if (end[0] === '!' && GREETING.test(before)) continue
    const sentence = before.replace(/^[\s*•-]+/, '')
    sentences.push({ text: sentence.trimEnd(), at: end.index - sentence.length, mark: end[0].trim() })
    start = end.index + end[0].length
  }
  return sentences
}
