import type { Expects } from '../../../../schemas/tasks.ts'

/** An output of a tool. Its shape is not trusted: a missing field is left out of the description. */
export type Output = Record<string, any>

/** What the offline model knows of a tool. */
interface KnownTool {
  /** What a tool that changes nothing reads. "it" and "there" refer to files and folders alone. */
  reads?: 'file' | 'folder' | 'machine' | 'elsewhere'
  /** The effect that a plan expects of it; other tools only look. */
  effect?: Expects
  /** The result in words. */
  told?: (output: Output, input: Output) => string
}

const MAX_TEXT = 2_000
const MAX_ENTRIES = 100
/** The prefix that readFile adds to each line for models; the user asked for the text. */
const LINE_NUMBER = /(?<![^\n])\d+→/g

const TOOLS: Record<string, KnownTool> = {
  listDirectory: {
    reads: 'folder',
    /** The lines are those that models see: `src/`, `README.md 1234`, `link@`. */
    told ({ entries, truncated }, { path }) {
      const lines = typeof entries === 'string' ? entries.split('\n').filter((line) => line !== '') : []
      const folder = path === '.' ? 'This folder' : `\`${path}\``
      if (lines.length === 0) return `${folder} is empty.`
      const shown = lines.slice(0, MAX_ENTRIES).map((line) =>
        `- ${line.replace(/@$/, ' (link)').replace(/ (\d+)$/, (_all, size) => ` (${count(Number(size), 'byte', 'bytes')})`)}`
      )
      const more = lines.length > MAX_ENTRIES ? `\n- … and ${lines.length - MAX_ENTRIES} more` : truncated === true ? '\n- … and more' : ''
      return `${folder} holds ${count(lines.length, 'entry', 'entries')}:\n${shown.join('\n')}${more}`
    }
  },
  readFile: {
    reads: 'file',
    told ({ content, startLine, truncated, message, mimeType, width, height }, { path }) {
      if (Array.isArray(content)) return `\`${path}\` is an image (${mimeType}, ${width} × ${height} pixels).`
      if (!content) return `\`${path}\`${message ? `: ${message}` : ' is empty.'}`
      const text = typeof startLine === 'number' ? textOf(content).replace(LINE_NUMBER, '') : textOf(content)
      return `\`${path}\` contains:${block(text)}${truncated === true ? '\n(There is more in the file.)' : ''}`
    }
  },
  writeFile: {
    effect: 'files',
    told: ({ bytesWritten, created, diff }, { path }) =>
      `${created === false ? 'Changed' : 'Created'} \`${path}\` (${count(Number(bytesWritten), 'byte', 'bytes')}).${block(diff, 'diff')}`
  },
  deleteFile: {
    effect: 'files',
    told: ({ deleted }, { path }) => `Deleted \`${path}\`${deleted > 1 ? ` and what was in it (${deleted} in all)` : ''}.`
  },
  editFile: { effect: 'files' },
  moveFile: { effect: 'files' },
  notifyUser: { effect: 'message' },
  runCommand: {
    effect: 'command',
    told ({ exitCode, signal, timedOut, stdout, stderr, running, output: written }, { command }) {
      if (running === true) return `\`${command}\` runs in the background.${block(written)}`
      const ended = timedOut === true
        ? 'took too long and was ended'
        : signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`
      const [printed, errors] = [block(stdout ?? written), block(stderr)]
      const output = printed || errors ? `.${printed}${errors && `\n\nIts error output:${errors}`}` : ' and printed nothing.'
      return `\`${command}\` ${ended}${output}`
    }
  },
  fetchUrl: {
    reads: 'elsewhere',
    told: ({ status, title, message, content, truncated }, { url }) =>
      `${url} answered ${status}${title ? `: ${title}` : ''}.${message ? ` ${message}` : ''}${block(content)}` +
      (truncated === true ? '\n(There is more of it.)' : '')
  },
  webSearch: {
    reads: 'elsewhere',
    told ({ results }, { query }) {
      if (!Array.isArray(results) || results.length === 0) return `The web search for “${query}” found nothing.`
      const lines = results.slice(0, 10).map((result, index) =>
        `${index + 1}. ${result?.title} (${result?.url}): ${shorten(String(result?.snippet), 300)}`
      )
      return `The web search for “${query}” found:\n${lines.join('\n')}`
    }
  },
  searchFiles: {
    reads: 'elsewhere',
    told: ({ matches, message }, { pattern }) =>
      matches ? `\`${pattern}\` is found in:${block(textOf(matches))}` : textOf(message ?? `\`${pattern}\` is not found.`)
  },
  systemInfo: {
    reads: 'machine',
    told: (output) => `This system:\n${Object.entries(output).map(([key, value]) => `- ${key}: ${textOf(value)}`).join('\n')}`
  },
  screenshot: {
    reads: 'elsewhere',
    told: ({ width, height, description, note = description }) =>
      `I took a screenshot of ${width} × ${height} pixels.${note ? `\n\n${shorten(textOf(note), MAX_TEXT)}` : ''}`
  },
  click: { told: ({ x, y }, input) => `${input.double === true ? 'Double-clicked' : 'Clicked'} at ${x ?? input.x}, ${y ?? input.y}.` },
  type: { told: (_output, { text, keys }) => text === undefined ? `Pressed ${keys}.` : `Typed “${shorten(String(text), 200)}”.` },
  scroll: { told: (_output, { direction }) => `Scrolled ${direction}.` },
  readSkill: {
    told: ({ skill, text }) => `The skill “${skill}” says what follows. A language model goes by it; I only read plain commands.` +
      block(textOf(text).replace(/^> ?/gm, ''))
  },
  remember: { told: ({ message }) => textOf(message) },
  forget: { told: ({ message }) => textOf(message) }
}

/** Returns what is known of a tool; undefined for the tools of tool servers. */
export const toolOf = (name: string): KnownTool | undefined => Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, (_key, inner) => typeof inner === 'string' ? shorten(inner, 500) : inner)

/** Returns a paragraph with a fenced code block whose fence is longer than any in its content; '' for a blank text. */
export function block (content: unknown, language = ''): string {
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
