import { OVER, retractsPrevious } from './sincerity.ts'
import { FIRST_PERSON } from './sentence-core.ts'
import { searchable, type SearchableMessage } from '../own-words.ts'
import type { Sentence } from '../sentences.ts'

/** Signs of a text to work on, a role-play or a joke: its first person is not the user. */
const PLAY = new RegExp(
  String.raw`\b(?:translate|translation|proofread|rephrase|reword|rewrite|paraphrase|summari[sz]e|grammar|spell-?check|` +
    String.raw`how (?:do|would|can) (?:you|i|we|one) (?:say|spell|write)|role-?play|pretend|imagine|act as|act like|you are now|story|` +
    String.raw`novel|poem|lyrics|song|dialogue|screenplay|fiction|fictional|character|joke|for example|an example|sample|template|dummy|` +
    String.raw`test data|placeholder|suppose|assume|assuming|hypothetical(?:ly)?|scenario|thought experiment|let's (?:say|play)|persona|` +
    String.raw`campaign|riddle|quiz|guess who|(?:who|what) am i|ad copy|slogan|headline|caption|system prompt|` +
    String.raw`(?:talk|speak|sound|write) like|impersonate|on behalf of|(?:asking|ask|answer|answering|writing|typing) (?:this )?` +
    String.raw`(?:for|as) (?:an?|my|his|her|their)|should (?:say|read|start|begin)|test (?:sentence|message|text|input))\b`,
  'i'
)
/** Mentions of a text, which may follow in the message. */
const TEXT = new RegExp(
  String.raw`\b(?:(?:this|these|following|below|attached|pasted) (?:[\p{L}-]+ )?` +
    String.raw`(?:bio|tweet|post|messages?|e-?mails?|letter|text|paragraph|sentences?|passage|review|comment|cv|resume|r\u00E9sum\u00E9|` +
    String.raw`essay|article|speech|note|transcript|chat|conversation|log|caption|description|quote|abstract|draft|intro(?:duction)?|` +
    String.raw`profile|reply|statements?|lines?|words|prompt|error|output|trace(?:back)?|snippet|response|warning)|` +
    String.raw`the (?:following|text below|sentences below))\b`,
  'iu'
)
/** Requests to edit or store a text. The text may follow the request. */
const WORK = new RegExp(
  String.raw`(?<=^|[.!?\n]\s{0,9})(?:(?:please|now|then|and|ok|just|can you|could you|would you)[, ]+)*` +
    String.raw`(?:improve|edit|fix|shorten|expand|polish|review|check|rate|classify|continue|complete|finish|convert|format|parse|sort|` +
    String.raw`count|conjugate|label|change|rename|solve|answer|evaluate|analy[sz]e|extract|tag|mark|save|append|insert|type|copy|paste|` +
    String.raw`send|post|commit|draft|compose|reply|respond|put|add|write)\b(?! me\b)`,
  'i'
)
const REPORTS = new RegExp(
  String.raw`\b(?:said|says|told|tells|wrote|writes|asks|asked|answers|answered|replied|replies|reads|goes)\b` +
    String.raw`[^.!?\n]{0,100}[.!:]*[^\S\n]*\n`,
  'i'
)
const IRONY = new RegExp(
  String.raw`\b(?:lol|lmao|rofl|ha(?:ha)+h?|he(?:he)+|jk|j\/k|kidding|joking|just a joke|sarcasm|sarcastic|yeah,? right|as if|` +
    String.raw`not really|obviously not|totally not)\b|(?:^|\s)\/s\b|\bnot!|` +
    String.raw`[\u{1F602}\u{1F923}\u{1F61C}\u{1F643}\u{1F609}\u{1F61D}\u{1F92A}\u{1F60E}]|[;:]-?[)Pp](?!\w)`,
  'iu'
)

/**
 * The sentences of a message that may be sincere English statements of its writer. A message that is long, has markup,
 * quotations or a colon, mentions a text or a role, laughs or has a line that introduces others, has none.
 */
export function ownSentences (message: string): Sentence[] {
  const words: SearchableMessage = searchable(message)
  if (words.isMixed || /[:\uFF1A]\s/.test(words.text) || words.sentences.some(({ isQuoting }) => isQuoting)) return []
  const plain = words.own.replace(OVER, '')
  if ([PLAY, TEXT, WORK, REPORTS, IRONY].some((sign) => sign.test(plain)) || introduces(plain)) return []
  return words.sentences.filter((_sentence, n) => !retractsPrevious(words.sentences[n + 1]?.text ?? ''))
}

/** Whether a line without a final mark and without the first person stands above others. */
const introduces = (text: string) =>
  text.trimEnd().split('\n').slice(0, -1).some((line) => /[\p{L}\p{N})]\s*$/u.test(line) && !FIRST_PERSON.test(line))
