/** Words around a command that do not change its meaning. */

const OPENING = new RegExp(
  '^(?:' + [
    '(?:please|kindly|first(?: of all)?|firstly|second|secondly|third|thirdly|finally|lastly|last|now|next|also|then|and|afterwards|so|ok|okay|okey|hey|hi|hello|good (?:morning|day|evening)|just|simply|quickly|once more|again|alright|right(?![ -]click)|great|thanks|thank you|sure|yes|well|plus|after that|after this|in addition|to start|to begin|at the end|in the end)(?=[\\s,.!:;-])',
    "(?:could|can|would|will|won['’]t) you(?: be so kind as to)?(?: please)?(?: help me(?: to)?)?(?: go ahead and)?(?=\\s)",
    "(?:i(?:['’]d| would)? (?:want|need|like|love)(?: for)?(?: you)? to|i want|let['’]s|let us|go ahead and|try to|help me(?: to)?|you (?:should|must|can|may|could)|your (?:task|job|goal) is to|make sure to|do me a favou?r(?: and)?|would you mind|use (?:the|your) \\w+ tool to)(?=\\s)",
    '(?:task|goal|step|todo|command|request|instruction)s?(?: \\d+)?\\s*:',
    'step \\d+\\s*[.)-]?(?=\\s)',
    '\\(?\\d{1,3}[.):](?=\\s)',
    '[-*•–—>#]+(?=\\s)',
    '(?:every|each) (?:\\d+ )?[a-z]+(?: (?:morning|evening|night))?(?: at [\\d:]+ ?(?:am|pm)?)?,',
    '(?:every|each) (?:\\d+ )?(?:second|minute|hour|day|morning|evening|night|week|weekday|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?(?: at [\\d:]+ ?(?:am|pm)?)?(?=\\s)',
    '(?:hourly|daily|weekly|monthly|in the background)(?=[\\s,:])'
  ].join('|') + ')[\\s,.!:;]*',
  'i'
)

const CLOSING = new RegExp(
  '[\\s,]+(?:' + [
    'please',
    'thanks(?: a lot| so much)?',
    'thank you(?: very much)?',
    'for me',
    "if you (?:can|could|please|would|don['’]t mind)",
    'right away',
    'immediately',
    '(?:every|each) (?:\\d+ )?(?:second|minute|hour|day|morning|evening|night|week|weekday|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?(?: at [\\d:]+ ?(?:am|pm)?)?',
    'hourly|daily|weekly|monthly',
    'in the background',
    'once more',
    'first'
  ].join('|') + ')\\s*[.!?]*$',
  'i'
)

/** Returns a clause without the polite words, numbering and schedule words around its command. */
export function stripped (clause: string): string {
  let rest = clause.trim()
  for (let found = OPENING.exec(rest); found; found = OPENING.exec(rest)) rest = rest.slice(found[0].length)
  for (let found = CLOSING.exec(rest); found; found = CLOSING.exec(rest)) rest = rest.slice(0, found.index)
  return rest.trim()
}

/** Whether a clause holds a condition or a negation, so that its command must not simply be carried out. */
export const isGuarded = (clause: string): boolean =>
  /^(?:if|when|whenever|unless|once|should|in case|only|as soon as|until|before|after)\b|\b(?:do not|don['’]t|never|must not|mustn['’]t|instead of|without)\b/i
    .test(clause.trim())

/** Whether a clause is small talk or a request to report. It needs no tool, because every answer reports the results. */
export const isChatter = (clause: string): boolean => {
  const text = stripped(clause).replace(/[.!?]+$/, '')
  return text === '' || /^(?:hi|hello|hey|thanks|thank you|please|there|and|then|done|that is all|that['’]s (?:all|it))$/i.test(text) ||
    MANNER.test(text) || REPORT.test(text)
}
/** Whether a clause is a question about the results. The report of the results is its answer. */
export const isAside = (text: string): boolean =>
  /^(?:tell|show|let|inform|report|explain|say|count|check)(?: me| us)?(?: know)?(?: to me)? (?:how|if|whether|which|where|when|why|who|what)\b/i
    .test(text)

/** Wishes about the style of the answer, which a report made by rules cannot follow. */
const MANNER =
  /^(?:(?:be|stay|keep (?:it|that|this|things|the (?:answer|report|summary))|answer|reply|respond|(?:make|give) (?:it|me a report)) )?(?:(?:more|less|very|really|as|a bit|a little) )*(?:brief|short|shorter|concise|briefly|terse|polite|friendly|formal|informal|careful|precise|simple|detailed|quick|thorough|longer)(?: as possible)?(?: (?:with me|this time|from now on|next time))?$/i
const REPORT = new RegExp(
  '^(?:tell|show|give|report|let|summari[sz]e|explain|describe|say|repeat|display|print|return|output|answer|respond|reply|inform)(?: it)?(?: back)?(?: to)?(?: me| us)?(?: know| about)?(?: (?:with|on|back))?(?: (?:a (?:short |brief )?(?:summary|report|overview) of))?' +
    "(?: (?:it|this|that|them|both|everything|(?:the|its|their|all|all the|your) (?:results?|outputs?|contents?|answers?|findings?|outcomes?)|the (?:file's|file['’]s) contents?|what (?:it|they|you|happened|happens|is in it|the (?:file|output|result|command))\\b.*|what['’]s (?:in (?:it|there|them)|inside)|how (?:it|that) went|(?:when|once) (?:you are|you['’]re|it is|it['’]s) (?:done|finished)|about (?:it|them|this)|(?:if|whether) (?:it|that) (?:worked|works|succeeded)))?$",
  'i'
)
