const GREETED = /^(?:(?:oh|ah|well)\b[,! ]*)?(?:hi|hello|hey|good (?:morning|afternoon|evening))\b/i
const LEAD =
  /^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|(?:there|all|everyone)(?=[,!])|ok|okay|well|so|also|and|oh|ah|btw|by the way|fyi|for the record|just so you know|so you know|as you know|anyway|thanks|thank you|please)\b[,! ]*\s*|(?:(?:please )?note that|you should know(?: that)?)\s+)/i
const CORRECTION =
  /^(?:actually|correction|sorry|update|wait|no|nope|oops|i mean|i meant|rather|in fact|(?:scratch|forget|ignore) that(?=[,.!:]))\b[,!: ]*\s*/i
const REMEMBER =
  /^(?:please )?(?:always )?(?:remember|keep in mind|don't forget|do not forget|make a note|take note)\b(?: this| it)?[,: ]*\s*(?<that>that\b\s*)?/i
const LEFT = /^i (?:no longer|don't|do not) [^,;]+?(?: any ?more)?, (?:(?:but|and|now|because|since) )*(?=i )/i
/** Signs of a statement about somebody else, or about something in this conversation only. */
const HERE = /^(?:it|he|she|they|you|we|the (?:last|first|next|other|above))\b|\b(?:this|these|those|above|below|following|here|there)\b/i
/** A contrast at the end, such as ", not in Bruges". */
const CONTRAST = /, not (?:in |at |from |for )?(?:the )?\p{Lu}[\p{L}\p{N}'-]*(?: \p{Lu}[\p{L}'-]*)*$/u
const CHANGED = /\b(?:now|moved|switched|changed|no longer|any ?more|instead)\b/i

/** The first person in the languages that users are most likely to write. A sentence without it is not about the user. */
export const FIRST_PERSON =
  /(?<![\p{L}\p{N}])(?:i|i'm|i've|my|mine|me|we|our|us|ich|mein\p{L}*|mir|mich|wir|unser\p{L}*|je|j'\p{L}*|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|me|soy|vivo|tengo|prefiero|trabajo|nosotros|io|mio|mia|sono|abito|preferisco|eu|meu|minha|moro|prefiro|ik|mijn|wij|jag|min|mitt|jeg|minä|asun|ja|mój|moja|mam|mieszkam|я|меня|мой|моя|мне|живу|ben|benim)(?![\p{L}\p{N}])|我|私|僕|俺|저는|나는|제|내/iu

/** The core of a sentence, and what its introduction tells. */
export interface Core {
  text: string
  /** Whether the sentence corrects an earlier statement. */
  isCorrection: boolean
  /** Whether the user asked to remember it. */
  isAsked: boolean
  isGreeting: boolean
}

/** Removes the introduction of a sentence: greetings, fillers, corrections, requests to remember. */
export function core (sentence: string): Core {
  let text = sentence
  let isCorrection = false
  let isAsked = false
  for (let before = ''; before !== text;) {
    before = text
    text = text.replace(LEAD, '')
    const rest = [CORRECTION, LEFT].reduce((rest, pattern) => rest.replace(pattern, '') || rest, text)
    isCorrection ||= rest !== text
    const asked = REMEMBER.exec(rest)
    text = (asked && rest.slice(asked[0].length)) || rest
    isAsked ||= asked?.groups!.that !== undefined && !HERE.test(text)
  }
  text = text.replace(/[\s,.!]+$/, '')
  const stated = text.replace(CONTRAST, '')
  return { text: stated, isCorrection: isCorrection || stated !== text || CHANGED.test(text), isAsked, isGreeting: GREETED.test(sentence) }
}

/** Whether a sentence is about its writer from the first word after its introduction. */
export const isOwn = (sentence: string): boolean => /^(?:i|i'm|i've|my|call me)\b/i.test(core(sentence).text)
