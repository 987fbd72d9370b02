import type { Command } from './clause.ts'

/** An output of a tool. Its shape is not trusted: a missing field is left out of the description. */
type Output = Record<string, any>

const MAX_TEXT = 2_000
const MAX_ENTRIES = 100
/** The prefix that readFile adds to each line for models; the user asked for the text. */
const LINE_NUMBER = /(?<![^\n])\d+→/g

const RESULTS: Record<string, (output: Output, input: Output) => string> = {
  listDirectory ({ entries, truncated }, { path }) {
    const all = Array.isArray(entries) ? entries.map(entryWords) : typeof entries === 'string' ? linesOf(entries) : []
    if (all.length === 0) return `\`${path}\` is empty.`
    const more = all.length > MAX_ENTRIES ? `\n- … and ${all.length - MAX_ENTRIES} more` : truncated === true ? '\n- … and more' : ''
    return `\`${path}\` holds ${count(all.length, 'entry', 'entries')}:\n${all.slice(0, MAX_ENTRIES).join('\n')}${more}`
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
  runCommand ({ exitCode, signal, timedOut, stdout, stderr }, { command }) {
    const ended = timedOut === true ? 'took too long and was ended' : signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`
    const [printed, errors] = [block(stdout), block(stderr)]
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
  remember: ({ message }) => textOf(message),
  forget: ({ message }) => textOf(message)
}

/** Describes the result of a command. */
export function resultWords ({ toolName, input }: Command, value: unknown): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const output: Output = isObject ? value : { content: value }
  if (Object.hasOwn(RESULTS, toolName)) return RESULTS[toolName](output, input)
  // Tool servers (MCP) answer with a list of content blocks.
  const { content = output } = output
  const isList = Array.isArray(content) && content.length > 0
  return `${toolName} answered:${block(isList ? content.map((each) => textOf(each?.text ?? each)).join('\n') : textOf(content))}`
}

/** Describes the lines that listDirectory shows to models: `src/`, `README.md 1234`, `link@`. */
const linesOf = (entries: string): string[] =>
  entries.split('\n').filter((line) => line !== '').map((line) =>
    `- ${line.replace(/@$/, ' (link)').replace(/ (\d+)$/, (_all, size) => ` (${count(Number(size), 'byte', 'bytes')})`)}`
  )

function entryWords (entry: Output | null): string {
  const { name, path, kind, size } = entry ?? {}
  const what = kind === 'directory' ? '/' : kind === 'symlink' ? ' (link)' : ''
  return `- ${name ?? path ?? textOf(entry)}${what}${typeof size === 'number' ? ` (${count(size, 'byte', 'bytes')})` : ''}`
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
export function shorten (text: string, longest: number): string {
  return text.length <= longest
    ? text
    : `${text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}\n… (${text.length - longest} more characters)`
}
