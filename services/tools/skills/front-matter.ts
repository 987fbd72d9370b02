/** Thrown if a SKILL.md cannot be used. The message is for the author of the skill. */
export class SkillRefused extends Error {}

/** The content of a SKILL.md. */
interface SkillFile {
  /** The values of the front matter: texts and lists of texts. Mappings, such as `metadata`, are left out. */
  fields: Map<string, string | string[]>
  /** The text after the front matter. */
  body: string
  /** The number of the line in the file where `body` begins. */
  bodyLine: number
}

/** The most characters of the front matter, and the most keys in it. */
const LONGEST = 16 * 1024
const MOST_KEYS = 50

const KEY = /^(?:"([^"\\]*)"|'([^']*)'|([^\s"'#&*!|>%@`{[?:-][^:]*?))\s*:(?:\s+(.*))?$/
const FENCE = /^---\s*$/
const END = /^(?:---|\.\.\.)\s*$/
/** Matches an anchor, alias or tag of YAML. These are refused, because they can make a small text expand to a large one. */
const REFERENCE = /^[&*!]/
const FLOW_REFERENCE = /[\s,{[:][&*!]+\w/
const REFERENCES = 'anchors, aliases and tags of YAML are not read'
const NESTED_REFERENCE = /^\s*(?:-\s+)*(?:[^\s"'#:]+\s*:\s+)?(?:[&*!]|<<\s*:)\S*/

/**
 * Parses a SKILL.md: YAML front matter between two lines of `---`, followed by text. Only the YAML that such files contain is supported: a
 * plain, quoted or block value for each key, and lists of texts. A plain value can contain `: `, which YAML forbids but many people write.
 * Throws SkillRefused, with the line, for anything else, and for anchors, aliases, tags and repeated keys.
 * https://agentskills.io/specification
 */
export function readSkillFile (text: string): SkillFile {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  if (!FENCE.test(lines[0])) throw new SkillRefused('SKILL.md does not begin with a front matter, which is keys between two lines of ---.')
  const end = lines.findIndex((line, at) => at > 0 && END.test(line))
  if (end === -1) throw new SkillRefused('The front matter of SKILL.md does not end with a line ---.')
  const front = lines.slice(1, end)
  const length = front.reduce((sum, line) => sum + line.length + 1, 0)
  if (length > LONGEST) throw new SkillRefused(`The front matter of SKILL.md has ${length} characters; the limit is ${LONGEST}.`)
  return { fields: readFields(front), body: lines.slice(end + 1).join('\n'), bodyLine: end + 2 }
}

/** Parses the front matter. `lines` begin with the second line of the file. */
function readFields (lines: readonly string[]): SkillFile['fields'] {
  const fields: SkillFile['fields'] = new Map()
  const keys = new Set<string>()
  for (let at = 0; at < lines.length;) {
    const line = lines[at]
    const number = at + 2
    if (isBlank(line)) {
      at++
      continue
    }
    const [, double, single, plain, value = ''] = KEY.exec(line) ?? []
    const key = double ?? single ?? plain
    if (key === undefined) throw refused(number, `${quoteStart(line)} is not a key with a value`)
    if (key === '<<') throw refused(number, 'a merge key (<<) is not read')
    if (keys.has(key)) throw refused(number, `the key ${quoteStart(key)} stands there twice`)
    if (keys.size === MOST_KEYS) throw refused(number, `there are more than ${MOST_KEYS} keys`)
    keys.add(key)
    const below = lines.slice(at + 1, at + 1 + linesBelow(lines, at + 1, isEmpty(value)))
    at += 1 + below.length
    const read = readValue(value, below, number)
    if (read !== undefined) fields.set(key, read)
  }
  return fields
}

const isBlank = (line: string) => /^\s*(?:#.*)?$/.test(line)
const isEmpty = (value: string) => isBlank(value)

/**
 * Returns how many lines from `from` on belong to the key before them: indented lines and, with `mayList`, the lines of a list that is not
 * indented.
 */
function linesBelow (lines: readonly string[], from: number, mayList: boolean): number {
  const belongs = mayList ? /^(?:\s|$|-(?:\s|$))/ : /^(?:\s|$)/
  const end = lines.findIndex((line, at) => at >= from && !belongs.test(line))
  return (end === -1 ? lines.length : end) - from
}

/** Returns the value of a key; undefined for an empty value or a mapping. */
function readValue (value: string, below: readonly string[], number: number): string | string[] | undefined {
  const block = /^([|>])([+-]?\d?[+-]?)\s*(?:#.*)?$/.exec(value)
  if (block !== null) return readBlock(below, block[1] === '>')
  if (isEmpty(value)) {
    below.forEach((line, n) => {
      if (NESTED_REFERENCE.test(line)) throw refused(number + 1 + n, REFERENCES)
    })
    const filled = below.filter((line) => !isBlank(line))
    if (filled.length === 0) return undefined
    if (!/^\s*-(?:\s|$)/.test(filled[0])) return filled.some((line) => /^\s*[^\s"'][^:]*:(?:\s|$)/.test(line)) ? undefined : folded(filled)
    return filled.map((line) => {
      const [, item] = /^\s*-\s+(.*)$/.exec(line) ?? []
      if (item === undefined) throw refused(number, 'the list has an entry that is no text')
      return scalar(item, number)
    })
  }
  if (/^[[{]/.test(value) && FLOW_REFERENCE.test(value)) throw refused(number, REFERENCES)
  if (value.startsWith('[')) return readFlow([value, ...below].join(' '), number)
  if (value.startsWith('{')) return undefined
  if (/^["']/.test(value)) return scalar([value, ...below].map((line) => line.trim()).join(' '), number)
  return scalar([value, ...below.filter((line) => !isBlank(line))].map((line) => line.trim()).join(' '), number)
}

const folded = (lines: readonly string[]) => lines.map((line) => line.trim()).join(' ')

/** Returns the text of a block value. Its line breaks are kept or, with `isFolded`, become spaces. */
function readBlock (below: readonly string[], isFolded: boolean): string {
  const indents = below.filter((line) => line.trim() !== '').map((line) => /^\s*/.exec(line)![0].length)
  const indent = Math.min(...indents, Infinity)
  const lines = below.map((line) => line.slice(indent === Infinity ? 0 : indent).trimEnd())
  const text = isFolded ? lines.join('\n').replace(/([^\n])\n(?!\n|$)/g, '$1 ').replaceAll('\n\n', '\n') : lines.join('\n')
  return text.trim()
}

/** Parses a list in brackets. */
function readFlow (text: string, number: number): string[] {
  const inner = /^\[(.*)\]\s*(?:#.*)?$/.exec(text.trim())?.[1]
  if (inner === undefined) throw refused(number, 'a list does not end with ]')
  return splitOutside(inner, /,/).map((item) => scalar(item.trim(), number)).filter((item) => item !== '')
}

/** Splits a text at separators outside of quotes and parentheses. */
export function splitOutside (text: string, separator: RegExp): string[] {
  const parts = ['']
  let depth = 0
  let quote = ''
  for (const letter of text) {
    if (quote !== '') quote = letter === quote ? '' : quote
    else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '(') depth++
    else if (letter === ')') depth = Math.max(depth - 1, 0)
    if (quote === '' && depth === 0 && separator.test(letter)) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' }

/** Parses a plain or quoted text. */
function scalar (text: string, number: number): string {
  if (REFERENCE.test(text)) {
    throw refused(number, `${quoteStart(text)} would be an anchor, alias or tag of YAML, which are not read. Put the value in quotes`)
  }
  if (text.startsWith('"')) {
    const inner = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s.exec(text)?.[1]
    if (inner === undefined) throw refused(number, 'a value in double quotes does not end with one')
    return inner.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs, (_all, wide?: string, narrow?: string, letter?: string) =>
      letter === undefined ? String.fromCharCode(parseInt((wide ?? narrow)!, 16)) : ESCAPES[letter] ?? letter)
  }
  if (text.startsWith("'")) {
    const inner = /^'((?:[^']|'')*)'\s*(?:#.*)?$/s.exec(text)?.[1]
    if (inner === undefined) throw refused(number, 'a value in single quotes does not end with one')
    return inner.replaceAll("''", "'")
  }
  return text.replace(/\s#.*$/s, '').trim()
}

const quoteStart = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
const refused = (line: number, what: string) => new SkillRefused(`Line ${line} of SKILL.md: ${what}.`)
