import type { Clause, Command } from './clause.ts'
import { joinPath, looksLikeFolder, type Path } from './paths.ts'
import { match, type Slots } from './patterns.ts'

type Rule = [pattern: string, commands: (slots: Slots, clause: Clause) => Command[] | undefined]

const ME = 'to? me|us? know?'
const SHOW = 'show|tell|give|get|display|print|view|see|check|describe'
const TELL = `show|tell|give|display|print|report|let|summarize|summarise|explain|describe|say|repeat|return|answer|respond|inform back? ${ME} about|with|on?`
const RUN = 'run|execute|exec|$|start|launch|call|try :? the|this|following|shell|terminal|bash* command|script? :?'
const PAGE = 'the|a|this|web|page|webpage|site|website|url|link|address|contents|content|text|of|from|at|on|:*'
const WEB = 'web|internet|net|google'
const THE = 'the|a|an|my|this|your|some|another|new|current|whole|operating*'
const MACHINE = 'system|computer|machine|pc|laptop|os|hardware|host|platform'
const SCREEN = 'screen|desktop|display'
const DELETE = 'delete|remove|erase|rm|del|unlink|rmdir|trash|wipe|destroy'
const LIST = 'list|ls|dir|enumerate|explore|browse me? out?'
const FILES = 'all|the|every|my|any|of|a|an|list|hidden|names|file|directory|folder* files|folders|directories|entries|items|documents|everything|listing ' +
  'and|or|the|files|folders|directories* are|is|do|i|we|you|have|that|there|exist|can|see*'
const ASKED_FILES = `what|which|list|ls|dir|enumerate|make|do|${SHOW} me|us? out? what|which? ${FILES}`
const PLACE = 'in|of|inside|under|within|from|at|on|for'
const CONTENTS = 'the|its|all|full|whole|entire|first|last|top|#|contents|content|text|lines|line|source|body|of|in|from*'
const WHAT_IS = `${SHOW}? me|us? what|what's is|are*`
export const CREATE = 'create|make|touch|add|new'
export const WRITE = 'write|save|put|store|overwrite|replace|fill|generate'
const INTO = 'to|into|in|inside|onto|as|at|under'
const LABEL = 'the|a|an|some|following|this|exact* text|contents|content|words|word|string|lines|line|sentence|message|code|data? of|as|is|:|,|\n*'

const KEYS =
  /^(?:enter|return|tab|esc(?:ape)?|space|backspace|delete|insert|up|down|left|right|home|end|page(?:up|down)|f\d{1,2}|(?:(?:ctrl|control|shift|alt|option|cmd|command|meta|super|win)\+)+\S{1,10})$/

const call = (toolName: string, input: Record<string, unknown> = {}): Command[] => [{ toolName, input }]
const nothing = () => []
const here = () => call('listDirectory', { path: '.' })
const list = ({ names }: Slots) => names.flatMap(({ path }) => call('listDirectory', { path }))
const screenshot = () => call('screenshot')
const systemInfo = () => call('systemInfo')
const runQuote = ({ quote, path }: Slots) =>
  quote.trim() === '' ? undefined : call('runCommand', { command: quote, ...path && path.path !== '.' && { cwd: path.path } })
/** Runs an unquoted command, unless it begins like a sentence: "run the tests". */
const runBare = ({ rest }: Slots) =>
  /^(?:(?:the|an?|my|our|your|it|them|that|this|these|all|both|to|for|in|as)\b|["'`“‘«])/i.test(rest) ? undefined : call('runCommand', { command: rest })
const fetchUrl = ({ url, address = url }: Slots) => call('fetchUrl', { url: address })

/** Shows the file that was just written; of a file that was just read nothing more is asked. */
const showIt = (_slots: Slots, { known: { file, isRead } }: Clause) => file === undefined || isRead ? [] : call('readFile', { path: file })

/** Reads the files, or lists those that are folders. */
const open = (paths: Path[], isFolder: (path: Path) => boolean) =>
  paths.flatMap((each) => call(isFolder(each) ? 'listDirectory' : 'readFile', { path: each.path }))
const openSaid = ({ names }: Slots) => open(names, ({ path, isFolder }) => isFolder || /(?:^|[/\\])(?:\.{1,2})?$/.test(path))
const openGuessed = ({ paths }: Pick<Slots, 'paths'>, { known }: Clause) =>
  open(paths, (path) => looksLikeFolder(path) && path.path !== known.file)

/** After verbs such as "check", only what can be nothing but a path is one. */
const openPlain = ({ targets: paths }: Slots, clause: Clause) => paths.every(({ isPlain }) => isPlain) ? openGuessed({ paths }, clause) : undefined

/** Writes a file whose path is beyond doubt. A colon at the end announces content that follows. */
const write = ({ path: { path, isPlain, isFolder }, quote, content = quote, text = content }: Slots, { all }: Clause) =>
  isPlain && !isFolder && (text !== undefined || all.at(-1)?.word !== ':') ? call('writeFile', { path, content: text ?? '' }) : undefined
const writeQuote = ({ path: { path }, quote }: Slots) => call('writeFile', { path, content: quote })

const remove = ({ targets, flags = [] }: Slots) =>
  targets.flatMap(({ path }) => call('deleteFile', flags.some((flag) => /^-\w*r|^--recursive$/.test(flag)) ? { path, recursive: true } : { path }))
const removeAll = ({ targets }: Slots) => targets.flatMap(({ path }) => call('deleteFile', { path, recursive: true }))

/** A search in files is not read, because no tool does it. */
const search = ({ rest, text = rest }: Slots) =>
  /\b(?:the|my|all|these) (?:files?|folders?|directory|code|project|workspace)\b/i.test(text) ? undefined : call('webSearch', { query: text })

const click = ({ rest }: Slots, { tokens: [{ word }] }: Clause) => {
  const [, x, y] = /^\(?(\d+)[, ]+(\d+)\)?$/.exec(rest) ?? []
  const button = /^(?:right|left|middle)/.exec(word)?.[0]
  return x === undefined ? undefined : call('click', { x: Number(x), y: Number(y), ...button && { button }, ...word.startsWith('double') && { double: true } })
}
const press = ({ rest }: Slots) => {
  const keys = rest.toLowerCase().replace(/ key$/, '').replaceAll(' ', '')
  return KEYS.test(keys) ? call('type', { keys }) : undefined
}
const scroll = (_slots: Slots, { tokens: [, direction, ...by] }: Clause) =>
  call('scroll', { direction: direction.word, ...by.length > 0 && { amount: Number(by.at(-1)!.word) } })

/** "In src, list the files": carries out the commands in a folder. */
const inFolder = ({ word: path, inner }: Slots) =>
  readCommands(inner)?.map(({ toolName, input }) => {
    const place = toolName === 'runCommand' ? { cwd: path } : typeof input.path === 'string' ? { path: joinPath(path, input.path) } : {}
    return { toolName, input: { ...input, ...place } }
  })

/** The sentences that are understood, in the syntax of `match`. The first that fits a whole clause and gives commands counts. */
const RULES: Rule[] = [
  // Small talk, wishes about style and requests to report need no call, because every answer reports the results.
  ['there|done', nothing],
  ['be|stay|keep|answer|reply it|this|that? more|very|as|a|bit* brief|short|shorter|concise|quick|careful|detailed', nothing],
  [`${TELL} this|that|them|both|everything?`, nothing],
  [`${TELL} the|its|their|all* result|results|output|outputs|answer|summary|findings`, nothing],
  [`${TELL} it|its content|contents?`, showIt],
  [`${TELL} what|what's it|is? says|contains|in it?`, showIt],

  ['use|call|invoke the? tool {word}', ({ word }) => call(word)],
  ['use|call|invoke the? {word} tool', ({ word }) => call(word)],
  [
    'use|call|invoke the? tool? {word} tool? with|on|using? the? input|arguments|args|parameters|json? :? {object}',
    ({ word, object }) => call(word, object)
  ],

  [`${RUN} {quote} in|on|using? the|a|my? shell|terminal|console?`, runQuote],
  [`${RUN} {quote} in|inside|from {path}`, runQuote],
  [`run|execute|exec|$ :? the|this|following|shell|terminal|bash* command|script :? {rest}`, ({ rest }) => call('runCommand', { command: rest })],
  ['run|execute|exec|$ :? {rest}', runBare],

  [`fetch|download|visit|curl|wget|retrieve|go|browse|navigate to? ${PAGE} {address} page|site|website?`, fetchUrl],
  [`${SHOW}|read|open|load|look|summarize|summarise at? ${ME} ${PAGE} {url} page|site|website?`, fetchUrl],

  [`what|what's|capture|describe|look|show is|at|on|me* the|my ${SCREEN}`, screenshot],
  [`take|make|grab|capture|do|create|${SHOW}? ${ME} ${THE} screenshot of? the|my|whole|entire* ${SCREEN}?`, screenshot],
  [`take|make|${SHOW}? ${ME} ${THE} picture|photo|image|snapshot of the|my ${SCREEN}`, screenshot],
  [`${SHOW}? ${ME} about? ${THE} ${MACHINE} info|information|status|details|specs|summary|overview|name|version`, systemInfo],
  [`what|which kind|type|of|operating* ${MACHINE} is|am|are|do|does {rest}`, systemInfo],
  ['how much|many free|available|total? memory|ram|cpus|cores|processors|disk {rest}', systemInfo],

  [`search|find|google|look up|for|about* :? {text} on|in the? ${WEB}`, search],
  ['search|find|google|look up|for|about* :? {text} online', search],
  [`search the? ${WEB}|online for|about? :? {rest}`, search],
  [`do|make? a? ${WEB}|online search for|about? :? {rest}`, search],
  ['search|google for|about? :? {rest}', search],
  ['look up :? {rest}', search],

  [ASKED_FILES, here],
  [`${ASKED_FILES} right? here`, here],
  [`${ASKED_FILES} ${PLACE} {names} recursively?`, list],
  [`${LIST} {flags}`, here],
  [`${LIST} all|the* contents|content|structure of? {names}`, list],
  [`${LIST} {flags} ${PLACE}? {names} recursively?`, list],
  ['look in|into|inside {names}', list],

  [`${WRITE}|${CREATE} down? :? ${LABEL} {quote} ,? ${INTO}? {path}`, writeQuote],
  [`${WRITE}|${CREATE} down? ${LABEL} ${INTO} {path} ${LABEL} {content}`, write],
  [`${WRITE}|${CREATE} {path} ,? with|containing|having|saying|: ${LABEL} {content}`, write],
  [`${WRITE}|${CREATE} {path} that|which says|contains|reads|has|holds ${LABEL} {content}`, write],
  [`${WRITE}|${CREATE} {path} {quote}`, write],
  [`${CREATE} {path}`, write],
  [`${WRITE} down? :? the|a|some* text|content|words|word|line|sentence|message :? {text} to|into|as {path}`, write],
  [`${WRITE} down? :? {text} to|into|as {path}`, write],
  [`${WRITE} down? :? {text} in|inside|under {path}`, write],

  [`${DELETE} {flags} the? whole|entire|complete {targets}`, removeAll],
  [`${DELETE} {flags} {targets}`, remove],
  ['get rid of {targets}', remove],
  [`recursively ${DELETE} {targets}`, removeAll],
  [`${DELETE} {targets} ,? with|and|including? recursively|completely|everything|all that|that's|is|in|inside|under|of|its|the|contents|files|it|there*`, removeAll],

  [`${WHAT_IS} in|inside {paths}`, openGuessed],
  [`${WHAT_IS} the? contents|content|text of|in {paths}`, openGuessed],
  [`${SHOW} ${ME} everything in|inside {paths}`, openGuessed],
  [`${SHOW}? ${ME} what does|do|is? {path} say|says|contain|contains|hold|holds`, ({ path }) => open([path], () => false)],
  [`read|open|cat|head|tail|less|more|load ${ME} out|through|over? ${CONTENTS} {names}`, openSaid],
  [`show|display|view|see|look ${ME} at? ${CONTENTS} {paths}`, openGuessed],
  ['have|take a look at {paths}', openGuessed],
  [`${SHOW}|output|examine|inspect|dump|summarize|summarise|explain ${ME} ${CONTENTS} {targets}`, openPlain],

  ['double|right|left|middle? click|double-click|right-click at|on? {rest}', click],
  ['type the? text? :? {quote}', ({ quote }) => call('type', { text: quote })],
  ['press|hit the? {rest}', press],
  ['scroll up|down|left|right by? #?', scroll],

  ['in|inside|from|within the? {word} folder|directory? ,? {inner}', inFolder],
  // A question about the results, which the report answers.
  [`${TELL} how|if|whether|which|where|when|why|who|what|what's {rest}`, nothing],
  ['count|check how|if|whether|which|where|when|why|who|what {rest}', nothing]
]

/** Reads a clause as commands: `[]` when it asks for nothing ("thanks", "tell me what it says"), undefined when it is no command. */
export function readCommands (clause: Clause): Command[] | undefined {
  if (clause.tokens.length === 0) return []
  for (const [pattern, commands] of RULES) {
    const slots = match(pattern, clause)
    const found = slots && commands(slots as Slots, clause)
    if (found) return found
  }
  return undefined
}
