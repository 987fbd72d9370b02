import { readable } from '../quoted-content.ts'

/** Phrases that take back the previous message or sentence. */
const RETRACTION = new RegExp(
  String.raw`^\s*(?:(?:no|nah|wait|oh|sorry|ok|haha)[,.! ]+)*(?:just |only |i(?:'|\u2019)?m |i am |i was |was )*` +
    String.raw`(?:(?:kidding|joking|jk|j\/k|i lied|that was (?:a joke|a lie|not true))\b|` +
    String.raw`(?:not really|not true|scratch that|forget (?:that|it|what i said)|never ?mind|ignore that)(?=\s*(?:[,.!;\n]|$)))`,
  'i'
)
/** The start of a role-play or of texts to work on, which lasts until OVER matches. */
const PART = new RegExp(
  String.raw`\b(?:role-?play|let's (?:play|pretend|imagine)|you(?:'re| are) now (?:an? |the |my )|` +
    String.raw`(?:stay|remain|answer|speak) in character|(?:use|take|adopt) (?:this|the following|the) persona|` +
    String.raw`in (?:our|my|the|this) campaign,? i\b)|(?<=^|[.!?\n]\s{0,9})(?:(?:please|now|ok)[, ]+)*` +
    String.raw`(?:pretend\b|act (?:as|like)\b|play the (?:role|part)\b|(?:interview|quiz) me\b|` +
    String.raw`ask me (?:some |a few )?(?:riddles?|trivia|quiz|questions?)\b|(?:translate|correct|proofread|rephrase|repeat|echo|` +
    String.raw`summari[sz]e|rewrite|improve)\b[^.!?\n]*\b(?:i (?:say|write|type|send|post|paste)|` +
    String.raw`(?:next|following|coming) (?:messages|sentences|texts)|from now on|` +
    String.raw`my (?:english|german|french|spanish|italian|grammar|spelling))\b)`,
  'i'
)
/** The end of a role-play or of texts to work on. */
export const OVER = new RegExp(
  String.raw`\b(?:(?:end|stop|enough|quit|finish|leave|exit|done)\b[^.!?\n]{0,20}\b(?:role-?play\w*|game|character|pretending|playing|` +
    String.raw`interview|translating|correcting)|out of character|(?:role-?play|game|interview) is over|` +
    String.raw`back to (?:reality|normal|real life))\b`,
  'i'
)
/** Announcements that the next message is a text to work on. */
const ANNOUNCED = new RegExp(
  String.raw`\b(?:the following|below|next (?:message|text|sentence)|(?:i'll|i will|let me|i am going to|i'm going to) (?:now |then )?` +
    String.raw`(?:paste|send|post|share|copy|give|show))\b`,
  'i'
)

/** Characters of a message that are examined. */
const MAX_EXAMINED = 4_000

/** Whether a message or sentence takes back the previous message or sentence. */
export const retractsPrevious = (text: string): boolean => RETRACTION.test(text)

/**
 * Decides which messages of a user, in their order, may be sincere. Not sincere are messages that the next message takes
 * back, messages within a role-play, and announced texts to work on. `isPart` tells whether a role-play is under way before
 * the first message; in the result, after the last message.
 */
export function sincereMessages (messages: string[], isPart = false): { isSincere: boolean[], isPart: boolean } {
  let isText = false
  const isSincere = messages.map((typed, n) => {
    const message = readable(typed.slice(0, MAX_EXAMINED)).own
    const isOver = OVER.test(message)
    const isSincere = (!isPart || isOver) && !isText && !retractsPrevious(messages[n + 1] ?? '')
    isPart = !isOver && (isPart || PART.test(message))
    isText = ANNOUNCED.test(message)
    return isSincere
  })
  return { isSincere, isPart }
}
