import { core, FIRST_PERSON } from './sentence-core.ts'
import type { Sentence } from '../user-sentences.ts'
import { RULES } from './statement-rules.ts'

type Words = Pick<Sentence, 'text' | 'mark' | 'whole'>

/** A statement of the user about themselves, from one sentence. */
export interface Statement {
  /** The user's words without the introduction. */
  text: string
  /** The topic, such as "home" or "name", when only the newest statement on it holds. */
  topic?: string
  /** The kind of the statement. A correction replaces the last statement of its kind. */
  kind?: string
  isCorrection: boolean
  preference?: { key: string, value: string }
}

const QUESTION =
  /^(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|should|shall|would|will|may|might|have|has|had)\b/i
/** Suppositions, which apply to the whole sentence. Intentions, see INTENDED, apply to their clause only. */
const SUPPOSED =
  /\b(?:if|unless|suppose|supposed|supposing|assume|assuming|pretend|would|wouldn't|could|maybe|perhaps|possibly|probably|wish|hypothetically|let's say|though|as if|think|guess|not sure|unsure|dream|dreamed|dreamt|in theory|were to|supposedly|allegedly)\b/i
const INTENDED =
  /\b(?:might|hope|hopefully|someday|some day|one day|going to|gonna|plan to|planning|considering|thinking of|thinking about|i'd|i'll|will|want to|wanted to|about to|kind of|sort of)\b/i
/** Matched in lower case only, because "May" is the month. */
const MAY = /\bmay\b/
const REPORTED =
  /\b(?:said|says|saying|told|tells|telling|thinks|thought|claims?|claimed|wrote|writes|asked|asks|according to|reportedly|quote|quoting|quoted|believes?|insists?|heard|read that|swears?)\b/i
const NEGATED = /\b(?:not|no|never|nobody|none|neither|nor|hardly|barely|cannot|without)\b|n't\b(?! stand\b)/i
const PASSING =
  /\b(?:today|tonight|right now|at the moment|this (?:week|weekend|month|morning|evening|afternoon|time|year)|for now|just now|until|till|yesterday|tomorrow|ago|used to|was|were|as a (?:kid|child|student)|last (?:week|month|year)|temporarily|these days|lately|so far|here|there)\b/i
/** A past move, whose time phrase does not make the new home temporary. */
const MOVED =
  /^(i(?:'ve| have)?(?: just| recently| now)? (?:moved|relocated)\b.*?) (?:last (?:week|month|year)|yesterday|today|this (?:week|month|year)|[\w ]{1,20} ago)$/i
const LASTING = /\b(?:was|were) (?:born|raised|diagnosed|named)\b/i
const OTHER_LANGUAGE =
  /\b(?:und|ich|nicht|aber|auch|ist|je|suis|est|mais|que|el|los|las|pero|soy|vivo|sono|che|het|een|niet|maar|och|inte|mas|mein|mon|mi)\b/
const ABOUT_USERS =
  /\b(?:the|this|that|your) (?:user|human|assistant|system|model|ai)\b|\b(?:ignore|disregard|override|system prompt|instructions?|pass(?:word|phrase|code)|api[ -]?key|private key|access key|secret|token|pin|credit card|card number|cvv|ssn|social security)\b/i

/** Requests not to remember something. */
const UNWANTED = /^(?:please )?(?:forget|(?:don't|do not) (?:remember|assume|think|learn|save|store|keep))\b/i

/** Alternatives, of which it is unknown which holds. */
const EITHER = /\bor (?:i|i'm|my)\b/i

const MAX_CHARACTERS = 300
const MAX_WORDS = 30

/** Whether a sentence can be a plain statement: no question, supposition, report of others' words, or text about the assistant. */
export const isPlain = ({ text, mark, whole = text }: Words): boolean =>
  whole.length <= MAX_CHARACTERS && whole.split(/\s+/).length <= MAX_WORDS &&
  !`${mark}${whole}`.includes('?') && !/\.\.|…/.test(mark) && !QUESTION.test(text) &&
  ![SUPPOSED, REPORTED, ABOUT_USERS, EITHER].some((sign) => sign.test(whole)) && !INTENDED.test(text) && !MAY.test(text)

const isPassing = (text: string) => PASSING.test(text.replace(MOVED, '$1'))

/** The statement of a sentence that a model pointed at, in the user's words; undefined when the sentence cannot be a statement. */
export function statementIn (sentence: Words): Statement | undefined {
  const { text, isCorrection } = core(sentence.text)
  if (!isPlain(sentence) || UNWANTED.test(sentence.text) || !FIRST_PERSON.test(sentence.text) || (isPassing(text) && !LASTING.test(text))) {
    return undefined
  }
  return readStatement(sentence) ?? (text.split(/\s+/).length >= 2 || /[^\x00-\x7F]/.test(text) ? { text, isCorrection } : undefined) // eslint-disable-line no-control-regex
}

/** The statement that the rules for English find in a sentence; undefined unless they are sure. */
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

/** The topic and kind of a stored fact; see `Statement`. */
export function topicOf (fact: string): Pick<Statement, 'topic' | 'kind'> {
  return readStatement({ text: fact, mark: '' }) ?? {}
}
