import type { Sentence } from '../sentences.ts'
import { core } from './sentence-core.ts'
import { RULES } from './statement-rules.ts'

/** What a sentence states of its writer. */
export interface Statement {
  /** The topic, such as "home" or "name", when only the newest statement on it holds. */
  topic?: string
  preference?: { key: string, value: string }
}

const QUESTION =
  /^(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|should|shall|would|will|may|might|have|has|had)\b/i
const SUPPOSED = new RegExp(
  String.raw`\b(?:if|unless|suppose|supposed|supposing|assume|assuming|pretend|would|wouldn't|could|maybe|perhaps|possibly|probably|` +
    String.raw`wish|hypothetically|let's say|though|as if|think|guess|not sure|unsure|dream|dreamed|dreamt|in theory|were to|supposedly|` +
    String.raw`allegedly|might|hope|hopefully|someday|some day|one day|going to|gonna|plan to|planning|considering|i'd|i'll|will|want to|` +
    String.raw`wanted to|about to|kind of|sort of)\b`,
  'i'
)
/** Matched in lower case only, because "May" is the month. */
const MAY = /\bmay\b/
const REPORTED = new RegExp(
  String.raw`\b(?:said|says|saying|told|tells|telling|thinks|thought|claims?|claimed|wrote|writes|asked|asks|according to|reportedly|` +
    String.raw`quote|quoting|quoted|believes?|insists?|heard|read that|swears?)\b`,
  'i'
)
const NEGATED = /\b(?:not|no|never|nobody|none|neither|nor|hardly|barely|cannot|without)\b|n't\b/i
const PASSING = new RegExp(
  String.raw`\b(?:today|tonight|right now|at the moment|this (?:week|weekend|month|morning|evening|afternoon|time|year|project|file)|` +
    String.raw`for now|just now|until|till|yesterday|tomorrow|ago|used to|was|were|as a (?:kid|child|student|customer)|` +
    String.raw`last (?:night|week|month|year)|temporarily|these days|lately|so far|here|there|only when|but)\b`,
  'i'
)
/** Sensitive, or about the assistant. */
const UNWANTED = new RegExp(
  String.raw`\b(?:the|this|that|your) (?:user|human|assistant|system|model|ai)\b|` +
    String.raw`\b(?:ignore|disregard|override|system prompt|instructions?|secret|token|forget|don't remember)\b|\byou\b`,
  'i'
)
const OTHER_LANGUAGE =
  /\b(?:und|ich|nicht|aber|auch|ist|je|suis|est|mais|que|el|los|las|pero|soy|vivo|sono|che|het|een|niet|maar|och|inte|mas|mein|mon|mi)\b/

const MAX_CHARACTERS = 200
const VETOES = [SUPPOSED, REPORTED, NEGATED, PASSING, UNWANTED, OTHER_LANGUAGE, MAY, /\bor (?:i|i'm|my)\b/i, /\.\.|\u2026/]

/** What a whole sentence states of its writer, when one of the few rules is sure; otherwise undefined. */
export function readStatement ({ text: sentence, isQuestion }: Pick<Sentence, 'text' | 'isQuestion'>): Statement | undefined {
  const { text, isAsked, isGreeting: greets } = core(sentence)
  if (isQuestion || sentence.length > MAX_CHARACTERS || QUESTION.test(text)) return undefined
  if (VETOES.some((veto) => veto.test(text.replace(/^(?:you can |you may )(?=call me)/i, '')))) return undefined
  for (const { pattern, isGreeting, topic, preference } of RULES) {
    const match = pattern.exec(text)
    if (match === null || (isGreeting && !greets)) continue
    const { key = preference, value } = match.groups ?? {}
    return { ...(topic && { topic }), ...(value !== undefined && { preference: { key: key!.toLowerCase(), value } }) }
  }
  return isAsked && text.split(/\s+/).length > 2 && !/^(?:to|when|what|how|why|where|who)\b/i.test(text) ? {} : undefined
}

/** The topic of a stored fact; see `Statement`. */
export const topicOf = (fact: string): string | undefined => readStatement({ text: fact, isQuestion: false })?.topic
