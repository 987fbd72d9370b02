/** Recognizes from its words whether a goal needs tools. A goal that the patterns do not match needs none. */

/** Positions of an order: at the start of a sentence or after another order, but not in "how to delete files". */
const ORDER = '(?:^|[.;:!\\n]\\s{0,3}|,\\s{1,3}|\\b(?:and|then|please|also|you to)\\s{1,3})(?:then |also |please )?'
/** Things that are on this machine or on the web, so that a model cannot know them without tools. */
const THING =
  '(?:[`]|https?://|\\b[\\w-]+\\.[a-z]\\w{0,5}\\b|\\b(?:api|apps?|branch|build|cache|calendar|changelog|chapter|code|codebase|commits?|config|configuration|database|dependenc(?:y|ies)|desktop|director(?:y|ies)|disk|docs|documentation|downloads?|e-?mails?|files?|flights?|folders?|imports?|inbox|issues?|links|logs?|mails?|machine|memory|network|news|packages?|pages?|photos?|prices?|process(?:es)?|project|pull requests?|readme|repo|repository|screen|server|services?|settings|sites?|system|tests?|tickets?|usage|weather|web|website|workspace)\\b)'
const within = (verbs: string) => new RegExp(`${ORDER}(?:${verbs})\\b(?! (?:me|us)\\b)[^.!?\\n]*?${THING}`, 'i')
const alone = (verbs: string) => new RegExp(`${ORDER}(?:${verbs})\\b(?! (?:me|us)\\b)`, 'i')

const CHANGES = [
  alone('back up|commit|delete|deploy|install|publish|push|refactor|rename|restart|send|uninstall|upgrade'),
  within(
    'add|append|archive|change|clean(?: up)?|configure|convert|copy|correct|disable|download|edit|enable|fix|format|implement|insert|mend|migrate|move|organi[sz]e|remove|reply to|repair|replace|set up|tidy(?: up)?|unzip|update|upload'
  )
]
const LOOKS = [
  alone('execute|lint|proofread|run'),
  within(
    'build|check|collect|compare|compile|count|fetch|find|get|inspect|list|look (?:at|for|through|up)|monitor|open|read|review|scan|search|sort|start|summari[sz]e|test|translate|watch'
  )
]
/** Things that a model can invent without tools. */
const THOUGHT_UP =
  /\b(?:collect|find|get)(?: me)?(?: (?:an?|some|\w+))?(?: \w+)? (?:ideas?|names?|puns?|rhymes?|slogans?|synonyms?|titles?)\b/i

/** Whether the goal needs a call that changes something. */
export const needsChange = (goal: string): boolean => CHANGES.some((pattern) => pattern.test(goal))
/** Whether the goal needs any tool call. */
export const needsLook = (goal: string): boolean =>
  needsChange(goal) || (!THOUGHT_UP.test(goal) && LOOKS.some((pattern) => pattern.test(goal)))

/** Whether the goal asks for a text such as a letter or a story. The text then says nothing about the run itself. */
export const isPiece = (goal: string): boolean =>
  /\b(?:draft|compose|formulate|prepare|suggest|think of|write|word)\b[^.!?]*\b(?:answer|dialogue?|e-?mail|essay|invitation|letter|mail|message|note|poem|post|question(?:naire)?s?|refusal|reply|script|song|speech|story|survey|tweet)\b/i
    .test(goal)

/** Whether the goal is to find something out and the report tells of a failure. The failure is then a result of the run. */
export const isToReport = (goal: string, report: string): boolean =>
  /\b(?:report|tell|say|show|check|find out|see|note|whether|which|why|what happens)\b/i.test(goal) &&
  /\b(?:fail\w*|error|exit code|non-?zero|unreachable|not (?:there|found)|does not exist|no such|there is no|broken|down|offline)\b/i.test(
    report
  )
