import { isAside, isChatter, stripped } from './phrases.ts'
import { looksLikeFolder, readPaths, type Known } from './paths.ts'
import { readRun } from './running.ts'
import type { Marked } from './quotes.ts'
import { isScreenshot, isSystemInfo, readPointer, readSearch, readUrls } from './requests.ts'
import { readToolUse } from './tool-use.ts'
import { readWriting } from './writing.ts'

/** A tool call that a message asks for. */
export interface Command {
  toolName: string
  input: Record<string, unknown>
}

export const WRITES = /^(write|save|put|store|create|make|touch|new|overwrite|replace|fill|generate)\b(?:\s+(?:down|out))?:?\s*/i
const DELETES = /^(?:recursively\s+)?(?:delete|remove|erase|rm|del|unlink|rmdir|trash|get rid of|wipe|destroy|throw away)\s+([^]+)$/i
const RECURSIVE =
  /,?\s*\b(?:recursively|recursive|completely|(?:and|with|including|along with|together with) (?:(?:all )?(?:of )?(?:(?:its|the|their) )?(?:entire )?(?:contents?|files|subfolders|children)(?: (?:in|inside|of)(?:side)?(?: it)?)?|(?:absolutely )?(?:everything|all)(?: that)?(?:['’]s| is)?(?: (?:in|inside|under|within|below)(?: (?:it|there|them))?| it contains)?))(?=[\s.,!?]*$)/i
const LISTS = /^(?:list|ls|dir|enumerate)(?:\s+(?:me|out))?(?:\s+-\w+)*(?:\s+([^]+))?$/i
const LIST_OBJECT =
  "(?:(?:all|the|every|my|any|of|a list of|list of|a listing of|a|names of)\\s+)*(?:(?:hidden|available|existing|current)\\s+)?(?:files?|folders|sub-?folders|directories|sub-?directories|entries|everything|items|documents|stuff|file ?names|contents?|structure|listing|what(?:['’]s| is))\\b(?:\\s*(?:,|and|or|&|/)+\\s*(?:all\\s+)?(?:the\\s+)?(?:sub-?)?(?:files|folders|directories|dirs))*(?:\\s+recursively)?(?:\\s+(?:and (?:everything )?)?(?:(?:that|which)\\s+)?(?:(?:are|is|exist|exists|live|you (?:can )?(?:see|find)|i have|we have)\\s*)?(?:there)?)?"
const LIST_IN = new RegExp(
  `^${LIST_OBJECT}\\s*(?:\\b(?:in|of|inside|under|within|from|at|on|for|below)\\s+([^]+?)|(?:right |in )?here)?[.!?]*$`,
  'i'
)
const WHICH_FILES =
  /^(?:what|which)(?:\s+(?:are|is)|['’]s|['’]re)?\s+(?:all\s+)?(?:the\s+)?(?:files?|folders|directories|things|items)\b(?:\s+and\s+(?:folders|directories))?(?:\s+(?:do (?:i|we|you) have|are|is|there|exist|can you see|live|stored|located|present|you (?:can )?see))*(?:\s+(?:in|inside|under|at|of|on|within)\s+([^]+?)|\s+(?:right |in )?here)?[.!?]*$/i
const WHAT_IS_IN =
  /^(?:what(?:['’]s| is| are|['’]re| do you see)(?: there)?|everything(?: that is| that['’]s)?)\s+(?:in|inside|under|within)\s+(?:of\s+)?([^]+?)[.!?]*$/i
const CONTENTS_OF = /^what(?:['’]s| is| are)\s+(?:the\s+)?(?:contents?|text)\s+(?:of|in)\s+([^]+)$/i
const LISTING =
  /^(?:(?:make|create|do|get|give|print|show)\s+(?:me\s+)?)?(?:an?\s+|the\s+)?(?:directory|folder|file) listing(?:\s+(?:of|for|in)\s+([^]+?))?[.!?]*$/i
const PLACE_FIRST =
  /^(?:in|inside|from|within)\s+([^]+?),?\s+((?:list|read|show|open|write|create|save|delete|remove|run|execute)\b[^]+?)[.!?]*$/i
const EXPLORE = /^(?:explore|look (?:in|into|inside|around(?: in)?)|browse|go through|see what(?:['’]s| is) in)\s+([^]+)$/i
const SHOWS = /^(?:show|display|give|tell|get|see|view|print|output|let)\b(?:\s+(?:me|us))?(?:\s+(?:know|see))?\s+([^]+)$/i
const SAYS =
  /^what\s+(?:does|do|is|are)\s+([^]+?)\s+(?:say|contain|hold|look like|read|have in it)[.!?]*$|^what\s+([^]+?)\s+(?:says|contains|holds|looks like|reads|has in it)[.!?]*$/i
const READS =
  /^(read|open|cat|view|show|display|print|output|look at|have a look at|take a look at|examine|inspect|dump|check|see|load|summari[sz]e|explain|get|give|tell|head|tail|less|more)\b(?:\s+(?:me|us|out|back|aloud|through|again|over|about|into|from))*\s+([^]+)$/i
const CONTENTS =
  /^(?:all\s+)?(?:of\s+)?(?:(?:the|its|full|whole|entire|complete|first|last|top|actual|\d+)\s+)*(?:contents?|text|body|source(?: code)?|lines?|beginning|start|end|what(?:['’]s| is))\s+(?:of|in|inside|from)\s+([^]+)$/i

const REMEMBERS = /^(?:remember(?: that\s+|:\s+)\S|(?:remember|keep in mind that|don['’]t forget that|note that)\s+(?:i|i['’]m|i['’]ve|my)\b)/i
const FORGETS = /^forget(?: about)? (?:(that|this|it)[.!]*$|(?:that )?((?:i|i['’]m|i['’]ve|my)\b[^]+?)[.!]*$)/i

const SHOW_IT =
  /^(?:show|print|display|give|tell)(?: me| us)?(?: back)? (?:it|its contents?|what(?:['’]s| is) in it|what it (?:says|contains))[.!?]*$/i

const call = (toolName: string, input: Record<string, unknown> = {}): Command => ({ toolName, input })

/**
 * Reads one clause as commands. Returns `[]` for a clause that asks for nothing ("thanks", "tell me what it says") and
 * undefined for a clause that is no command. `known` holds the file and folder that the message named before.
 */
export function readCommands (marked: Marked, clause: string, known: Known): Command[] | undefined {
  const text = stripped(clause)
  if (known.file !== undefined && SHOW_IT.test(text)) return [call('readFile', { path: known.file })]
  if (isChatter(clause)) return []
  const memory = remembering(marked, text)
  if (memory) return memory
  const use = readToolUse(marked, text)
  if (use) return [call(use.toolName, use.input)]
  return readRun(marked, text)?.map((run) => call('runCommand', { ...run })) ??
    readUrls(marked, text)?.map((url) => call('fetchUrl', { url })) ??
    (isScreenshot(text) ? [call('screenshot')] : undefined) ??
    (isSystemInfo(text) ? [call('systemInfo')] : undefined) ??
    readSearch(marked, text)?.map((query) => call('webSearch', { query })) ??
    directoryListing(marked, text, known) ??
    writing(marked, text, known) ??
    deleting(marked, text, known) ??
    listing(marked, text, known) ??
    reading(marked, text, known) ??
    readPointer(marked, text)?.map(({ toolName, input }) => call(toolName, input)) ??
    placeFirst(marked, text, known) ??
    (isAside(text) ? [] : undefined)
}

/** Reads a clause that asks to remember or to forget what the user says of themselves. The tools check the words. */
function remembering (marked: Marked, text: string): Command[] | undefined {
  const span = marked.raw(text).trim()
  if (REMEMBERS.test(text)) return [call('remember', { span, kind: 'fact' })]
  const [found, last, words] = FORGETS.exec(text) ?? []
  if (found === undefined) return undefined
  return [call('forget', { id: last === undefined ? marked.raw(words).trim() : 'last', span })]
}

/** Reads a clause with the place first, such as "In src, list the files", by moving the place to the end. */
function placeFirst (marked: Marked, text: string, known: Known): Command[] | undefined {
  const found = PLACE_FIRST.exec(text)
  return found ? readCommands(marked, `${found[2]} in ${found[1]}`, known) : undefined
}

function directoryListing (marked: Marked, text: string, known: Known): Command[] | undefined {
  const found = LISTING.exec(text)
  return found ? readCommands(marked, found[1] === undefined ? 'list' : `list ${found[1]}`, known) : undefined
}

function writing (marked: Marked, text: string, known: Known): Command[] | undefined {
  const verb = WRITES.exec(text)
  const found = verb && readWriting(marked, verb[1], text.slice(verb[0].length), known)
  return found ? [call('writeFile', { path: found.path, content: found.content })] : undefined
}

function deleting (marked: Marked, text: string, known: Known): Command[] | undefined {
  let rest = DELETES.exec(text)?.[1]
  if (rest === undefined) return undefined
  let recursive = /^rm\s+(?:-\w+\s+)*-\w*r/i.test(text) || /^recursively/i.test(text) ||
    /^(?:the\s+)?(?:whole|entire|complete)\s+(?:folder|directory|dir)?/i.test(rest)
  rest = rest.replace(/^(?:-\w+\s+)+/, '')
  if (RECURSIVE.test(rest)) {
    recursive = true
    rest = rest.replace(RECURSIVE, '')
  }
  const paths = readPaths(marked, rest, { known, here: false })
  return paths?.map(({ path }) => call('deleteFile', recursive ? { path, recursive } : { path }))
}

function listing (marked: Marked, text: string, known: Known): Command[] | undefined {
  const folders = (phrase: string | undefined) =>
    phrase === undefined
      ? [call('listDirectory', { path: '.' })]
      : readPaths(marked, phrase.replace(/^in\s+/i, '').replace(/,?\s+recursively\b/i, ''), { known, bare: true })?.map(({ path }) =>
        call('listDirectory', { path })
      )

  const listed = LISTS.exec(text)
  if (listed) {
    const within = listed[1] === undefined ? undefined : LIST_IN.exec(listed[1])
    if (listed[1] === undefined || within) return folders(within?.[1])
    return folders(listed[1])
  }
  const which = WHICH_FILES.exec(text)
  if (which) return folders(which[1])
  const explored = EXPLORE.exec(text)
  if (explored) return folders(explored[1])

  const shown = SHOWS.exec(text)
  if (shown && /^(?:what|which)\b/i.test(shown[1])) {
    const which = WHICH_FILES.exec(shown[1])
    if (which) return folders(which[1])
  } else if (shown && !/^(?:the )?(?:file|contents?)\b(?!s)/i.test(shown[1])) {
    const within = LIST_IN.exec(shown[1])
    if (within) return folders(within[1])
  }
  return undefined
}

/** Reads a clause that reads a file, or that lists a folder when the phrase names a folder. */
function reading (marked: Marked, text: string, known: Known): Command[] | undefined {
  const shown = SHOWS.exec(text)
  const asked = shown && /^(?:what|everything)\b/i.test(shown[1]) ? shown[1] : text
  const says = SAYS.exec(asked)
  if (says) return either(marked, says[1] ?? says[2], known, 'read')
  const contentsOf = CONTENTS_OF.exec(asked)
  if (contentsOf) return either(marked, contentsOf[1], known, 'guess')
  const within = asked === text && /^everything/i.test(text) ? null : WHAT_IS_IN.exec(asked)
  if (within) return either(marked, within[1], known, 'guess')

  const read = READS.exec(text)
  if (!read) return undefined
  const [, verb, rest] = read
  const contents = CONTENTS.exec(rest)
  const phrase = contents?.[1] ?? rest
  if (/^(?:read|open|cat|head|tail|less|more)$/i.test(verb)) return either(marked, phrase, known, 'read')
  if (/^(?:show|display|view|look at|have a look at|take a look at|see)$/i.test(verb)) return either(marked, phrase, known, 'guess')
  // Verbs such as "check" or "give" need a phrase that can only be a file.
  const paths = readPaths(marked, phrase, { known, here: false })
  const sure = paths?.every(({ path, plainly }) => plainly && /[./\\]/.test(path)) || contents || /^(?:the )?file\s/i.test(phrase)
  return sure ? either(marked, phrase, known, 'guess') : undefined
}

function either (marked: Marked, phrase: string, known: Known, kind: 'read' | 'guess'): Command[] | undefined {
  return readPaths(marked, phrase, { known, bare: kind === 'read' })?.map((found) => {
    const folder = kind === 'read'
      ? found.folder || /[/\\]$|^\.{1,2}$/.test(found.path)
      : looksLikeFolder(found) && found.path !== known.file
    return call(folder ? 'listDirectory' : 'readFile', { path: found.path })
  })
}

/** Returns the file and folder that "it" and "there" refer to after a command. After a web page, "it" is no file. */
export function afterwards ({ toolName, input }: Command, known: Known): Known {
  if (/^(?:fetchUrl|webSearch|screenshot)$/.test(toolName)) return { folder: known.folder }
  if (typeof input.path !== 'string') return known
  return toolName === 'listDirectory' ? { ...known, folder: input.path } : { ...known, file: input.path }
}

/** Whether a clause begins with a verb of writing, so that the following text may be the content to write. */
export const beginsWriting = (clause: string): boolean => WRITES.test(stripped(clause))
