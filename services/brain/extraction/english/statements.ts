import { core, FIRST_PERSON } from './sentence-core.ts'
import type { Sentence } from '../user-sentences.ts'
import { RULES } from './statement-rules.ts'

type Words = Pick<Sentence, 'text' | 'mark' | 'whole'>

/** What a user says of themselves in one sentence. */
export interface Statement {
  /** Their words, without what leads up to them. */
  text: string
  /** What it is about, where only the newest of its kind holds: "home", "name". */
  topic?: string
  /** Statements of one kind, of which a correction replaces the last. */
  kind?: string
  isCorrection: boolean
  preference?: { key: string, value: string }
}

const QUESTION =
  /^(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|should|shall|would|will|may|might|have|has|had)\b/i
/** Supposing holds for all of a sentence, what one means to do for its clause. */
const SUPPOSED =
  /\b(?:if|unless|suppose|supposed|supposing|assume|assuming|pretend|would|wouldn't|could|maybe|perhaps|possibly|probably|wish|hypothetically|let's say|though|as if|think|guess|not sure|unsure|dream|dreamed|dreamt|in theory|were to|supposedly|allegedly)\b/i
const MEANT =
  /\b(?:might|hope|hopefully|someday|some day|one day|going to|gonna|plan to|planning|considering|thinking of|thinking about|i'd|i'll|will|want to|wanted to|about to|kind of|sort of)\b/i
/** In small letters; with a capital it is the month. */
const MAY = /\bmay\b/
const REPORTED =
  /\b(?:said|says|saying|told|tells|telling|thinks|thought|claims?|claimed|wrote|writes|asked|asks|according to|reportedly|quote|quoting|quoted|believes?|insists?|heard|read that|swears?)\b/i
const NEGATED = /\b(?:not|no|never|nobody|none|neither|nor|hardly|barely|cannot|without)\b|n't\b(?! stand\b)/i
const PASSING =
  /\b(?:today|tonight|right now|at the moment|this (?:week|weekend|month|morning|evening|afternoon|time|year)|for now|just now|until|till|yesterday|tomorrow|ago|used to|was|were|as a (?:kid|child|student)|last (?:week|month|year)|temporarily|these days|lately|so far|here|there)\b/i
/** One moves in a moment, and lives there since. */
const MOVED =
  /^(i(?:'ve| have)?(?: just| recently| now)? (?:moved|relocated)\b.*?) (?:last (?:week|month|year)|yesterday|today|this (?:week|month|year)|[\w ]{1,20} ago)$/i
const LASTING = /\b(?:was|were) (?:born|raised|diagnosed|named)\b/i
const OTHER_LANGUAGE =
  /\b(?:und|ich|nicht|aber|auch|ist|je|suis|est|mais|que|el|los|las|pero|soy|vivo|sono|che|het|een|niet|maar|och|inte|mas|mein|mon|mi)\b/
const ABOUT_USERS =
  /\b(?:the|this|that|your) (?:user|human|assistant|system|model|ai)\b|\b(?:ignore|disregard|override|system prompt|instructions?|pass(?:word|phrase|code)|api[ -]?key|private key|access key|secret|token|pin|credit card|card number|cvv|ssn|social security)\b/i

/** What is not to be learned. */
const UNWANTED = /^(?:please )?(?:forget|(?:don't|do not) (?:remember|assume|think|learn|save|store|keep))\b/i

/** One of two, and nobody knows which. */
const EITHER = /\bor (?:i|i'm|my)\b/i

const LONGEST = 300
const MOST_WORDS = 30

/** Whether a sentence may be a statement of its writer about themselves: no question, nothing supposed, told of others, or addressed to us. */
export const isPlain = ({ text, mark, whole = text }: Words): boolean =>
  whole.length <= LONGEST && whole.split(/\s+/).length <= MOST_WORDS &&
  !`${mark}${whole}`.includes('?') && !/\.\.|…/.test(mark) && !QUESTION.test(text) &&
  ![SUPPOSED, REPORTED, ABOUT_USERS, EITHER].some((sign) => sign.test(whole)) && !MEANT.test(text) && !MAY.test(text)

const isPassing = (text: string) => PASSING.test(text.replace(MOVED, '$1'))

/** A sentence that somebody else (a model) holds for a statement: the whole of it, as it was said; undefined when it cannot be one. */
export function statementIn (sentence: Words): Statement | undefined {
  const { text, isCorrection } = core(sentence.text)
  if (!isPlain(sentence) || UNWANTED.test(sentence.text) || !FIRST_PERSON.test(sentence.text) || (isPassing(text) && !LASTING.test(text))) {
    return undefined
  }
  return readStatement(sentence) ?? (text.split(/\s+/).length >= 2 || /[^\x00-\x7F]/.test(text) ? { text, isCorrection } : undefined) // eslint-disable-line no-control-regex
}

/** What the rules for English read in a sentence; undefined unless they are sure. */
export function readStatement (sentence: Words): Statement | undefined {
  const { text, isCorrection, isAsked, isGreeting: greets } = core(sentence.text)
  if (!isPlain({ ...sentence, text }) || OTHER_LANGUAGE.test(text) || isPassing(text) || NEGATED.test(text)) return undefined
  for (const { pattern, isGreeting, topic, kind, preference } of RULES) {
    const groups = pattern.exec(text)
    if (groups === null || (isGreeting && !greets)) continue
    return {
      text,
      isCorrection,
      ...(topic && { topic: topic(groups.groups ?? {}) }),
      ...(kind && { kind }),
      ...(preference && { preference: preference(groups.groups!) })
    }
  }
  return isAsked && text.split(/\s+/).length > 2 && !/^(?:to|when|what|how|why|where|who)\b/i.test(text)
    ? { text, isCorrection }
    : undefined
}

/** What a fact that somebody taught is about; see `Statement`. */
export function topicOf (fact: string): Pick<Statement, 'topic' | 'kind'> {
  return readStatement({ text: fact, mark: '' }) ?? {}
}
