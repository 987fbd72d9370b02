/** Describes the outputs of tools. Their shapes are not trusted: a missing field is left out of the description. */

type Output = Record<string, unknown>
interface Done {
  toolName: string
  input: Record<string, unknown>
}

const LONGEST_TEXT = 2_000
const MOST_ENTRIES = 100
/** The prefix that readFile adds to each line for models. */
const LINE_NUMBER = /(?<![^\n])\d+→/g

export function resultWords (step: Done, output: unknown): string {
  const write = Object.hasOwn(WORDS, step.toolName) ? WORDS[step.toolName] : other
  return write(step, typeof output === 'object' && output !== null && !Array.isArray(output) ? output as Output : { content: output })
}

const WORDS: Record<string, (step: Done, output: Output) => string> = {
  listDirectory ({ input }, output) {
    const entries = list(output.entries) ?? list(output.files) ?? list(output.content)
    if (!entries) return `\`${input.path}\`:\n\n${block(text(output.content) ?? json(output))}`
    if (entries.length === 0) return `\`${input.path}\` is empty.`
    const lines = entries.slice(0, MOST_ENTRIES).map((entry) => `- ${entryWords(entry)}`)
    if (entries.length > MOST_ENTRIES) lines.push(`- … and ${entries.length - MOST_ENTRIES} more`)
    else if (output.truncated === true) lines.push('- … and more')
    return `\`${input.path}\` holds ${count(entries.length, 'entry', 'entries')}:\n${lines.join('\n')}`
  },
  readFile ({ input }, output) {
    const shown = text(output.content) ?? text(output.text) ?? text(output.data)
    if (shown === undefined) return `\`${input.path}\`: ${block(json(output))}`
    if (shown === '') return `\`${input.path}\`${text(output.message) === undefined ? ' is empty.' : `: ${output.message}`}`
    // The numbers are for models; the user asked for the text.
    const content = typeof output.startLine === 'number' ? shown.replace(LINE_NUMBER, '') : shown
    return `\`${input.path}\` contains:\n\n${block(content)}${output.truncated === true ? '\n(There is more in the file.)' : ''}`
  },
  writeFile ({ input }, output) {
    const bytes = [output.bytesWritten, output.bytes, output.size].find((value) => typeof value === 'number') ??
      Buffer.byteLength(String(input.content))
    const diff = text(output.diff)
    const verb = output.created === true ? 'Created' : output.created === false ? 'Changed' : 'Wrote'
    return `${verb} \`${input.path}\` (${count(bytes as number, 'byte', 'bytes')}).${diff?.trim() ? `\n\n${block(diff, 'diff')}` : ''}`
  },
  deleteFile ({ input }, output) {
    const deleted = typeof output.deleted === 'number' && output.deleted > 1 ? ` and what was in it (${output.deleted} in all)` : ''
    return `Deleted \`${input.path}\`${deleted}.`
  },
  runCommand ({ input }, output) {
    const code = output.exitCode ?? output.code
    const ended = output.timedOut === true
      ? 'took too long and was ended'
      : typeof code === 'number'
        ? `ended with exit code ${code}`
        : output.signal
          ? `was ended by ${output.signal}`
          : 'has run'
    const stdout = text(output.stdout) ?? text(output.output) ?? text(output.content) ?? ''
    const stderr = text(output.stderr) ?? ''
    return `\`${input.command}\` ${ended}${stdout.trim() || stderr.trim() ? '.' : ' and printed nothing.'}` +
      `${stdout.trim() ? `\n\n${block(stdout)}` : ''}${stderr.trim() ? `\n\nIts error output:\n\n${block(stderr)}` : ''}`
  },
  fetchUrl ({ input }, output) {
    const body = text(output.content) ?? text(output.markdown) ?? text(output.text) ?? text(output.body)
    const status = typeof output.status === 'number' ? ` answered ${output.status}` : ' answered'
    const title = text(output.title)
    const message = text(output.message)
    const more = output.truncated === true ? '\n(There is more of it.)' : ''
    return `${input.url}${status}${title ? `: ${title}` : ''}.${message ? ` ${message}` : ''}${
      body?.trim() ? `\n\n${block(body)}${more}` : ''
    }`
  },
  webSearch ({ input }, output) {
    const results = list(output.results) ?? list(output.content)
    if (!results || results.length === 0) return `The web search for “${input.query}” found nothing.`
    const lines = results.slice(0, 10).map((result: any, index) =>
      `${index + 1}. ${result?.title ?? result?.url ?? json(result)}${result?.url && result?.title ? ` (${result.url})` : ''}${
        result?.snippet ? `: ${shorten(String(result.snippet), 300)}` : ''
      }`
    )
    return `The web search for “${input.query}” found:\n${lines.join('\n')}`
  },
  systemInfo: (_step, output) =>
    `This system:\n${
      Object.entries(output).map(([key, value]) => `- ${key}: ${typeof value === 'object' ? json(value) : value}`).join('\n')
    }`,
  screenshot (_step, output) {
    const size = typeof output.width === 'number' && typeof output.height === 'number'
      ? ` of ${output.width} × ${output.height} pixels`
      : ''
    const words = text(output.description) ?? text(output.note)
    return `I took a screenshot${size}.${words ? `\n\n${shorten(words, LONGEST_TEXT)}` : ''}`
  },
  click: ({ input }, output) =>
    `${input.double === true ? 'Double-clicked' : 'Clicked'} at ${output.x ?? input.x}, ${output.y ?? input.y}.`,
  type: ({ input }) => input.text === undefined ? `Pressed ${input.keys}.` : `Typed “${shorten(String(input.text), 200)}”.`,
  scroll: ({ input }) => `Scrolled ${input.direction}.`,
  remember: (_step, output) => text(output.message) ?? 'Done.',
  forget: (_step, output) => text(output.message) ?? 'Done.'
}

const other = ({ toolName }: Done, output: Output) =>
  `${toolName} answered:\n\n${block(text(output.content) ?? blocks(output.content) ?? json(output))}`

function entryWords (entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return String(entry)
  const { name, path, kind, type, size } = entry as Output
  const what = kind ?? type
  const folder = what === 'directory' || what === 'folder' || what === 'dir'
  const label = `${name ?? path ?? json(entry)}`
  return folder
    ? `${label.replace(/\/$/, '')}/`
    : `${label}${typeof size === 'number' ? ` (${count(size, 'byte', 'bytes')})` : ''}${what === 'symlink' ? ' (link)' : ''}`
}

/** Returns the text of content blocks, the output format of tool servers (MCP). */
function blocks (content: unknown): string | undefined {
  if (!Array.isArray(content) || content.length === 0 || !content.every((each) => typeof each?.type === 'string')) return undefined
  return content.map((each) => text(each.text) ?? json(each)).join('\n')
}

const text = (value: unknown) => typeof value === 'string' ? value : undefined
const list = (value: unknown) => Array.isArray(value) ? value as unknown[] : undefined
const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`
const json = (value: unknown) => JSON.stringify(value, (_key, inner) => typeof inner === 'string' ? shorten(inner, 500) : inner)

/** Returns a fenced code block whose fence is longer than any in its content. */
function block (content: string, language = ''): string {
  const shown = shorten(content, LONGEST_TEXT)
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)))
  return `${fence}${language}\n${shown.replace(/\n$/, '')}\n${fence}`
}

function shorten (content: string, longest: number): string {
  if (content.length <= longest) return content
  const end = /[\uD800-\uDBFF]/.test(content[longest - 1]) ? longest - 1 : longest
  return `${content.slice(0, end)}\n… (${content.length - end} more characters)`
}
