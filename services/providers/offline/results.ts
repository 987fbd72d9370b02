import type { Command } from './clause.ts'

/** An output of a tool. Its shape is not trusted: a missing field is left out of the description. */
type Output = Record<string, any>

const MAX_TEXT = 2_000
const MAX_ENTRIES = 100
/** The prefix that readFile adds to each line for models; the user asked for the text. */
const LINE_NUMBER = /(?<![^\n])\d+→/g

const RESULTS: Record<string, (output: Output, input: Output) => string> = {
  listDirectory ({ entries, truncated }, { path }) {
    if (!Array.isArray(entries)) return `\`${path}\` could be listed.`
    if (entries.length === 0) return `\`${path}\` is empty.`
    const shown = entries.slice(0, MAX_ENTRIES).map(entryWords)
    const more = entries.length > MAX_ENTRIES ? [`- … and ${entries.length - MAX_ENTRIES} more`] : truncated === true ? ['- … and more'] : []
    return `\`${path}\` holds ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}:\n${[...shown, ...more].join('\n')}`
  },
  readFile ({ content, startLine, truncated, message }, { path }) {
    if (typeof content !== 'string' || content === '') return `\`${path}\`${message ? `: ${message}` : ' is empty.'}`
    const text = block(typeof startLine === 'number' ? content.replace(LINE_NUMBER, '') : content)
    return `\`${path}\` contains:\n\n${text}${truncated === true ? '\n(There is more in the file.)' : ''}`
  },
  writeFile ({ bytesWritten, created, diff }, { path }) {
    const size = typeof bytesWritten === 'number' ? ` (${bytes(bytesWritten)})` : ''
    return `${created === false ? 'Changed' : 'Created'} \`${path}\`${size}.${section('', diff, 'diff')}`
  },
  deleteFile: ({ deleted }, { path }) => `Deleted \`${path}\`${deleted > 1 ? ` and what was in it (${deleted} in all)` : ''}.`,
  runCommand ({ exitCode, signal, timedOut, stdout, stderr }, { command }) {
    const ended = timedOut === true ? 'took too long and was ended' : signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`
    const printed = section('', stdout) + section('\n\nIts error output:', stderr)
    return `\`${command}\` ${ended}${printed === '' ? ' and printed nothing.' : `.${printed}`}`
  },
  fetchUrl ({ status, title, message, content, truncated }, { url }) {
    const page = section('', content) + (truncated === true ? '\n(There is more of it.)' : '')
    return `${url} answered ${status}${title ? `: ${title}` : ''}.${message ? ` ${message}` : ''}${page}`
  },
  webSearch ({ results }, { query }) {
    if (!Array.isArray(results) || results.length === 0) return `The web search for “${query}” found nothing.`
    const lines = results.map((result, index) => `${index + 1}. ${result?.title} (${result?.url}): ${shorten(String(result?.snippet), 300)}`)
    return `The web search for “${query}” found:\n${lines.slice(0, 10).join('\n')}`
  },
  systemInfo: (output) => `This system:\n${Object.entries(output).map(([key, value]) => `- ${key}: ${textOf(value)}`).join('\n')}`,
  screenshot ({ width, height, description, note }) {
    const words = description ?? note
    return `I took a screenshot of ${width} × ${height} pixels.${words ? `\n\n${shorten(textOf(words), MAX_TEXT)}` : ''}`
  },
  click: ({ x, y }, input) => `${input.double === true ? 'Double-clicked' : 'Clicked'} at ${x ?? input.x}, ${y ?? input.y}.`,
  type: (_output, { text, keys }) => text === undefined ? `Pressed ${keys}.` : `Typed “${shorten(String(text), 200)}”.`,
  scroll: (_output, { direction }) => `Scrolled ${direction}.`
}

/** Describes the result of a command. */
export function resultWords ({ toolName, input }: Command, value: unknown): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const output: Output = isObject ? value : { content: value }
  if (Object.hasOwn(RESULTS, toolName)) return RESULTS[toolName](output, input)
  // Tool servers (MCP) answer with a list of content blocks.
  const blocks: unknown = output.content
  const content = Array.isArray(blocks) && blocks.length > 0 ? blocks.map((each) => textOf(each?.text ?? each)).join('\n') : undefined
  return `${toolName} answered:\n\n${block(content ?? textOf(typeof blocks === 'string' ? blocks : output))}`
}

function entryWords (entry: Output | null): string {
  const { name, path, kind, size } = entry ?? {}
  const label = `- ${name ?? path ?? textOf(entry)}`
  if (kind === 'directory') return `${label}/`
  return `${label}${typeof size === 'number' ? ` (${bytes(size)})` : ''}${kind === 'symlink' ? ' (link)' : ''}`
}

const bytes = (size: number) => `${size} ${size === 1 ? 'byte' : 'bytes'}`
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, (_key, inner) => typeof inner === 'string' ? shorten(inner, 500) : inner)
const section = (heading: string, text: unknown, language = '') =>
  typeof text === 'string' && text.trim() !== '' ? `${heading}\n\n${block(text, language)}` : ''

/** Returns a fenced code block whose fence is longer than any in its content. */
function block (content: string, language = ''): string {
  const shown = shorten(content, MAX_TEXT)
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)))
  return `${fence}${language}\n${shown.replace(/\n$/, '')}\n${fence}`
}

export function shorten (content: string, longest: number): string {
  if (content.length <= longest) return content
  return `${content.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}\n… (${content.length - longest} more characters)`
}
