import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { readJson, isObject } from '../../../lib/json.ts'
import type { Command } from './commands.ts'
import type { MadeCall } from './prompt.ts'
import type { Step } from './steps.ts'

/** The outcome of a step: the call that was made, or no call because the tool is not available or the step is no command. */
export interface Outcome {
  step: Step
  call?: MadeCall
}

const HELP = `I am the built-in offline assistant, not a language model: I understand plain commands, nothing more.

You can say, for example:
- list the files in src
- read notes.txt
- write 'hello' to notes.txt
- run \`npm test\`
- delete notes.txt
- fetch https://example.com
- search for local-first software
- system info
- take a screenshot
- click at 10, 20 (also: type 'hello', press ctrl+s, scroll down)
- remember that I live in Oslo (also: forget that)
- use echo with {"message": "hello"} (any tool, by its name)

Join several with “then”, or put each on a line of its own. Put text, paths with blanks and commands in quotes.

To talk to a language model, connect one in the settings.`

const quoted = (text: string) => `“${shorten(text.replace(/\s+/g, ' ').trim(), 200)}”`

/** The answer to a message without commands. */
export function help (steps: Step[]): string {
  const unread = steps.flatMap((step) => step.kind === 'unread' ? [step.text] : []).join(' ').trim()
  return unread === '' ? HELP : `I could not read a command in ${quoted(unread)}. ${HELP}`
}

/** Returns a report of all outcomes in their order. */
export function report (outcomes: Outcome[]): string {
  const isAnyUnread = outcomes.some(({ step }) => step.kind === 'unread' && !step.isRemark)
  const end = 'I am the built-in offline assistant and understand plain commands only. A language model can be connected in the settings.'
  return [...outcomes.map(outcomeWords), ...isAnyUnread ? [end] : []].join('\n\n')
}

function outcomeWords ({ step, call }: Outcome): string {
  if (step.kind === 'unread') {
    return step.isRemark ? `Noted: ${quoted(step.text)}.` : `I could not read ${quoted(step.text)} as a command, so I left it out.`
  }
  const doing = wordsOf(step)
  if (!call) return `I cannot ${doing}: the tool ${step.toolName} is not available here.`
  const { output } = call
  if (!output) return `I have no result of my attempt to ${doing}.`
  if (output.type === 'execution-denied') {
    return `You did not approve that I ${doing}, so I did not do it.${output.reason ? ` (${output.reason})` : ''}`
  }
  const value = valueOf(output)
  if (output.type !== 'error-text' && output.type !== 'error-json') return resultWords(step, value)
  const message = (value as { message?: unknown } | null)?.message ?? value
  return `I could not ${doing}: ${typeof message === 'string' ? message : JSON.stringify(message)}`
}

const VERBS: Record<string, string> = {
  listDirectory: 'list',
  readFile: 'read',
  writeFile: 'write',
  deleteFile: 'delete',
  runCommand: 'run',
  fetchUrl: 'fetch',
  webSearch: 'search the web for',
  searchFiles: 'search files for',
  systemInfo: 'read the system information',
  screenshot: 'take a screenshot'
}

/** Returns what a command does, as in "read `a.txt`". */
function wordsOf ({ toolName, input }: Command): string {
  if (toolName === 'click') return `click at ${input.x}, ${input.y}`
  if (toolName === 'type') return input.keys === undefined ? `type “${shorten(String(input.text), 200)}”` : `press ${input.keys}`
  if (toolName === 'listDirectory' && input.path === '.') return 'list this folder'
  const object = input.pattern ?? input.path ?? input.command ?? input.url ?? input.query
  const isKnown = Object.hasOwn(VERBS, toolName)
  return isKnown ? `${VERBS[toolName]}${object === undefined ? '' : ` \`${object}\``}` : `use ${toolName}`
}

/** Returns the value of an output: its text is parsed if it is JSON, and its files are left out. */
export function valueOf (output: Exclude<LanguageModelV4ToolResultOutput, { type: 'execution-denied' }>): unknown {
  if (output.type === 'json' || output.type === 'error-json' || output.type === 'error-text') return output.value
  const text = output.type === 'text' ? output.value : output.value.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n')
  const value: unknown = readJson(text)
  return value === undefined ? text : value
}

/** An output of a tool. Its shape is not trusted: a missing field is left out of the description. */
type Output = Record<string, any>

const MAX_TEXT = 2_000
const MAX_ENTRIES = 100
/** The prefix that readFile adds to each line for models; the user asked for the text. */
const LINE_NUMBER = /(?<![^\n])\d+→/g

/** The lines of listDirectory are those that models see: `src/`, `README.md 1234`, `link@`. */
const RESULTS: Record<string, (output: Output, input: Output) => string> = {
  listDirectory ({ entries, truncated }, { path }) {
    const lines = typeof entries === 'string' ? entries.split('\n').filter((line) => line !== '') : []
    const folder = path === '.' ? 'This folder' : `\`${path}\``
    if (lines.length === 0) return `${folder} is empty.`
    const shown = lines.slice(0, MAX_ENTRIES).map((line) =>
      `- ${line.replace(/@$/, ' (link)').replace(/ (\d+)$/, (_all, size) => ` (${count(Number(size), 'byte', 'bytes')})`)}`
    )
    const more = lines.length > MAX_ENTRIES ? `\n- … and ${lines.length - MAX_ENTRIES} more` : truncated === true ? '\n- … and more' : ''
    return `${folder} holds ${count(lines.length, 'entry', 'entries')}:\n${shown.join('\n')}${more}`
  },
  readFile ({ content, startLine, truncated, message, mimeType, width, height }, { path }) {
    if (Array.isArray(content)) return `\`${path}\` is an image (${mimeType}, ${width} × ${height} pixels).`
    if (!content) return `\`${path}\`${message ? `: ${message}` : ' is empty.'}`
    const text = typeof startLine === 'number' ? textOf(content).replace(LINE_NUMBER, '') : textOf(content)
    return `\`${path}\` contains:${block(text)}${truncated === true ? '\n(There is more in the file.)' : ''}`
  },
  writeFile: ({ bytesWritten, created, diff }, { path }) =>
    `${created === false ? 'Changed' : 'Created'} \`${path}\` (${count(Number(bytesWritten), 'byte', 'bytes')}).${block(diff, 'diff')}`,
  deleteFile: ({ deleted }, { path }) => `Deleted \`${path}\`${deleted > 1 ? ` and what was in it (${deleted} in all)` : ''}.`,
  runCommand ({ exitCode, signal, timedOut, stdout, stderr, running, output: written }, { command }) {
    if (running === true) return `\`${command}\` runs in the background.${block(written)}`
    const ended = timedOut === true ? 'took too long and was ended' : signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`
    const [printed, errors] = [block(stdout ?? written), block(stderr)]
    const output = printed || errors ? `.${printed}${errors && `\n\nIts error output:${errors}`}` : ' and printed nothing.'
    return `\`${command}\` ${ended}${output}`
  },
  fetchUrl: ({ status, title, message, content, truncated }, { url }) =>
    `${url} answered ${status}${title ? `: ${title}` : ''}.${message ? ` ${message}` : ''}${block(content)}` +
    (truncated === true ? '\n(There is more of it.)' : ''),
  webSearch ({ results }, { query }) {
    if (!Array.isArray(results) || results.length === 0) return `The web search for “${query}” found nothing.`
    const lines = results.map((result, index) =>
      `${index + 1}. ${result?.title} (${result?.url}): ${shorten(String(result?.snippet), 300)}`
    )
    return `The web search for “${query}” found:\n${lines.slice(0, 10).join('\n')}`
  },
  searchFiles: ({ matches, message }, { pattern }) =>
    matches ? `\`${pattern}\` is found in:${block(textOf(matches))}` : textOf(message ?? `\`${pattern}\` is not found.`),
  systemInfo: (output) => `This system:\n${Object.entries(output).map(([key, value]) => `- ${key}: ${textOf(value)}`).join('\n')}`,
  screenshot: ({ width, height, description, note = description }) =>
    `I took a screenshot of ${width} × ${height} pixels.${note ? `\n\n${shorten(textOf(note), MAX_TEXT)}` : ''}`,
  click: ({ x, y }, input) => `${input.double === true ? 'Double-clicked' : 'Clicked'} at ${x ?? input.x}, ${y ?? input.y}.`,
  type: (_output, { text, keys }) => text === undefined ? `Pressed ${keys}.` : `Typed “${shorten(String(text), 200)}”.`,
  scroll: (_output, { direction }) => `Scrolled ${direction}.`,
  readSkill: ({ skill, text }) => `The skill “${skill}” says what follows. A language model goes by it; I only read plain commands.` +
    block(textOf(text).replace(/^> ?/gm, '')),
  remember: ({ message }) => textOf(message),
  forget: ({ message }) => textOf(message)
}

/** Describes the result of a command. */
function resultWords ({ toolName, input }: Command, value: unknown): string {
  const output: Output = isObject(value) ? value : { content: value }
  if (Object.hasOwn(RESULTS, toolName)) return RESULTS[toolName](output, input)
  // Tool servers (MCP) answer with a list of content blocks.
  const { content = output } = output
  const isList = Array.isArray(content) && content.length > 0
  return `${toolName} answered:${block(isList ? content.map((each) => textOf(each?.text ?? each)).join('\n') : textOf(content))}`
}

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, (_key, inner) => typeof inner === 'string' ? shorten(inner, 500) : inner)

/** Returns a paragraph with a fenced code block whose fence is longer than any in its content; '' for a blank text. */
function block (content: unknown, language = ''): string {
  if (typeof content !== 'string' || content.trim() === '') return ''
  const shown = shorten(content, MAX_TEXT)
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)))
  return `\n\n${fence}${language}\n${shown.replace(/\n$/, '')}\n${fence}`
}

/** Returns the text, or its beginning and the number of characters left out, without half a surrogate pair. */
function shorten (text: string, longest: number): string {
  return text.length <= longest
    ? text
    : `${text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}\n… (${text.length - longest} more characters)`
}
