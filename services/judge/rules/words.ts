import { isPiece } from './goals.ts'

/**
 * Patterns for what a report says about the run itself, sentence by sentence. Code and quotations do not count, nor do
 * patterns that match the goal itself: a run that looks for failures may find some.
 */

const AGENT = 'i'
const WORK =
  '(?:it|this|that|they|the (?:\\w+ ){0,2}(?:file|files|page|site|command|script|task|goal|request|tool|build|download|report|summary|work|tests?|upload|search|plan|result|change|changes))'
const VERBS =
  '(?:access|add|answer|calculate|check|clean|collect|commit|compare|complete|connect|continue|convert|copy|create|delete|do|download|execute|export|fetch|fill in|find|finish|fix|generate|get|go on|handle|help|implement|install|load|look|make|move|open|prepare|proceed|produce|provide|put|reach|read|remove|rename|retrieve|run|save|search|send|sort|start|summari[sz]e|test|translate|update|upload|verify|work|write)'
/** Excludes phrases such as "could not find any problems", which report a good result. */
const NO_TROUBLE =
  '(?!(?: to)? (?:find|see|detect|spot|identify|discover|notice)(?: \\w+){0,3} (?:bugs?|changes?|conflicts?|difference|differences|duplicates?|errors?|else|failures?|fault|issues?|leaks?|mistakes?|new|news|problems?|regressions?|suspicious|trouble|typos?|unusual|updates?|violations?|vulnerabilit(?:y|ies)|warnings?|wrong)\\b)'

const FAILED = [
  new RegExp(
    `\\b${AGENT}(?:['’]m| am| was|['’]ve been| have been| were|['’]re| are)? (?:sorry,? but|afraid|unable|not able|failed)\\b${NO_TROUBLE}`,
    'i'
  ),
  new RegExp(
    `\\b${AGENT} (?:could|can|did|do|would|was|have|had)(?:n['’]t| not)\\b${NO_TROUBLE} (?:yet )?(?:able to )?(?:been able to )?${VERBS}\\b`,
    'i'
  ),
  new RegExp(
    `\\b${AGENT} cannot ${VERBS}\\b|\\b${AGENT} (?:do not|don['’]t|have no|lack)(?: have)?(?: the| any| an?)? (?:access|ability|permission|permissions|tools?|means|way)\\b`,
    'i'
  ),
  new RegExp(
    `\\b${WORK} (?:could not|couldn['’]t|cannot|can['’]t|was not|wasn['’]t|were not|weren['’]t) (?:be )?(?:accessed|carried out|completed?|created|done|downloaded|executed|fetched|finished|found|loaded|opened|reached|read|retrieved|run|saved|sent|updated|written|successful)\\b`,
    'i'
  ),
  new RegExp(`^(?:unfortunately,? )?(?:(?:could|can|did) ?n[o'’]t|cannot|unable to|failed to|not able to)\\b${NO_TROUBLE}`, 'i'),
  /\b(?:as an ai|i give up|i gave up|beyond my (?:abilities|capabilities|reach)|no luck|without success|(?:it|that|this) (?:did not|didn['’]t) work|is not possible for me|i (?:ran|run) into (?:an? )?(?:error|problem)s?)\b/i,
  /\bi(?:['’]m| am) (?:very |so |really )?sorry\b|\b(?:is|are) not something i (?:can|have)\b/i,
  /\b(?:no \w+(?: \w+)? (?:was|were|is) possible|(?:was|were) not possible|(?:each|every|all|both|the|my) (?:\w+ )?attempts? (?:timed out|failed)|stays? un\w+ed|remains? un\w+ed)\b/i
]
/** A failure that the same sentence reports as repaired. */
const MENDED = /\b(?:but|then|so|and)\b.*\b(?:fixed|mended|solved|resolved|worked|succeeded|instead|retried|repaired|added)\b|\bat first\b/i

const UNFINISHED = [
  new RegExp(
    `\\bi(?:['’]ll| will| am going to|['’]m going to| still (?:need|have) to| need to| plan to| intend to| have yet to| am about to|['’]m about to|['’]d need to) (?:now |next |then |later |first |also |just )?${VERBS}\\b(?! again)`,
    'i'
  ),
  /\b(?:will|would) (?:be (?:added|done|written|finished|completed|created|made)|follow|come) (?:later|next|soon|shortly|tomorrow|afterwards|in a (?:later|next|follow-up) (?:step|run))\b/i,
  /\b(?:to be continued|(?:remains|is|are) (?:still )?to be (?:done|completed|finished)|not (?:yet|fully|entirely) (?:done|finished|complete|completed|implemented|written)|still (?:outstanding|unfinished|incomplete|to be done)|(?:is|are) (?:now |still |currently )?(?:in progress|under ?way|being (?:built|deployed|done|generated|processed|written))|(?:have |['’]ve )?only (?:got|gotten|managed|finished|did|done|read|wrote) (?:through |to )?(?:the )?(?:first|half|one|part|some)|should be (?:finished|done|ready|complete) (?:by|in|shortly|soon|within)|i would (?:first|then|start|begin)|work in progress|half(?:-| )(?:done|finished|way)|partially (?:done|complete|completed|finished)|so far only|only a (?:stub|draft|start|beginning|placeholder)|remain(?:s|ing)? to be done|ran out of (?:time|steps|tokens|budget)|the (?:rest|remainder) (?:will|is still|remains|has to|needs to)|next steps? (?:is|are|would be|will be))\b/i,
  /\b(?:processed|converted|translated|finished|did|checked|read|wrote|fixed|migrated|handled) (?:only )?(?:\d+|one|two|three|half) (?:out )?of (?:the )?\w+\b.*\b(?:rest|others|remaining|remainder|continu\w+|next session)\b/i,
  /^(?:todo|to-do|wip|tbd)\b/i
]
const ASKS = [
  /\b(?:shall|should) (?:i|we) (?:go ahead|continue|proceed|start|begin|carry on|go on|do (?:it|this|that|so)|delete|remove|write|create|run|fix|correct|apply|change)\b/i,
  /\b(?:would you like|do you want) me to (?:go ahead|continue|proceed|start|begin|carry on|go on|do (?:it|this|that|so|the rest)|finish)\b/i,
  /\b(?:please|could you(?: please)?|can you(?: please)?) (?:confirm|provide|specify|clarify|tell me|let me know which|send me|share|upload|choose|paste|attach)\b/i,
  /\b(?:waiting|wait) for (?:your|you|confirmation|approval|input)\b|\bbefore i (?:start|begin|continue|proceed|can)\b|\blet me know (?:if|when|whether|once) (?:i should|you(?:['’]d| would)? (?:like|want) me to|you want|i may|i can) (?:to )?(?:go ahead|continue|proceed|start|begin)\b/i,
  /^(?:which|what) [^?]*\b(?:do you mean|should i|shall i|would you (?:like|prefer)|do you (?:want|prefer))\b/i,
  /\bi(?:['’]d| would)? need (?:more (?:information|details|context)|you to|to know|your)\b/i
]

/** A requested text has more sentences than this; a shorter answer may be a refusal to write it. */
const MAX_REFUSAL_SENTENCES = 2

export type Admission = 'failed' | 'unfinished' | 'asks'
const KINDS: Array<[Admission, RegExp[]]> = [['failed', FAILED], ['unfinished', UNFINISHED], ['asks', ASKS]]

/**
 * What the report admits: failure, unfinished work or a question; undefined for none. A final question mark counts as a
 * question only when the run has done nothing.
 */
export function admission (report: string, goal: string, hasDone: boolean): Admission | undefined {
  const sentences = sentencesOf(report)
  if (isPiece(goal) && sentences.length > MAX_REFUSAL_SENTENCES) return undefined
  for (const [kind, patterns] of KINDS) {
    const own = patterns.filter((pattern) => !pattern.test(goal))
    if (sentences.some((sentence) => !MENDED.test(sentence) && own.some((pattern) => pattern.test(sentence)))) return kind
  }
  return !hasDone && !isPiece(goal) && report.trim().endsWith('?') ? 'asks' : undefined
}

/** Characters of a sentence that the patterns examine. */
const MAX_SENTENCE = 600
/** The sentences of the report's own prose, without quotations and code. */
function sentencesOf (report: string): string[] {
  return ownWords(report).split(/(?<=[.!?…])\s+|\n+|;\s+|:\s+(?=[A-Z])/).map((sentence) =>
    sentence.trim().replace(/^[-*#>\d.)\s]+/, '').slice(0, MAX_SENTENCE)
  ).filter((sentence) => sentence !== '')
}

const ownWords = (text: string) =>
  text.slice(0, 20_000)
    .replace(/```[^]*?(?:```|$)/g, ' ')
    .replace(/^[ \t]{0,20}>.*$/gm, ' ')
    .replace(/`[^`\n]*`|“[^”]{0,400}”|"[^"\n]{0,400}"/g, '…')

const REASONS =
  'bad request|unauthorized|forbidden|not found|request time-?out|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out|payment required|overloaded'
/** Reports that are nothing but an error message. */
const ERRORS = [
  /^\W*(?:(?:\w+ )?(?:error|exception|failure|failed)|exception in thread \S+ \S+|fatal|panic|npm err!|critical)\s*(?:[:!([—]|$)/i,
  /^\W*(?:traceback \(most recent call last\)|segmentation fault|command not found|permission denied|access denied|killed|connection (?:refused|reset|timed out)|(?:an?|the) (?:unknown |unexpected |internal )?(?:error|exception) (?:occurred|has occurred|happened)|there was an? (?:error|problem)|(?:\w+, )?something went wrong|(?:request )?timed? ?out\b)/i,
  /^\W*(?:\w+(?:Error|Exception)|AI_\w+|ERR_\w+|E[A-Z]{3,})\b\s*(?::|$)/,
  new RegExp(`^\\W*(?:http(?:/[\\d.]+)? ?)?(?:[45]\\d\\d[\\s:,-]+)?(?:\\w+ )?(?:${REASONS})\\W*$`, 'i'),
  /^\s*[[{]\s*\{?\s*"(?:error|errors|exception|fault)"\s*:/i
]
/** Signs of an error that count in short reports only. */
const TROUBLE =
  /\b(?:(?:rate limit|quota)(?: \w+)? (?:exceeded|reached)|(?:please )?(?:try|retry) (?:again|after|later)|overloaded|request failed|status code [45]\d\d|service (?:is )?unavailable)\b|^http [45]\d\d\W*$/i
const SHORT = 200
/** Characters at the beginning of a report in which an error message must start. */
const BEGINNING = 2_000
/** Whether the report is an error message. */
export const isErrorText = (report: string, goal: string): boolean =>
  ERRORS.some((pattern) => pattern.test(report.slice(0, BEGINNING))) ||
  (report.length <= SHORT && TROUBLE.test(report) && !TROUBLE.test(goal))

/** Whether a report says nothing: it has no letter or digit, or is a program's value for nothing, such as "null". */
export const isWordless = (report: string): boolean =>
  !/[\p{L}\p{N}]/u.test(report) || /^\W*(?:null|undefined|nan|object object)\W*$/i.test(report)

/** Whether the report is a mere "OK" or "Sure, I'll do that", which is a report only when something was done. */
export const isMereAssent = (report: string): boolean =>
  /^\W*(?:ok(?:ay)?|done|sure|yes|certainly|of course|got it|understood|noted|will do|finished|completed?|success|happy to help)\b[^.!?\n]{0,40}[.!?]?\s*$/i
    .test(report)

/** Whether a text has unfilled gaps such as "[insert name here]". */
export const hasGaps = (text: string): boolean => /\[(?:insert|your|add|fill in|placeholder|todo|tbd)\b[^\]\n]{0,100}\]/i.test(text)

const DANGLING = /(?:\b(?:and|or|but|the|a|an|of|to|with|in|on|for|from|that|which|is|are|was|by|as)|[,;:({[])\s*$/i
/** Whether the report ends in the middle of a sentence or of a code block. */
export const breaksOff = (report: string): boolean =>
  DANGLING.test(report.trimEnd().slice(-100)) || (report.match(/^[ \t]{0,20}```/gm)?.length ?? 0) % 2 === 1
