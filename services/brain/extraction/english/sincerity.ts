import { hideQuotedContent } from '../quoted-content.ts'

/** Said after something that was not meant, or is to be left. */
const TAKEN_BACK =
  /^\s*(?:(?:no|nah|wait|oh|sorry|ok|haha)[,.! ]+)*(?:just |only |i(?:'|\u2019)?m |i am |i was |was )*(?:(?:kidding|joking|jk|j\/k|i lied|that was (?:a joke|a lie|not true))\b|(?:not really|not true|scratch that|forget (?:that|it|what i said)|never ?mind|ignore that)(?=\s*(?:[,.!;\n]|$)))/i
/** Of these the ones that make untrue what was said. */
const UNTRUE = /^[^.!?\n]*?(?:kidding|joking|\bjk\b|j\/k|i lied|a joke|a lie|not true|scratch that|what i said)/i

/** From here on the user plays a part, or says what is to be worked on, until that is over. */
const PART =
  /\b(?:role-?play|let's (?:play|pretend|imagine)|you(?:'re| are) now (?:an? |the |my )|(?:stay|remain|answer|speak) in character|(?:use|take|adopt) (?:this|the following|the) persona|in (?:our|my|the|this) campaign,? i\b)|(?<=^|[.!?\n]\s{0,9})(?:(?:please|now|ok)[, ]+)*(?:pretend\b|act (?:as|like)\b|play the (?:role|part)\b|(?:interview|quiz) me\b|ask me (?:some |a few )?(?:riddles?|trivia|quiz|questions?)\b|(?:translate|correct|proofread|rephrase|repeat|echo|summari[sz]e|rewrite|improve)\b[^.!?\n]*\b(?:i (?:say|write|type|send|post|paste)|(?:next|following|coming) (?:messages|sentences|texts)|from now on|my (?:english|german|french|spanish|italian|grammar|spelling))\b)/i
/** The end of that. */
export const OVER =
  /\b(?:(?:end|stop|enough|quit|finish|leave|exit|done)\b[^.!?\n]{0,20}\b(?:role-?play\w*|game|character|pretending|playing|interview|translating|correcting)|out of character|(?:role-?play|game|interview) is over|back to (?:reality|normal|real life))\b/i
/** The next message is a text to work on. */
const ANNOUNCED =
  /\b(?:the following|below|next (?:message|text|sentence)|(?:i'll|i will|let me|i am going to|i'm going to) (?:now |then )?(?:paste|send|post|share|copy|give|show))\b/i

/** Characters of a message that tell. */
const LOOKED_AT = 4_000

/** Whether a message or a sentence takes back what the one before it said. */
export const retractsPrevious = (text: string): boolean => TAKEN_BACK.test(text)

/** Whether a message says that what the one before it said is not so. */
export const deniesPrevious = (message: string): boolean => retractsPrevious(message) && UNTRUE.test(message)

/**
 * Which messages of a user, in their order, may be meant: not those that the next one takes back, nor what is said in a
 * part that the user plays, nor what was announced as a text to work on. `isPart` is whether they play one before the
 * first of them, and then after the last.
 */
export function sincereMessages (messages: string[], isPart = false): { isMeant: boolean[], isPart: boolean } {
  let isText = false
  const isMeant = messages.map((typed, n) => {
    const message = hideQuotedContent(typed.slice(0, LOOKED_AT))
    const isOver = OVER.test(message)
    const isMeant = (!isPart || isOver) && !isText && !retractsPrevious(messages[n + 1] ?? '')
    isPart = !isOver && (isPart || PART.test(message))
    isText = ANNOUNCED.test(message)
    return isMeant
  })
  return { isMeant, isPart }
}
