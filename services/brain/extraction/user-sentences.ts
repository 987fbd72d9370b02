import { FIRST_PERSON } from './english/sentence-core.ts'
import { OVER, retractsPrevious } from './english/sincerity.ts'
import { HIDDEN, hideQuotedContent } from './quoted-content.ts'

/** A sentence that a user wrote themselves, as it stands in the message, without its end mark. */
export interface Sentence {
  text: string
  /** Where it begins in the message. */
  at: number
  /** What it ends with, '' at a line's end. */
  mark: string
  /** The sentence that it is a clause of. */
  whole?: string
}

/** Longer messages hold more than their user's own words. */
const LONGEST = 4_000

/** After a colon comes what somebody else said, or a text to work on. */
const INTRODUCED = /:(?=\s)[^]*/
const OWN_INTRODUCTION =
  /((?:^|[.!?\n])\s{0,9}(?:please\s+)?(?:remember|note|fyi|for the record|correction|update|(?:(?:here are )?(?:some|a few|two|three|more) (?:quick )?(?:things|facts|notes|details|points) )?about (?:me|myself))(?:\s+this|\s+that)?):(?=\s)/gi

/** The message is a text to work on, a play or a joke: whatever it says in the first person, nobody says of themselves. */
const PLAY =
  /\b(?:translate|translation|proofread|rephrase|reword|rewrite|paraphrase|summari[sz]e|grammar|spell-?check|how (?:do|would|can) (?:you|i|we|one) (?:say|spell|write)|role-?play|pretend|imagine|act as|act like|you are now|story|novel|poem|lyrics|song|dialogue|screenplay|fiction|fictional|character|joke|for example|an example|sample|template|dummy|test data|placeholder|suppose|assume|assuming|hypothetical(?:ly)?|scenario|thought experiment|let's (?:say|play)|persona|campaign|riddle|quiz|guess who|(?:who|what) am i|ad copy|slogan|headline|caption|system prompt|(?:talk|speak|sound|write) like|impersonate|on behalf of|(?:asking|ask|answer|answering|writing|typing) (?:this )?(?:for|as) (?:an?|my|his|her|their)|should (?:say|read|start|begin)|test (?:sentence|message|text|input))\b/i
/** It speaks of a text, which then may be what follows. */
const TEXT =
  /\b(?:(?:this|these|following|below|attached|pasted) (?:[\p{L}-]+ )?(?:bio|tweet|post|messages?|e-?mails?|letter|text|paragraph|sentences?|passage|review|comment|cv|resume|r\u00E9sum\u00E9|essay|article|speech|note|transcript|chat|conversation|log|caption|description|quote|abstract|draft|intro(?:duction)?|profile|reply|statements?|lines?|words|prompt|error|output|trace(?:back)?|snippet|response|warning)|the (?:following|text below|sentences below))\b/iu
/** What follows a request to work on words, or to put words somewhere, may be those words. */
const WORK =
  /(?<=^|[.!?\n]\s{0,9})(?:(?:please|now|then|and|ok|just|can you|could you|would you)[, ]+)*(?:improve|edit|fix|shorten|expand|polish|review|check|rate|classify|continue|complete|finish|convert|format|parse|sort|count|conjugate|label|change|rename|solve|answer|evaluate|analy[sz]e|extract|tag|mark|save|append|insert|type|copy|paste|send|post|commit|draft|compose|reply|respond|put|add|write)\b(?! me\b)[^]*/i
/** Who tells what others say goes on with it in the next line. */
const TELLS =
  /\b(?:said|says|told|tells|wrote|writes|asks|asked|answers|answered|replied|replies|reads|goes)\b[^.!?\n]{0,100}[.!:]*[^\S\n]*\n[^]*/i
const IRONY =
  /\b(?:lol|lmao|rofl|ha(?:ha)+h?|he(?:he)+|jk|j\/k|kidding|joking|just a joke|sarcasm|sarcastic|yeah,? right|as if|not really|obviously not|totally not)\b|(?:^|\s)\/s\b|\bnot!|[\u{1F602}\u{1F923}\u{1F61C}\u{1F643}\u{1F609}\u{1F61D}\u{1F92A}]|[;:]-?[)Pp](?!\w)/iu
const ABBREVIATION = /(?:^|[\s(])(?:st|mr|mrs|ms|dr|prof|vs|etc|inc|ltd|co|no|ave|approx|e\.g|i\.e|u\.s|u\.k|a\.m|p\.m|\p{Lu})$/iu

const GREETING = /^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| all| everyone)?$/i

/**
 * The sentences of a message that its user wrote and may mean: none when it is long, a play, or ironic; without code,
 * quotations and what follows a colon. In doubt a sentence is left out.
 */
export function userSentences (message: string): Sentence[] {
  if (message.length > LONGEST) return []
  let text = hideQuotedContent(message)
  text = text.replace(
    OWN_INTRODUCTION,
    (found) => /remember|correction|update/i.test(found) ? `${found.slice(0, -1)} ` : found.replace(/[\p{L}:]/gu, ' ')
  )
  text = text.replace(INTRODUCED, (found) => HIDDEN.repeat(found.length))
  for (const pattern of [TELLS, WORK]) text = text.replace(pattern, (found) => HIDDEN.repeat(found.length))
  text = withoutList(text)
  if ([PLAY, TEXT, IRONY].some((sign) => sign.test(text.replace(OVER, '')))) return []
  const sentences = split(text)
  return sentences.filter(({ text }, n) => text !== '' && !text.includes(HIDDEN) && !retractsPrevious(sentences[n + 1]?.text ?? ''))
}

/** A line that ends without a mark and says nothing of its writer leads up to the lines below. */
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
