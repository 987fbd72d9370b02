import type { Clause, Command } from './clause.ts'
import { readPath, readPaths, looksLikeFolder, type Path } from './paths.ts'
import { parseObject } from './tokens.ts'

const URL = /^https?:\/\/\S+$/i
const HOST = /^(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]\S*)?$/i
const toEnd = (clause: Clause) => (clause.at = clause.tokens.length)

/** The placeholders of patterns. Each moves the clause behind its value and returns the value; undefined when nothing fits. */
const PLACEHOLDERS = {
  path: (clause: Clause) => readPath(clause, { here: false }),
  /** Paths, "here" and "this folder". */
  paths: (clause: Clause) => readPaths(clause),
  /** The same, and single words without dot and slash also in a list. */
  names: (clause: Clause) => readPaths(clause, { bare: true }),
  /** Paths, but not "here". */
  targets: (clause: Clause) => readPaths(clause, { here: false }),
  quote: (clause: Clause) => clause.next?.kind === 'quote' ? clause.takeToken()!.text : undefined,
  word: (clause: Clause) => clause.takeToken()?.text,
  object: (clause: Clause) => parseObject(clause.takeToken()?.text ?? ''),
  /** Options of a shell command, if there are any. */
  flags (clause: Clause) {
    const start = clause.at
    while (clause.next?.word.startsWith('-')) clause.at++
    return clause.tokens.slice(start, clause.at).map(({ word }) => word)
  },
  url (clause: Clause) {
    const url = clause.takeToken()?.text ?? ''
    return URL.test(url) ? url : undefined
  },
  /** A URL, or the name of a host. */
  address (clause: Clause) {
    const address = clause.takeToken()?.text ?? ''
    if (URL.test(address)) return address
    return HOST.test(address) ? `${address.startsWith('localhost') ? 'http' : 'https'}://${address}` : undefined
  },
  /** What is to be written into a file: a quotation, or else the rest as it was written. */
  content (clause: Clause) {
    const { next, written } = clause
    const isQuote = clause.takeToken()?.kind === 'quote' && (clause.isOver || clause.take('in|to|into|inside it')) && clause.isOver
    toEnd(clause)
    return isQuote ? next!.text : next && written
  },
  /** The rest of the clause; a quotation loses its quotes. */
  rest: (clause: Clause) => clause.isOver ? undefined : clause.textOf(clause.at, toEnd(clause))
}
type Values = { [Name in keyof typeof PLACEHOLDERS]: NonNullable<ReturnType<typeof PLACEHOLDERS[Name]>> } & {
  /** The text up to the last place where the rest of the pattern fits. */
  text: string
}

/** Reads a whole clause by a pattern: words in the syntax of `after`, and placeholders in braces. Returns their values. */
function match (pattern: string, clause: Clause): Values | undefined {
  clause.at = 0
  // The rule that reads the values knows which placeholders its pattern has.
  return matchItems(pattern.split(/ (?=\{)|(?<=\}) /), clause, {}) as Values | undefined
}

function matchItems ([item, ...items]: string[], clause: Clause, values: Partial<Values>): Partial<Values> | undefined {
  if (item === undefined) return clause.isOver ? values : undefined
  if (!item.startsWith('{')) return clause.take(item) ? matchItems(items, clause, values) : undefined
  if (item !== '{text}') {
    const name = item.slice(1, -1) as keyof typeof PLACEHOLDERS
    const value = PLACEHOLDERS[name](clause)
    return value === undefined ? undefined : matchItems(items, clause, { ...values, [name]: value })
  }
  const { at, tokens } = clause
  for (let end = tokens.length - 1; end > at; end--) {
    clause.at = end
    const found = matchItems(items, clause, { ...values, text: clause.textOf(at, end) })
    if (found) return found
  }
  return undefined
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
const CONTENTS = 'the|its|all|full|whole|entire|first|last|top|#|contents|content|text|lines|of|in|from*'
export const CREATE = 'create|make|touch|add|new'
export const WRITE = 'write|save|put|store|overwrite|replace|fill'
const TEXT = 'text|contents|content|words|word|string|lines|line|sentence|message|code'
const LABEL = `the|a|an|some|following|this|exact* ${TEXT}? of|as|is|:|,|\n*`
const KEYS = new RegExp(
  String.raw`^(?:enter|return|tab|esc|space|backspace|delete|insert|up|down|left|right|home|end|page(?:up|down)|f\d{1,2}|` +
    String.raw`(?:(?:ctrl|shift|alt|option|cmd|meta|super|win)\+)+\S{1,10})$`
)

/** The tools of the sentences below that change nothing, and what each reads. "it" and "there" refer to files and folders alone. */
export const READS: ReadonlyMap<string, 'file' | 'folder' | 'machine' | 'elsewhere'> = new Map([
  ['readFile', 'file'],
  ['listDirectory', 'folder'],
  ['systemInfo', 'machine'],
  ['fetchUrl', 'elsewhere'],
  ['webSearch', 'elsewhere'],
  ['searchFiles', 'elsewhere'],
  ['screenshot', 'elsewhere']
])

type Reply = Command[] | undefined
const call = (toolName: string, input: Record<string, unknown> = {}): Command[] => [{ toolName, input }]
const nothing = () => []
const screenshot = () => call('screenshot')
const systemInfo = () => call('systemInfo')
const here = () => call('listDirectory', { path: '.' })
const list = ({ names }: Values) => names.flatMap(({ path }) => call('listDirectory', { path }))
const fetchUrl = ({ url, address = url }: Values) => call('fetchUrl', { url: address })

/** Shows the file that was just written; of a file that was just read nothing more is asked. */
const showIt = (_values: Values, { known: { file, isRead } }: Clause) =>
  file === undefined || isRead ? [] : call('readFile', { path: file })

const runQuote = ({ quote, path }: Values): Reply =>
  quote.trim() === '' ? undefined : call('runCommand', { command: quote, ...path && { cwd: path.path } })
const runBehind = ({ quote }: Values) => call('runCommand', { command: quote, background: true })
const runRest = ({ rest }: Values) => call('runCommand', { command: rest })
/** Runs an unquoted command, unless it begins like a sentence: "run the tests". */
const runBare = (values: Values): Reply =>
  /^(?:(?:the|an?|my|our|your|it|them|that|this|these|all|both|to|for|in|as)\b|["'`“‘«])/i.test(values.rest) ? undefined : runRest(values)

/** Reads the files, or lists those that are folders. */
const open = (paths: Path[], isFolder: (path: Path) => boolean) =>
  paths.flatMap((each) => call(isFolder(each) ? 'listDirectory' : 'readFile', { path: each.path }))
const openSaid = ({ names }: Values) => open(names, ({ path, isFolder }) => isFolder || /(?:^|[/\\])(?:\.{1,2})?$/.test(path))
const openGuessed = ({ targets, paths = targets }: Values, { known }: Clause) =>
  open(paths, (path) => looksLikeFolder(path) && path.path !== known.file)
/** After verbs such as "check", only what can be nothing but a path is one. */
const openPlain = (values: Values, clause: Clause): Reply =>
  values.targets.every(({ isPlain }) => isPlain) ? openGuessed(values, clause) : undefined

const writeQuote = ({ path: { path }, quote }: Values) => call('writeFile', { path, content: quote })
/** Writes a file whose path is beyond doubt. A colon at the end announces content that follows. */
const write = ({ path: { path, isPlain, isFolder }, quote, content = quote, text = content }: Values, { all }: Clause): Reply =>
  isPlain && !isFolder && (text !== undefined || all.at(-1)?.word !== ':') ? call('writeFile', { path, content: text ?? '' }) : undefined
function remove ({ targets, flags = ['-r'] }: Values) {
  const recursive = flags.some((flag) => /^-\w*r/.test(flag))
  return targets.flatMap(({ path }) => call('deleteFile', { path, ...recursive && { recursive } }))
}

const searchFiles = ({ quote, path }: Values) => call('searchFiles', { pattern: quote, ...path && { path: path.path }, literal: true })
/** Searches the web. A search in files needs its text in quotes. */
const search = ({ rest, text = rest }: Values): Reply => IN_FILES.test(text) ? undefined : call('webSearch', { query: text })
const IN_FILES = /\b(?:the|my|all|these) (?:files?|folders?|directory|code|project|workspace)\b/i

function click ({ rest }: Values, { tokens: [{ word }] }: Clause): Reply {
  const [, x, y] = /^\(?(\d+)[, ]+(\d+)\)?$/.exec(rest) ?? []
  const how = word.startsWith('double') ? { double: true } : word.startsWith('right') ? { button: 'right' } : {}
  return x === undefined ? undefined : call('click', { x: Number(x), y: Number(y), ...how })
}

function press ({ rest }: Values): Reply {
  const keys = rest.toLowerCase().replace(/ key$/, '').replaceAll(' ', '')
  return KEYS.test(keys) ? call('type', { keys }) : undefined
}

const scroll = (_values: Values, { tokens: [, direction, ...by] }: Clause) =>
  call('scroll', { direction: direction.word, ...by.length > 0 && { amount: Number(by.at(-1)!.word) } })

/** Words that the user says of themselves. */
const OWN = /^(?:i|i['’]m|i['’]ve|my)\b/i
const asWritten = (clause: Clause) => clause.textOf(0, clause.tokens.length)
const remember = (_values: Values, clause: Clause) => call('remember', { span: asWritten(clause), kind: 'fact' })
const rememberOwn = (values: Values, clause: Clause): Reply => OWN.test(values.rest) ? remember(values, clause) : undefined
const forgetLast = (_values: Values, clause: Clause) => call('forget', { id: 'last', span: asWritten(clause) })
const forgetAbout = ({ rest }: Values, clause: Clause) => call('forget', { about: rest, span: asWritten(clause) })
const forgetOwn = ({ rest }: Values, clause: Clause): Reply =>
  OWN.test(rest) ? call('forget', { id: rest, span: asWritten(clause) }) : undefined

/** The sentences that are understood, in the syntax of `match`. The first that fits a whole clause and gives commands counts. */
const RULES: Array<[pattern: string, read: (values: Values, clause: Clause) => Reply]> = [
  // Small talk, wishes about style and requests to report need no call, because every answer reports the results.
  ['there|done', nothing],
  ['be|stay|keep|answer|reply it|this|that? more|very|as|a|bit* brief|short|shorter|concise|quick|careful|detailed', nothing],
  [`${TELL} this|that|them|both|everything|the|its|their|all* result|results|output|outputs|answer|summary|findings?`, nothing],
  [`${TELL} what|what's? it|its is|says|contains|content|contents|in|it*`, showIt],

  // The tools check the words, so what is only a manner of speaking stores nothing wrong.
  ['remember that|: {rest}', remember],
  ["remember|keep|note|don't in? mind|forget? that? {rest}", rememberOwn],
  ['forget everything|all you? know? about {rest}', forgetAbout],
  ['forget about? that|this|it', forgetLast],
  ['forget about? that? {rest}', forgetOwn],

  ['use|call|invoke the? tool {word}', ({ word }) => call(word)],
  ['use|call|invoke the? {word} tool', ({ word }) => call(word)],
  [
    'use|call|invoke the? tool? {word} tool? with|on|using? the? input|arguments|json? :? {object}',
    ({ word, object }) => call(word, object)
  ],

  [`run|execute|$|start|launch|call|try :? ${COMMAND}? :? {quote} in|on|using? the|a? shell|terminal|console?`, runQuote],
  [`run|execute|$|start|launch|call|try :? ${COMMAND}? :? {quote} and leave|keep it running`, runBehind],
  [`run|execute|$|start|launch|call|try :? ${COMMAND}? :? {quote} in|inside|from {path}`, runQuote],
  [`run|execute|$ :? ${COMMAND} :? {rest}`, runRest],
  ['run|execute|$ :? {rest}', runBare],

  [`fetch|download|visit|curl|wget|go|browse to? ${PAGE} {address} page|site|website?`, fetchUrl],
  [`${SHOW}|read|open|load|look|summarize|summarise at? ${ME} ${PAGE} {url} page|site|website?`, fetchUrl],

  [`what|what's|capture|describe|look|show is|at|on|me* the|my ${SCREEN}`, screenshot],
  [`take|make|grab|capture|do|create|${SHOW}? ${ME} ${THE} screenshot of? the|my|whole|entire* ${SCREEN}?`, screenshot],
  [`${SHOW}? ${ME} about? ${THE} ${MACHINE} info|information|status|details|specs|summary|overview|name|version`, systemInfo],
  [`what|which|how much|kind|type|of|operating|free* ${MACHINE}|memory|cpu|disk is|am|are|do|does {rest}`, systemInfo],

  ['search|grep|find|look for? {quote} in|inside|within|below the? folder|directory? {path}', searchFiles],
  ['search|grep|find|look for? {quote} in|inside|within all? the|my|these? files|code|project|workspace|folder|directory', searchFiles],
  [`search|find|google|look up|for|about* :? {text} on|in the? ${WEB}`, search],
  [`search? the? ${WEB} search? for|about? :? {rest}`, search],
  ['search|google for|about? :? {rest}', search],
  ['look up :? {rest}', search],

  [`${FILES} right|here*`, here],
  [`${FILES} ${PLACE} {names} recursively?`, list],
  [`${LIST} {flags}`, here],
  [`${LIST} all|the* contents|content of? {names}`, list],
  [`${LIST}|look {flags} ${PLACE}? {names} recursively?`, list],

  [`${WRITE}|${CREATE} down? :? ${LABEL} {quote} ,? to|into|in|inside|as|at? {path}`, writeQuote],
  [`${WRITE}|${CREATE} down? ${LABEL} to|into|in|inside|on {path} ${LABEL} {content}`, write],
  [`${WRITE}|${CREATE} {path} ,? with|containing|having|saying|: ${LABEL} {content}`, write],
  [`${WRITE}|${CREATE} {path} that|which says|contains|reads|has|holds ${LABEL} {content}`, write],
  [`${CREATE} {path}`, write],
  [`${WRITE} down? :? the|a|some* ${TEXT} :? {text} to|into|as {path}`, write],
  [`${WRITE} down? :? {text} to|into|as {path}`, write],

  [`${DELETE} {flags} {targets}`, remove],
  [`${DELETE} {targets} ,? with|and|including? recursively|everything|all ${IN_IT}`, remove],

  [`${WHAT_IS} in|inside {paths}`, openGuessed],
  [`${WHAT_IS} the? contents|content|text of|in {paths}`, openGuessed],
  [`${SHOW}? ${ME} what does|do|is? {path} say|says|contain|contains|hold|holds`, ({ path }) => open([path], () => false)],
  [`read|open|cat|head|tail|load ${ME} ${CONTENTS} {names}`, openSaid],
  [`show|display|view|see|look ${ME} at? ${CONTENTS} {paths}`, openGuessed],
  [`${SHOW}|summarize|summarise|explain ${ME} ${CONTENTS} {targets}`, openPlain],

  ['double|right? click|double-click|right-click at|on? {rest}', click],
  ['type the? text? :? {quote}', ({ quote }) => call('type', { text: quote })],
  ['press|hit the? {rest}', press],
  ['scroll up|down|left|right by? #?', scroll],

  // A question about the results, which the report answers.
  [`${TELL} how|if|whether|which|where|when|why|who|what|what's {rest}`, nothing]
]

/** Reads a clause as commands: `[]` when it asks for nothing ("thanks", "tell me what it says"), undefined when it is no command. */
export function readCommands (clause: Clause): Command[] | undefined {
  if (clause.tokens.length === 0) return []
  for (const [pattern, read] of RULES) {
    const values = match(pattern, clause)
    const commands = values && read(values, clause)
    if (commands) return commands
  }
  return undefined
}
