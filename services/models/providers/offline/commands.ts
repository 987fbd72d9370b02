import { Excerpt, parseObject, wordOf } from './excerpt.ts'
import { type Known, looksLikeFolder, type Name, readNames } from './names.ts'

/** A tool call that a message asks for. */
export interface Command {
  toolName: string
  input: Record<string, unknown>
}

/** The placeholders of patterns. The texts for `names` and `file` are parsed further by `readNames`. */
const PLACEHOLDERS: Record<string, string> = {
  quote: '\uE000+(?!\uE000)',
  url: '\uE002+(?!\uE002)',
  word: '[^\\s,;:]+(?![^\\s,;:])',
  flags: '(?:-\\S+(?:\\s+|$))*',
  file: '(?:it|(?:[a-z]+:?\\s+){0,5}?[\uE000\uE001]+)(?=[,.:!?\\s]|$)(?:\\s+in\\s+[^\\s,;:]+)?',
  names: '\\S.*?',
  text: '\\S.*',
  rest: '\\S.*'
}

/**
 * Compiles a pattern: "a|b" is one of several words, "a?" a word that can be missing, "a*" any number of them, "{name}" a placeholder.
 * Optional and repeated words are atomic groups, made of a look-ahead and a back-reference: the expression does not backtrack into them,
 * which bounds the work.
 */
function compile (pattern: string): RegExp {
  const items = pattern.split(' ').map((item, nth) => {
    const name = item.slice(1, -1)
    if (item.startsWith('{')) return `\\s*(?<${name}>${PLACEHOLDERS[name]})`
    const [, choices, times] = /^(.+?)([?*]?)$/.exec(item)!
    const marks = choices.split('|').filter((choice) => /^[:,]$/.test(choice)).join('')
    const said = `(?:\\s*(?:${wordOf(choices.replace('$', '\\$'))}|[${marks}]))${times}`
    return times ? `(?=(?<_${nth}>${said}))\\k<_${nth}>` : said
  })
  return new RegExp(`^${items.join('')}$`, 'ds')
}

const ME = 'to? me|us? know?'
const SHOW = 'show|tell|give|get|display|print|view|see|check|describe'
const TELL = 'show|tell|give|let|display|print|report|summarize|summarise|explain|describe|say|repeat|return|answer|inform|count|check' +
  ` back? ${ME} about|with|on?`
const WHAT_IS = `${SHOW}? ${ME} what|what's is|are*`
const COMMAND = 'the|this|following|shell|terminal|bash* command|script'
const PAGE = 'the|a|this|web|page|site|website|url|link|address|contents|content|text|of|from|at|on|:*'
const WEB = 'web|internet|net|google|online'
const THE = 'the|a|an|my|this|your|another|new|current|operating*'
const MACHINE = 'system|computer|machine|pc|laptop|os|hardware|host|platform'
const SCREEN = 'screen|desktop|display'
const DELETE = 'delete|remove|erase|rm|del|unlink|rmdir'
const IN_IT = "that|that's|is|in|inside|of|its|the|contents|files|it|there*"
const LIST = 'list|ls|dir|explore|browse'
const FILES = `what|which|list|ls|dir|make|${SHOW} ${ME} ` +
  'what|which|all|the|every|my|any|of|a|an|list|hidden|names|file|directory|folder* ' +
  'files|folders|directories|entries|items|everything|listing ' +
  'and|or|the|files|folders|directories* are|is|do|i|we|you|have|that|there|exist|can|see*'
const PLACE = 'in|of|inside|under|within|from|at|on|for'
const CONTENTS = 'the|its|all|full|whole|entire|first|last|top|[0-9]+|contents|content|text|lines|of|in|from*'
const CREATE = 'create|make|touch|add|new'
const WRITE = 'write|save|put|store|overwrite|replace|fill'
const TEXT = 'text|contents|content|words|word|string|lines|line|sentence|message|code'
const LABEL = `the|a|an|some|following|this|exact* ${TEXT}? of|as|is|:|,*`
const RUN = 'run|execute|$|start|launch|call|try'
const KEYS = new RegExp(
  String.raw`^(?:enter|return|tab|esc|space|backspace|delete|insert|up|down|left|right|home|end|page(?:up|down)|f\d{1,2}|` +
    String.raw`(?:(?:ctrl|shift|alt|option|cmd|meta|super|win)\+)+\S{1,10})$`
)

/** The values that a pattern captured, and the clause that it matched. */
interface Found {
  values: Record<string, Excerpt>
  known: Known
  /** The clause without and with the polite words and punctuation around it. */
  clause: Excerpt
  whole: Excerpt
}
type Reply = Command[] | undefined
const call = (toolName: string, input: Record<string, unknown> = {}): Command[] => [{ toolName, input }]
const nothing = () => []

/** Returns the commands for all names; undefined if `names` is undefined. */
const forEach = (names: Name[] | undefined, one: (name: Name) => Command[]): Reply => names?.flatMap(one)
const list = ({ values, known }: Found) =>
  forEach(readNames(values.names, known, { bare: true }), ({ path }) => call('listDirectory', { path }))

/** Returns the commands that read files and list folders. */
const open = (names: Name[] | undefined, isFolder: (name: Name) => boolean) =>
  forEach(names, (name) => call(isFolder(name) ? 'listDirectory' : 'readFile', { path: name.path }))
const openSaid = ({ values, known }: Found) =>
  open(readNames(values.names, known, { bare: true }), ({ path, isFolder }) => isFolder || /(?:^|[/\\])(?:\.{1,2})?$/.test(path))
const openGuessed = ({ values, known }: Found) =>
  open(readNames(values.names, known), (name) => looksLikeFolder(name) && name.path !== known.file)
/** After verbs such as "check", a word counts as a path only if it cannot be anything else. */
const openCertain = (found: Found): Reply =>
  readNames(found.values.names, found.known, { here: false })?.every(({ isCertain }) => isCertain) ? openGuessed(found) : undefined

/**
 * Returns the command that writes a file; undefined if its path is not certain, or if a colon at the end announces content that is missing.
 */
function write ({ values: { file, names = file, quote, text = quote, rest }, known, whole }: Found): Reply {
  const [name, other] = readNames(names, known, { here: false }) ?? []
  if (name === undefined || other !== undefined || name.isFolder || !(name.isCertain || quote)) return undefined
  if (rest === undefined && text === undefined && whole.mask.endsWith(':')) return undefined
  return call('writeFile', { path: name.path, content: text?.text ?? contentOf(rest, whole) })
}
/** Returns the content to write: a quotation, or else the rest of the message. */
function contentOf (rest: Excerpt | undefined, whole: Excerpt): string {
  const [, quote] = /^(\uE000*)(?: (?:in|to|into|inside) it)?$/.exec(rest?.mask ?? '') ?? []
  return rest === undefined ? '' : quote ? rest.part(0, quote.length).text : new Excerpt(rest.source, rest.start, whole.end).written
}

function remove ({ values: { names, flags }, known }: Found) {
  const isRecursive = flags === undefined || /(?:^|\s)-\w*r/.test(flags.mask)
  return forEach(readNames(names, known, { here: false }), ({ path }) =>
    call('deleteFile', { path, ...isRecursive && { recursive: true } }))
}

function runQuote ({ values: { quote, names }, known }: Found): Reply {
  const [place] = names === undefined ? [] : readNames(names, known, { here: false }) ?? []
  if (quote.text.trim() === '' || (names !== undefined && place === undefined)) return undefined
  return call('runCommand', { command: quote.text, ...place && { cwd: place.path } })
}
const runRest = ({ values: { rest } }: Found) => call('runCommand', { command: rest.isQuote ? rest.text : rest.written })
/** Returns the command that runs an unquoted text, unless the text begins like a sentence: "run the tests". */
const runBare = (found: Found): Reply =>
  /^(?:(?:the|an?|my|our|your|it|them|that|this|these|all|both|to|for|in|as)(?!\S)|["'`“‘«])/i.test(found.values.rest.written)
    ? undefined
    : runRest(found)

const HOST = /^(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]\S*)?$/i
function fetchUrl ({ values: { url, word = url } }: Found): Reply {
  const { text } = word
  if (/^https?:\/\/\S+$/i.test(text)) return call('fetchUrl', { url: text })
  return HOST.test(text) ? call('fetchUrl', { url: `${text.startsWith('localhost') ? 'http' : 'https'}://${text}` }) : undefined
}

const IN_FILES = /\b(?:the|my|all|these) (?:files?|folders?|directory|code|project|workspace)\b/
/** Returns the command that searches the web. A search in files needs its text in quotes. */
const search = ({ values: { rest, text = rest } }: Found): Reply =>
  IN_FILES.test(text.mask) ? undefined : call('webSearch', { query: text.text })
function searchFiles ({ values: { quote, names }, known }: Found): Reply {
  const [place] = names === undefined ? [] : readNames(names, known) ?? []
  if (names !== undefined && place === undefined) return undefined
  return call('searchFiles', { pattern: quote.text, ...place && { path: place.path }, literal: true })
}

function click ({ values: { rest }, clause: { mask } }: Found): Reply {
  const [, x, y] = /^\(?(\d+)[, ]+(\d+)\)?$/.exec(rest.written) ?? []
  const how = mask.startsWith('double') ? { double: true } : mask.startsWith('right') ? { button: 'right' } : {}
  return x === undefined ? undefined : call('click', { x: Number(x), y: Number(y), ...how })
}
function press ({ values: { rest } }: Found): Reply {
  const keys = rest.written.toLowerCase().replace(/ key$/, '').replaceAll(' ', '')
  return KEYS.test(keys) ? call('type', { keys }) : undefined
}
function scroll ({ clause: { mask } }: Found) {
  const amount = /\d+$/.exec(mask)?.[0]
  return call('scroll', { direction: mask.split(/\s+/)[1], ...amount !== undefined && { amount: Number(amount) } })
}

/** True for words that users say about themselves. */
const isOwn = (words: Excerpt) => /^(?:i|i'm|i've|my)(?!\w)/.test(words.mask)
const remember = ({ clause }: Found) => call('remember', { span: clause.written, kind: 'fact' })
const useTool = ({ values: { word, rest } }: Found): Reply => {
  const input = rest === undefined ? {} : parseObject(rest.text)
  return input && call(word.text, input)
}

/** The sentences that are understood, in the syntax of `compile`. The first one that matches a whole clause and yields commands counts. */
const RULES = ([
  // Small talk, wishes about style and requests for a report need no call, because every answer reports the results.
  ['there|done', nothing],
  ['be|stay|keep|answer|reply it|this|that? more|very|as|a|bit* brief|short|shorter|concise|quick|careful|detailed', nothing],
  [`${TELL} this|that|them|both|everything|the|its|their|all* result|results|output|outputs|answer|summary|findings?`, nothing],
  // A file that was just written is shown. A file that was just read needs no further call.
  [`${TELL} what|what's? it|its is|says|contains|content|contents|in|it*`, ({ known: { file, isRead } }) =>
    file === undefined || isRead ? [] : call('readFile', { path: file })],

  // The tools check the words, so a figure of speech stores nothing wrong.
  ['remember that|: {rest}', remember],
  ["remember|keep|note|don't in? mind|forget? that? {rest}", (found) => isOwn(found.values.rest) ? remember(found) : undefined],
  ['forget everything|all you? know? about {rest}', ({ values, clause }) =>
    call('forget', { about: values.rest.text, span: clause.written })],
  ['forget about? that|this|it', ({ clause }) => call('forget', { id: 'last', span: clause.written })],
  ['forget about? that? {rest}', ({ values: { rest }, clause }) =>
    isOwn(rest) ? call('forget', { id: rest.written, span: clause.written }) : undefined],

  ['use|call|invoke the? tool {word}', useTool],
  ['use|call|invoke the? {word} tool', useTool],
  ['use|call|invoke the? tool? {word} tool? with|on|using? the? input|arguments|json? :? {rest}', useTool],

  [`${RUN} :? ${COMMAND}? :? {quote} in|on|using? the|a? shell|terminal|console?`, runQuote],
  [`${RUN} :? ${COMMAND}? :? {quote} and leave|keep it running`, ({ values: { quote } }) =>
    call('runCommand', { command: quote.text, background: true })],
  [`${RUN} :? ${COMMAND}? :? {quote} in|inside|from {names}`, runQuote],
  [`run|execute|$ :? ${COMMAND} :? {rest}`, runRest],
  ['run|execute|$ :? {rest}', runBare],

  [`fetch|download|visit|curl|wget|go|browse to? ${PAGE} {word} page|site|website?`, fetchUrl],
  [`${SHOW}|read|open|load|look|summarize|summarise at? ${ME} ${PAGE} {url} page|site|website?`, fetchUrl],

  [`what|what's|capture|describe|look|show is|at|on|me* the|my ${SCREEN}`, () => call('screenshot')],
  [`take|make|grab|capture|do|create|${SHOW}? ${ME} ${THE} screenshot of? the|my|whole|entire* ${SCREEN}?`, () => call('screenshot')],
  [`${SHOW}? ${ME} about? ${THE} ${MACHINE} info|information|status|details|specs|summary|overview|name|version`,
    () => call('systemInfo')],
  [`what|which|how much|kind|type|of|operating|free* ${MACHINE}|memory|cpu|disk is|am|are|do|does {rest}`, () => call('systemInfo')],

  ['search|grep|find|look for? {quote} in|inside|within all? the|my|these? files|code|project|workspace|folder|directory', searchFiles],
  ['search|grep|find|look for? {quote} in|inside|within|below {names}', searchFiles],
  [`search|find|google|look up|for|about* :? {text} on|in the? ${WEB}`, search],
  [`search? the? ${WEB} search? for|about? :? {rest}`, search],
  ['search|google for|about? :? {rest}', search],
  ['look up :? {rest}', search],

  [`${FILES} right|here*`, () => call('listDirectory', { path: '.' })],
  [`${FILES} ${PLACE} {names} recursively?`, list],
  [`${LIST} {flags}`, () => call('listDirectory', { path: '.' })],
  [`${LIST}|look {flags} all|the* contents|content? ${PLACE}? {names} recursively?`, list],

  [`${WRITE}|${CREATE} down? :? ${LABEL} {quote} ,? to|into|in|inside|as|at? {names}`, write],
  [`${WRITE}|${CREATE} down? ${LABEL} to|into|in|inside|on {file} ${LABEL} {rest}`, write],
  [`${WRITE}|${CREATE} {file} ,? with|containing|having|saying|: ${LABEL} {rest}`, write],
  [`${WRITE}|${CREATE} {file} that|which says|contains|reads|has|holds ${LABEL} {rest}`, write],
  [`${CREATE} {file}`, write],
  [`${WRITE} down? :? the|a|some* ${TEXT} :? {text} to|into|as {names}`, write],
  [`${WRITE} down? :? {text} to|into|as {names}`, write],

  [`${DELETE} {flags} {names}`, remove],
  [`${DELETE} {names} recursively`, remove],
  [`${DELETE} {names} ,? with|and|including everything|all ${IN_IT}`, remove],

  [`${WHAT_IS} the? contents|content|text? of|in|inside {names}`, openGuessed],
  [`${SHOW}? ${ME} what does|do|is? {names} say|says|contain|contains|hold|holds`, ({ values, known }) =>
    open(readNames(values.names, known, { here: false }), () => false)],
  [`read|open|cat|head|tail|load ${ME} ${CONTENTS} {names}`, openSaid],
  [`show|display|view|see|look ${ME} at? ${CONTENTS} {names}`, openGuessed],
  [`${SHOW}|summarize|summarise|explain ${ME} ${CONTENTS} {names}`, openCertain],

  ['double|right? click|double-click|right-click at|on? {rest}', click],
  ['type the? text? :? {quote}', ({ values: { quote } }) => call('type', { text: quote.text })],
  ['press|hit the? {rest}', press],
  ['scroll up|down|left|right by? [0-9]+?', scroll],

  // A question about the results, which the report answers.
  [`${TELL} how|if|whether|which|where|when|why|who|what|what's {rest}`, nothing]
] satisfies Array<[pattern: string, read: (found: Found) => Reply]>).map(([pattern, read]) => ({ expression: compile(pattern), read }))

const either = (words: string) => new RegExp(`^(?:${words})$`)
export const [WRITES, RUNS, REPEATED] = [
  either(`${WRITE}|${CREATE}`),
  /^(?:run|execute|\$)$/,
  either('read|open|show|cat|write|save|put|create|delete|remove|rm|erase|run|execute|list|fetch|download')
]

/** The number or the bullet of a list's item. */
export const BULLET = '(?:[-*•–—>#]+|\\(?\\d{1,3}\\)|\\d{1,3}[.:)])(?=\\s)'
const DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day|day|week|month|year|working|business'
/** Polite and ordering words, which do not change the meaning of the command behind them. */
const OPENING = new RegExp(
  `^(?:[,.!:\\s]+|${BULLET}|\\d{1,3}[,;](?=\\s)|` + wordOf(
    'please|kindly|just|simply|first of all|firstly|secondly|finally|lastly|now|also|then|and|so|afterwards|step|ok|okay|hey|hi|hello|' +
      'thanks|great|sure|yes|well|again|plus|good (?:morning|day|evening)|thank you|after (?:that|this)|(?:could|can|would|will) you|' +
      "(?:i|we)(?:'d)? (?:would )?(?:want|need|like|love) (?:you )?to|let's|let us|go ahead and|help me(?: to)?|make sure to|" +
      // In front of a day these words belong to a time.
      `(?:task|goal|todo)(?=:)|(?:first|second|third|next)(?!\\s+(?:${DAY})\\b)`
  ) + ')'
)
/** Polite words behind a command. */
const CLOSING = new RegExp(
  '(?:[,.;:!?\\s]|(?<=[\uE000\uE002])[)\\]}]|' +
    wordOf('please|thanks|thank you|immediately|again|now|too|back|aloud|first|(?:for|to) me|right away|once more|if you (?:can|please)') +
    ')$'
)

/** Returns a clause without the polite words and punctuation around it. */
export function withoutPoliteness (whole: Excerpt): Excerpt {
  let clause = whole
  for (let found = OPENING.exec(clause.mask); found !== null; found = OPENING.exec(clause.mask)) clause = clause.part(found[0].length)
  for (let found = CLOSING.exec(clause.mask); found !== null; found = CLOSING.exec(clause.mask)) clause = clause.part(0, found.index)
  return clause
}

/** Reads a clause as commands: `[]` if it asks for nothing ("thanks", "tell me what it says"), undefined if it is not a command. */
export function readCommands (whole: Excerpt, known: Known): Reply {
  const clause = withoutPoliteness(whole)
  if (clause.mask === '') return []
  for (const { expression, read } of RULES) {
    const values = clause.match(expression)
    const commands = values && read({ values, known, clause, whole })
    if (commands) return commands
  }
  return undefined
}
