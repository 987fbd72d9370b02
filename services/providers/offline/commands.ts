import { Clause, type Command } from './clause.ts'
import { IN, looksLikeFolder, readPath, readPaths, type Path } from './paths.ts'
import { readPointer } from './pointer.ts'
import { parseObject } from './quotes.ts'
import { readSearch } from './search.ts'
import { readWriting } from './writing.ts'

const SHOW = 'show|tell|give|get|display|print|view|see|check|describe'
const NOUN = 'files|folders|directories|subfolders|entries|items|documents|everything|listing'
const AROUND = "all|the|every|my|any|of|a|an|list|hidden|names|file|directory|folder|contents|content|what|what's|which|is|are|and|or|do|i|we|you|can|that|there"
const MACHINE = 'system|computer|machine|pc|laptop|os|hardware|host|platform'
const SCREEN = 'screen|desktop|display'
const THE = 'the|a|an|my|this|your|some|another|new|current|whole|operating*'
const TELL = 'tell|show|give|report|let|summarize|summarise|explain|describe|say|repeat|display|print|return|answer|respond|inform'
const DOMAIN = /^(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]\S*)?$/i

const call = (toolName: string, input: Record<string, unknown> = {}): Command => ({ toolName, input })
/** Reads the files, or lists those that are folders. */
const open = (paths: Path[] | undefined, isFolder: (path: Path) => boolean) =>
  paths?.map((each) => call(isFolder(each) ? 'listDirectory' : 'readFile', { path: each.path }))
const isSaidFolder = ({ path, isFolder }: Path) => isFolder || /(?:^|[/\\])(?:\.{1,2})?$/.test(path)

/** Small talk, wishes about style, and requests to report: they need no call, because every answer reports the results. */
function readTalk (clause: Clause): Command[] | undefined {
  const { file, isRead } = clause.known
  if (clause.isOver || clause.take('there|done')) return []
  if (clause.take('be|stay|keep|answer|reply? it|this|that? more|very|as|a|bit* brief|short|shorter|concise|quick|careful|detailed')) return []
  if (!clause.take(`${TELL} back? to? me|us? know? about|with|on?`)) return undefined
  if (clause.take("its|it|what|what's|is|says|contains|contents|in|it*") && clause.isOver) {
    return clause.at > 0 && file !== undefined && !isRead && clause.tokens.some(({ word }) => /^its?$/.test(word)) ? [call('readFile', { path: file })] : []
  }
  return clause.take('the|its|their|all* this|that|them|both|everything|result|results|output|outputs|answer|summary|findings') ? [] : undefined
}

/** "Use echo with {"message": "hi"}", "call the pid tool". */
function readToolUse (clause: Clause): Command[] | undefined {
  if (!clause.take('use|call|invoke the?')) return undefined
  let isTool = clause.take('tool')
  const name = clause.takeToken()?.text
  isTool = clause.take('tool') || isTool
  if (!name || (isTool && clause.isOver)) return name ? [call(name)] : undefined
  clause.take('with|on|using? the? input|arguments|args|parameters|json? :?')
  const input = parseObject(clause.takeToken()?.text ?? '')
  return input && [call(name, input)]
}

function readRun (clause: Clause): Command[] | undefined {
  const isSure = clause.take('run|execute|exec|$')
  if (!isSure && !clause.take('start|launch|call|invoke|issue|perform|do|try')) return undefined
  clause.take(':? the|this|following|shell|terminal|bash* command|script :?') || clause.take('the? following|this|: :?')
  const { next } = clause
  if (next?.kind !== 'quote') {
    // An unquoted command is the rest of the clause, unless it begins like a sentence: "run the tests".
    const isSentence = clause.take('the|a|an|my|our|your|it|them|that|this|these|all|both|to|for|in|as')
    return isSure && next && !isSentence ? [call('runCommand', { command: clause.rest() })] : undefined
  }
  clause.at++
  clause.take('in|on|using the|a|my shell|terminal|console')
  const folder = clause.take(IN) ? readPath(clause) : undefined
  const cwd = folder && folder.path !== '.' ? { cwd: folder.path } : {}
  return next.text.trim() === '' ? undefined : [call('runCommand', { command: next.text, ...cwd })]
}

function readFetch (clause: Clause): Command[] | undefined {
  const isSure = clause.take('fetch|download|visit|curl|wget|retrieve') || clause.take('go|browse|navigate to')
  if (!isSure && !clause.take(`${SHOW}|read|open|load|look|summarize|summarise at? me?`)) return undefined
  clause.take('the|a|this|web|page|webpage|site|website|url|link|address|contents|content|text|of|from|at|on|:*')
  const url = clause.takeToken()?.text ?? ''
  clause.take('page|site|website')
  if (/^https?:\/\/\S+$/i.test(url)) return [call('fetchUrl', { url })]
  return isSure && DOMAIN.test(url) ? [call('fetchUrl', { url: `${url.startsWith('localhost') ? 'http' : 'https'}://${url}` })] : undefined
}

function readMachine (clause: Clause): Command[] | undefined {
  const isPicture = clause.take(`what|what's|capture|describe|look|show is|at|on|me* the|my ${SCREEN}`) ||
    clause.take(`take|make|grab|capture|do|create|${SHOW}? me? ${THE} screenshot of? the|my|whole|entire* ${SCREEN}?`) ||
    clause.take(`take|make|${SHOW}? me? ${THE} picture|photo|image|snapshot of the|my ${SCREEN}`)
  if (isPicture) return [call('screenshot')]
  if (clause.take(`${SHOW}? me? about? ${THE} ${MACHINE} info|information|status|details|specs|summary|overview|name|version`)) return [call('systemInfo')]
  const isQuestion = clause.take(`what|which kind|type|of|operating* ${MACHINE} is|am|are|do|does`) ||
    clause.take('how much|many free|available|total? memory|ram|cpus|cores|processors|disk')
  if (isQuestion) clause.rest()
  return isQuestion ? [call('systemInfo')] : undefined
}

function readDeleting (clause: Clause): Command[] | undefined {
  let recursive = clause.take('recursively')
  if (!clause.take('delete|remove|erase|rm|del|unlink|rmdir|trash|wipe|destroy') && !clause.take('get rid of')) return undefined
  for (; clause.next?.word.startsWith('-'); clause.at++) recursive ||= /^-\w*r|^--recursive$/.test(clause.next.word)
  recursive = clause.take('the? whole|entire|complete') || recursive
  const paths = readPaths(clause, { here: false })
  recursive = clause.take(",? with|and|including? recursively|completely|everything|all that|that's|is|in|inside|under|of|its|the|contents|files|it|there*") || recursive
  return paths?.map(({ path }) => call('deleteFile', recursive ? { path, recursive } : { path }))
}

function readListing (clause: Clause): Command[] | undefined {
  const isSure = clause.take('list|ls|dir|enumerate|explore|browse me? out?') || clause.take('look in|into|inside')
  if (!isSure && !clause.take('what|which') && !clause.take(`${SHOW}|make|do me|us?`)) return undefined
  while (clause.next?.word.startsWith('-')) clause.at++
  let hasNoun = false
  const isNoun = () => clause.take(NOUN) && (hasNoun = true)
  // The last word is the name of a folder if it is no noun.
  while (isNoun() || (clause.at + 1 < clause.tokens.length && clause.take(AROUND)));
  if (hasNoun) clause.take('there|exist|have')
  const hasPlace = clause.take('in|inside|under|within|from|at|on|for') || clause.tokens[clause.at - 1].word === 'of'
  if (clause.isOver) return isSure || hasNoun ? [call('listDirectory', { path: '.' })] : undefined
  if (!isSure && !(hasNoun && (hasPlace || /^(?:here|right)$/.test(clause.next!.word)))) return undefined
  const paths = readPaths(clause, { bare: true })
  clause.take(',? recursively')
  return paths?.map(({ path }) => call('listDirectory', { path }))
}

function readReading (clause: Clause): Command[] | undefined {
  const isGuess = (path: Path) => looksLikeFolder(path) && path.path !== clause.known.file
  const isShown = clause.take(`${SHOW} me|us? what|what's|everything`)
  if (isShown) clause.at--
  const isInside = clause.take("what|what's is|are* in|inside") || clause.take("what|what's is|are* the? contents|content|text of|in") ||
    (isShown && clause.take('everything in|inside'))
  if (isInside) return open(readPaths(clause), isGuess)
  if (clause.take('what does|do|is|are?')) {
    const path = readPath(clause)
    return path && clause.take('say|says|contain|contains|hold|holds') ? open([path], () => false) : undefined
  }
  const isSure = clause.take('read|open|cat|head|tail|less|more|load')
  const isSeen = clause.take('have|take a look at') || clause.take('show|display|view|see|look at?')
  if (!isSure && !isSeen && !clause.take(`${SHOW}|output|examine|inspect|dump|summarize|summarise|explain`)) return undefined
  clause.take('me|us? out|through|over|about?')
  const start = clause.at
  if (clause.take('the? first|last|top') && /^\d+$/.test(clause.next?.word ?? '')) clause.at++
  const hasContents = clause.take('the|all|its|full|whole|entire* contents|content|text|lines|line|source|body of|in|from')
  if (!hasContents) clause.at = start
  const isFile = clause.take('the? file') && clause.at--
  if (isSure) return open(readPaths(clause, { bare: true }), isSaidFolder)
  const paths = readPaths(clause, { here: isSeen })
  return isSeen || isFile || hasContents || paths?.every(({ isPlain }) => isPlain) ? open(paths, isGuess) : undefined
}

/** "In src, list the files": reads the clause with the place at its end. */
function readPlaceFirst (clause: Clause): Command[] | undefined {
  const verb = clause.take(IN) ? clause.tokens.findIndex(({ word }) => /^(?:list|read|show|open|write|create|save|delete|remove|run)$/.test(word)) : -1
  const place = clause.tokens.slice(0, Math.max(verb, 0)).filter(({ kind }) => kind !== 'mark')
  if (place.length < 2) return undefined
  const moved = new Clause(clause.message, [...clause.tokens.slice(verb), ...place], clause.known)
  clause.rest()
  return readCommands(moved)
}

/** "Tell me how many there are": a question about the results, which the report answers. */
function readAside (clause: Clause): Command[] | undefined {
  if (!clause.take(`${TELL}|count|check me|us? know? to? me? how|if|whether|which|where|when|why|who|what|what's`)) return undefined
  clause.rest()
  return []
}

/** Each reads a clause from its beginning. What it returns counts only when it has read the whole clause. */
const READERS = [
  readTalk,
  readToolUse,
  readRun,
  readFetch,
  readMachine,
  readSearch,
  readListing,
  readWriting,
  readDeleting,
  readReading,
  readPointer,
  readPlaceFirst,
  readAside
]

/** Reads a clause as commands: `[]` when it asks for nothing ("thanks", "tell me what it says"), undefined when it is no command. */
export function readCommands (clause: Clause): Command[] | undefined {
  for (const read of READERS) {
    clause.at = 0
    const commands = read(clause)
    if (commands !== undefined && clause.at === clause.tokens.length) return commands
  }
  return undefined
}
