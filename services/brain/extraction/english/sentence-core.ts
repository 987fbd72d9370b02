const GREETED = /^(?:(?:oh|ah|well)\b[,! ]*)?(?:hi|hello|hey|good (?:morning|afternoon|evening))\b/i
const LEAD = new RegExp(
  String.raw`^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|(?:there|all|everyone)(?=[,!])|ok|okay|well|so|also|and|oh|ah|btw|` +
    String.raw`by the way|fyi|for the record|just so you know|so you know|as you know|anyway|thanks|thank you|please|yes|no|actually|` +
    String.raw`sorry|update|correction)\b[,! ]*\s*|(?:(?:please )?note that|you should know(?: that)?)\s+)`,
  'i'
)
const REMEMBER = /^(?:please )?(?:always )?(?:remember|keep in mind|don't forget|do not forget|make a note|take note) that\s+/i
/** Signs of a statement about somebody else, or about something in this conversation only. */
const HERE = /^(?:it|he|she|they|you|we|the (?:last|first|next|other|above))\b|\b(?:this|these|those|above|below|following|here|there)\b/i

/** The first person. A line without it may introduce text of others. */
export const FIRST_PERSON = /(?<![\p{L}\p{N}])(?:i|i'm|i've|my|mine|me|we|our|us)(?![\p{L}\p{N}])/iu

/** A sentence without its introduction, and what the introduction tells. */
export interface Core {
  text: string
  /** Whether the user asked to remember it. */
  isAsked: boolean
  isGreeting: boolean
}

/** Removes the introduction of a sentence (greetings, fillers, requests to remember) and its final mark. */
export function core (sentence: string): Core {
  let text = sentence.replaceAll('\u2019', "'")
  let isAsked = false
  for (let before = ''; before !== text;) {
    before = text
    text = text.replace(LEAD, '')
    const rest = text.replace(REMEMBER, '')
    isAsked ||= rest !== text && !HERE.test(rest)
    text = rest
  }
  return { text: text.replace(/[\s,.!]+$/, ''), isAsked, isGreeting: GREETED.test(sentence) }
}
