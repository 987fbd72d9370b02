import type { Sentence } from './own-words.ts'

type Words = Pick<Sentence, 'text' | 'mark'>

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

const LEAD = /^(?:(?:hi|hello|hey|ok|okay|well|so|also|and|oh|ah|btw|by the way|fyi|for the record|just so you know|so you know|as you know|anyway|thanks|thank you|please)\b[,! ]*\s*|(?:(?:please )?note that|you should know(?: that)?)\s+)/i
const CORRECTION = /^(?:actually|correction|sorry|update|wait|no|nope|oops|i mean|i meant|rather|in fact)\b[,!: ]*\s*/i
const REMEMBER = /^(?:please )?(?:always )?(?:remember|keep in mind|don't forget|do not forget|make a note|take note)(?: this| that| it)?\b[,: ]*\s*(?:that\b)?\s*/i
const LEFT = /^i (?:no longer|don't|do not) [^,;]+?(?: any ?more)?, (?:(?:but|and|now|because|since) )*(?=i )/i
const CHANGED = /\b(?:now|moved|switched|changed|no longer|any ?more|instead)\b/i

const QUESTION = /^(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|should|shall|would|will|may|might|have|has|had)\b/i
const SUPPOSED = /\b(?:if|unless|suppose|supposed|supposing|assume|assuming|pretend|would|wouldn't|could|might|maybe|perhaps|possibly|probably|wish|hope|hopefully|hypothetically|let's say|though|as if|someday|some day|one day|think|guess|not sure|unsure|dream|dreamed|dreamt|in theory|were to|going to|gonna|plan to|planning|considering|thinking of|thinking about|i'd|i'll|will|want to|wanted to|about to|kind of|sort of|supposedly|allegedly)\b/i
/** In small letters; with a capital it is the month. */
const MAY = /\bmay\b/
const REPORTED = /\b(?:said|says|saying|told|tells|telling|thinks|thought|claims?|claimed|wrote|writes|asked|asks|according to|reportedly|quote|quoting|quoted|believes?|insists?|heard|read that|swears?)\b/i
const NEGATED = /\b(?:not|no|never|nobody|none|neither|nor|hardly|barely|cannot|without)\b|n't\b(?! stand\b)/i
const PASSING = /\b(?:today|tonight|right now|at the moment|this (?:week|weekend|month|morning|evening|afternoon|time|year)|for now|just now|until|till|yesterday|tomorrow|ago|used to|was|were|as a (?:kid|child|student)|last (?:week|month|year)|temporarily|these days|lately|so far|here|there)\b/i
const LASTING = /\b(?:was|were) (?:born|raised|diagnosed|named)\b/i
const OTHER_LANGUAGE = /\b(?:und|ich|nicht|aber|auch|ist|je|suis|est|mais|que|el|los|las|pero|soy|vivo|sono|che|het|een|niet|maar|och|inte|mas|mein|mon|mi)\b/i
/** The first person, in the languages that a model is most likely to read; what has none is about something else. */
const FIRST_PERSON = /(?<![\p{L}\p{N}])(?:i|i'm|i've|my|mine|me|we|our|us|ich|mein\p{L}*|mir|mich|wir|unser\p{L}*|je|j'\p{L}*|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|me|soy|vivo|tengo|prefiero|trabajo|nosotros|io|mio|mia|sono|abito|preferisco|eu|meu|minha|moro|prefiro|ik|mijn|wij|jag|min|mitt|jeg|minä|asun|ja|mój|moja|mam|mieszkam|я|меня|мой|моя|мне|живу|ben|benim)(?![\p{L}\p{N}])|我|私|僕|俺|저는|나는|제|내/iu
const ABOUT_USERS = /\b(?:the|this|that|your) (?:user|human|assistant|system|model|ai)\b|\b(?:ignore|disregard|override|system prompt|instructions?|password|api key|secret|token)\b/i

const LONGEST = 300
const MOST_WORDS = 30

/** Whether a sentence may be a statement of its writer about themselves: no question, nothing supposed, told of others, or addressed to us. */
export const isPlain = ({ text, mark }: Words): boolean => text.length <= LONGEST && text.split(/\s+/).length <= MOST_WORDS &&
  !mark.includes('?') && !text.includes('?') && !QUESTION.test(text) &&
  ![SUPPOSED, MAY, REPORTED, ABOUT_USERS].some((sign) => sign.test(text))

/** A sentence without what leads up to what it says. */
function core (text: string): { text: string, isCorrection: boolean, isAsked: boolean } {
  let isCorrection = false
  let isAsked = false
  for (let before = ''; before !== text;) {
    before = text
    text = text.replace(LEAD, '')
    for (const [pattern, mark] of [[CORRECTION, () => { isCorrection = true }], [LEFT, () => { isCorrection = true }], [REMEMBER, () => { isAsked = true }]] as const) {
      const rest = text.replace(pattern, '')
      if (rest !== text && rest !== '') mark()
      if (rest !== '') text = rest
    }
  }
  return { text: text.replace(/[\s,.!]+$/, ''), isCorrection: isCorrection || CHANGED.test(text), isAsked }
}

/** A sentence that somebody else (a model) holds for a statement: the whole of it, as it was said; undefined when it cannot be one. */
export function statementIn (sentence: Words): Statement | undefined {
  if (!isPlain(sentence) || !FIRST_PERSON.test(sentence.text) || (PASSING.test(sentence.text) && !LASTING.test(sentence.text))) return undefined
  const ruled = readStatement(sentence)
  if (ruled !== undefined) return ruled
  const { text, isCorrection } = core(sentence.text)
  return text.split(/\s+/).length >= 2 || /[^\x00-\x7F]/.test(text) ? { text, isCorrection } : undefined // eslint-disable-line no-control-regex
}

const NAME = "\\p{Lu}[\\p{L}'.-]*(?: (?:[\\p{Lu}][\\p{L}'.-]*|van|von|de|der|da|del|la|bin|al)){0,4}"
const PLACE = '(?:the )?\\p{Lu}[^,;]{1,60}(?:, \\p{Lu}[^,;]{1,40}){0,2}'
const OWN_THINGS = 'time ?zone|editor|city|email(?: address)?|phone(?: number)?|address|nationality|pronouns|native language|mother tongue|birthday|job|profession|company|employer|team|operating system|shell|keyboard layout|currency|car|bike|school|university|hobby|hobbies|blood type|shoe size|license plate'
const PERSONS = 'wife|husband|partner|girlfriend|boyfriend|boss|manager|sister|brother|mother|mom|mum|father|dad|son|daughter|dog|cat|doctor|dentist|landlord|neighbou?r|best friend'
const AMONG = 'dogs?|cats?|kids?|child|children|sons?|daughters?|brothers?|sisters?|siblings?|horses?|car|bike|motorbike|house|garden|degree|phd|allergy|dyslexia|adhd|diabetes|asthma'

interface Rule { pattern: RegExp, topic?: (groups: Record<string, string>) => string, kind?: string, preference?: (groups: Record<string, string>) => { key: string, value: string } }
const rule = (source: string, rest: Omit<Rule, 'pattern'> = {}, flags = 'iu'): Rule => ({ pattern: new RegExp(`^${source}$`, flags), ...rest })
/** Patterns that tell a name or a place by its capital; the rest of them is written in both cases. */
const named = (source: string, rest: Omit<Rule, 'pattern'> = {}) => rule(source.replace(/\b([im])(?=(?:'|y\b|\b))/g, (letter) => `[${letter}${letter.toUpperCase()}]`), rest, 'u')

const RULES: Rule[] = [
  named(`my (?<which>full |first |last |given |middle )?name(?:'s| is) (?:${NAME})`, { topic: ({ which = '' }) => `${which}name` }),
  named(`i(?:'m| am) called (?:${NAME})`, { topic: () => 'name' }),
  named(`(?:[Yy]ou (?:can|may) |[Jj]ust |[Pp]lease )?[Cc]all me (?<value>${NAME})`, { preference: ({ value }) => ({ key: 'name', value }) }),
  named(`i(?: now| currently)? (?:live|reside) (?:in|near|at|on) ${PLACE}`, { topic: () => 'home' }),
  named(`i(?:'m| am)(?: now| currently)? (?:based|living) (?:in|near|at|on) ${PLACE}`, { topic: () => 'home' }),
  named(`i(?:'ve| have)?(?: just| recently| now)? (?:moved|relocated)(?: back)? (?:to|from ${PLACE} to) ${PLACE}`, { topic: () => 'home' }),
  named(`i(?:'m| am)(?: originally)? from ${PLACE}`, { topic: () => 'origin' }),
  named(`i(?: now| currently)? work (?:at|for) ${PLACE}`, { topic: () => 'employer' }),
  rule('i(?: now| currently)? work as (?:an? |the )?[^,;]{2,60}', { topic: () => 'profession' }),
  rule("i(?:'m| am) an? (?:[\\p{L}-]+ ){0,3}(?!loser|winner|monster|goner|sinner|killer|stranger|beginner)(?:[\\p{L}-]+(?:er|or|ist|ian|eer)|nurse|chef|pilot|judge|student|vegan|programmer|architect|accountant)(?: by (?:trade|profession))?", { topic: () => 'profession' }),
  rule("i(?:'m| am) (?:allergic to [^,;]{2,60}|vegetarian|a vegetarian|vegan|left-handed|right-handed|colou?r-?blind|married|divorced|widowed|retired|dyslexic|diabetic|deaf|blind)"),
  rule("i(?:'m| am) \\d{1,3} years old", { topic: () => 'age' }),
  rule('my (?<adjective>favou?rite|preferred|default) (?<key>[\\p{L} -]{2,40}?) (?:is|are) (?:now )?(?<value>[^,;]{1,80})', {
    preference: ({ adjective, key, value }) => ({ key: `${adjective} ${key}`.toLowerCase(), value })
  }),
  rule(`my (?<thing>${OWN_THINGS}) (?:is|are) (?:now )?(?:[^,;]{1,80})`, { topic: ({ thing }) => `my ${thing}`.toLowerCase() }),
  named(`my (?<person>${PERSONS})(?:'s name)? is (?:called |named )?(?:${NAME})`, { topic: ({ person }) => `my ${person}` }),
  rule(`my (?:${PERSONS})'s birthday is [^,;]{2,40}`),
  rule('i (?:(?:really|much|strongly|always|usually|generally|now|would always) )*prefer (?!it\\b|this\\b|that\\b|them\\b|these\\b|those\\b|your\\b|the (?:first|second|last|other|former|latter)\\b)[^;]{2,100}', { kind: 'prefer' }),
  rule("i (?:(?:really|absolutely|also) )*(?:like|love|enjoy|hate|dislike|can't stand) (?!it\\b|this\\b|that\\b|them\\b|these\\b|those\\b|you\\b|your\\b|how\\b|what\\b|where\\b|when\\b|the way\\b|the idea\\b|him\\b|her\\b|to know\\b|everything\\b)[^;]{2,100}", { kind: 'like' }),
  rule('i (?:(?:always|usually|mostly|only|now) )*use (?!it\\b|this\\b|that\\b|them\\b|these\\b|those\\b|the\\b|your\\b|my\\b)[^,;]{2,60}', { kind: 'use' }),
  rule('i speak [\\p{L} ,]{3,60}', { kind: 'speak' }),
  rule(`i have (?:an?|one|two|three|four|five|\\d{1,2}) (?:[\\p{L}-]+ ){0,2}(?:${AMONG})(?: (?:called|named) [^,;]{2,60})?`)
]

/** What the rules for English read in a sentence; undefined unless they are sure. */
export function readStatement (sentence: Words): Statement | undefined {
  const { text, isCorrection, isAsked } = core(sentence.text)
  if (!isPlain({ ...sentence, text }) || OTHER_LANGUAGE.test(text) || PASSING.test(text) || NEGATED.test(text)) return undefined
  for (const { pattern, topic, kind, preference } of RULES) {
    const groups = pattern.exec(text)
    if (groups === null) continue
    return {
      text,
      isCorrection,
      ...(topic && { topic: topic(groups.groups ?? {}) }),
      ...(kind && { kind }),
      ...(preference && { preference: preference(groups.groups!) })
    }
  }
  return isAsked && text.split(/\s+/).length > 2 && !/^(?:to|when|what|how|why|where|who)\b/i.test(text) ? { text, isCorrection } : undefined
}

/** What a fact that somebody taught is about; see `Statement`. */
export function topicOf (fact: string): Pick<Statement, 'topic' | 'kind'> {
  return readStatement({ text: fact, mark: '' }) ?? {}
}
