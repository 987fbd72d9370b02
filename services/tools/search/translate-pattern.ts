/**
 * Translates regular expressions to JavaScript with the flags `u` and `m`. Models write the dialect that they know best. JavaScript reads
 * most of it without an error, but with another meaning (`\A` is the letter A): the search finds nothing, and the model takes that for a
 * fact. Sources: the manuals of PCRE2, Python's re, Go's RE2, Java's Pattern, POSIX and GNU grep.
 */

/** Whitespace within a line. */
const BLANKS = ' \\t\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000'
const LINE_ENDS = '\\n\\v\\f\\r\\u0085\\u2028\\u2029'

/** The POSIX character classes, such as `[:alpha:]`, as members of a JavaScript class. */
const POSIX: Record<string, string> = {
  alpha: '\\p{L}\\p{M}',
  digit: '0-9',
  alnum: '\\p{L}\\p{M}\\p{N}',
  upper: '\\p{Lu}',
  lower: '\\p{Ll}',
  space: '\\s',
  blank: BLANKS,
  punct: '!-\\/:-@\\[-`\\{-~',
  print: '\\P{C}',
  graph: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}',
  cntrl: '\\p{Cc}',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
  ascii: '\\x00-\\x7f'
}
/** Negated POSIX classes, such as `[:^space:]`, that a JavaScript class can contain as members. */
const NOT_POSIX: Record<string, string> = {
  space: '\\S',
  word: '\\W',
  print: '\\p{C}',
  cntrl: '\\P{Cc}',
  upper: '\\P{Lu}',
  lower: '\\P{Ll}',
  digit: '\\D'
}

/** Names of Unicode properties in other dialects, and their names in JavaScript. */
const PROPERTIES: Record<string, string> = {
  alpha: 'Alphabetic',
  alnum: 'Alphabetic',
  lower: 'Lowercase',
  upper: 'Uppercase',
  digit: 'Nd',
  punct: 'P',
  space: 'White_Space',
  xdigit: 'ASCII_Hex_Digit',
  'l&': 'LC'
}

/** Escapes that mean the same inside and outside of a character class. */
const EVERYWHERE: Record<string, string> = { h: BLANKS, e: '\\x1b', a: '\\x07' }
/** Escapes outside of a character class. Lines are searched one by one, so the start and end of the text are those of the line. */
const ESCAPES: Record<string, string> = {
  A: '^',
  Z: '$',
  z: '$',
  h: `[${BLANKS}]`,
  H: `[^${BLANKS}]`,
  V: `[^${LINE_ENDS}]`,
  R: '(?:\\r\\n|[\\n\\v\\f\\r\\u0085\\u2028\\u2029])',
  N: '[^\\n]',
  X: '(?:\\P{M}\\p{M}*)',
  e: '\\x1b',
  a: '\\x07',
  // `\K` drops the text before it from the match. This does not change whether a line matches.
  K: '',
  G: ''
}
/** Letters after a backslash that mean the same in JavaScript and all other dialects. */
const SHARED = new Set('bBdDfnrsStvwW')
const SYNTAX = new Set('^$\\.*+?()[]{}|/')

/**
 * Groups in the syntax of other dialects, with their text in JavaScript, and whether a quantifier can follow. If `repeatable` is undefined,
 * the element before the group decides.
 */
const GROUPS: Array<{ form: RegExp, text (name: string): string, repeatable?: boolean }> = [
  { form: /\(\?#[^)]*\)/y, text: () => '' },
  { form: /\(\?(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/y, text: (name) => `(?<${name}>`, repeatable: false },
  { form: /\(\?P=([A-Za-z_]\w*)\)/y, text: (name) => `\\k<${name}>`, repeatable: true }
]
const UNKNOWN_GROUPS: Array<[RegExp, string]> = [
  [/\(\?>/y, 'atomic groups (?>…)'],
  [/\(\?\|/y, 'groups that reset their numbers (?|…)'],
  [/\(\?(?:R|[+-]?\d+|&\w+|P>\w+)\)/y, 'recursion'],
  [/\(\?\(/y, 'conditions (?(…)…)'],
  [/\(\*\w+/y, 'verbs (*…)'],
  [/\(\?[a-zA-Z-]+\)/y, 'flags such as (?i) behind the beginning']
]
/** Matches flags at the beginning of a pattern, such as `(?i)`. */
const LEADING_FLAGS = /^\(\?([imsuaULx]+)\)/
const QUANTIFIER = /[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\}/y

/** A pattern in the dialect of JavaScript, for the flags `um`. */
interface TranslatedPattern {
  source: string
  ignoresCase: boolean
  /** True if `.` also matches line ends. */
  dotMatchesAll: boolean
}

/**
 * Translates a pattern in any common dialect. Throws SyntaxError, with a message for the model, if a construct has no counterpart in
 * JavaScript.
 */
export function translatePattern (pattern: string): TranslatedPattern {
  const [all = '', flags = ''] = LEADING_FLAGS.exec(pattern) ?? []
  if (flags.includes('x')) throw unknown('the flag (?x)', 'Leave out the blanks and comments in it')
  const source = translate(pattern.slice(all.length))
  return { source, ignoresCase: flags.includes('i'), dotMatchesAll: flags.includes('s') }
}

/**
 * Reads the pattern as a basic regular expression of grep, in which `\|`, `\(`, `\)`, `\+`, `\?`, `\{` and `\}` are operators and the bare
 * characters are literal. A model that searches for code, such as `f(x) {`, means that. Returns undefined if none of the characters occurs.
 */
export function readAsBasic (pattern: string): string | undefined {
  if (!/[|+?{}()]/.test(pattern)) return undefined
  return pattern.replace(/\\([|+?{}()])|\\[^]|\[\^?\]?[^\]]*\]|[|+?{}()]/g, (all, operator?: string) =>
    operator ?? (all.length === 1 ? `\\${all}` : all))
}

const unknown = (what: string, advice: string) => new SyntaxError(`The pattern has ${what}, which this search does not know. ${advice}`)

function translate (pattern: string): string {
  let out = ''
  /** True if the previous element can be repeated. */
  let isRepeatable = false
  for (let at = 0; at < pattern.length;) {
    const character = pattern[at]
    if (character === '\\') {
      const { text, length, repeatable = true } = escapeAt(pattern, at)
      out += text
      at += length
      isRepeatable = repeatable
      continue
    }
    if (character === '[') {
      const { text, length } = classAt(pattern, at)
      out += text
      at += length
      isRepeatable = true
      continue
    }
    if (character === '(') {
      const group = groupAt(pattern, at)
      out += group.text
      at += group.length
      isRepeatable = group.repeatable ?? isRepeatable
      continue
    }
    const [quantifier] = matchAt(QUANTIFIER, pattern, at) ?? []
    if (quantifier !== undefined && (isRepeatable || quantifier.length === 1)) {
      out += quantifier.replace('{,', '{0,')
      at += quantifier.length
      if (pattern[at] === '+' && isRepeatable) throw unknown(`the possessive repetition ${quantifier}+`, `Write ${quantifier}`)
      if (pattern[at] === '?' && isRepeatable) out += pattern[at++]
      isRepeatable = false
      continue
    }
    // In all other dialects, a lone brace or bracket is literal.
    out += '{}]'.includes(character) ? `\\${character}` : character
    isRepeatable = !'|^'.includes(character)
    at++
  }
  return out
}

/** Runs a sticky regular expression at a position. */
function matchAt (expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at
  return expression.exec(text)
}

/** Reads the opening of a group, including the characters that set its kind: `(`, `(?:`, `(?=`, `(?<!`, `(?i:`. */
function groupAt (pattern: string, at: number): Piece {
  for (const { form, text, repeatable } of GROUPS) {
    const found = matchAt(form, pattern, at)
    if (found !== null) return { text: text(found[1] ?? found[2]), length: found[0].length, repeatable }
  }
  const [, what] = UNKNOWN_GROUPS.find(([form]) => matchAt(form, pattern, at) !== null) ?? []
  if (what !== undefined) throw unknown(what, 'Write the pattern without')
  const [text] = matchAt(/\((?:\?(?:[:=!]|<[=!]|[ims]*(?:-[ims]+)?:))?/y, pattern, at)!
  return { text, length: text.length, repeatable: false }
}

/** The translation of a piece of the pattern, and the length of that piece in characters. */
interface Piece {
  text: string
  length: number
  repeatable?: boolean
}

/** Reads an escape outside of a character class. */
function escapeAt (pattern: string, at: number): Piece {
  const letter = pattern[at + 1]
  if (letter === undefined) throw new SyntaxError('The pattern ends with a backslash; a backslash itself is written \\\\')
  if (letter === 'Q') {
    const end = pattern.indexOf('\\E', at + 2)
    const text = pattern.slice(at + 2, end === -1 ? undefined : end)
    return { text: escapeText(text), length: text.length + (end === -1 ? 2 : 4) }
  }
  if (letter === 'E') return { text: '', length: 2 }
  if (letter === '<' || letter === '>') {
    // It is a word boundary in grep and vim, and a literal character in JavaScript. The translation matches either.
    return { text: `(?:${letter}|\\b${letter === '<' ? '(?=\\w)' : '(?<=\\w)'})`, length: 2 }
  }
  const long = longEscapeAt(pattern, at)
  if (long !== undefined) return long
  const text = ESCAPES[letter]
  if (text !== undefined) return { text, length: 2, repeatable: text.length > 1 }
  if (SHARED.has(letter)) return { text: `\\${letter}`, length: 2, repeatable: !'bB'.includes(letter) }
  return { text: plainEscape(letter), length: 2 }
}

const escapeText = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Translates an escaped character that has no special meaning. Punctuation is literal; a letter or digit throws SyntaxError. */
function plainEscape (letter: string, isInClass = false): string {
  if (/[\p{L}\p{N}]/u.test(letter)) throw unknown(`\\${letter}`, 'To find a backslash, write \\\\')
  return SYNTAX.has(letter) || (isInClass && letter === '-') ? `\\${letter}` : letter
}

/** Reads an escape of several characters; undefined if there is none at the position. */
function longEscapeAt (pattern: string, at: number): Piece | undefined {
  const rest = pattern.slice(at, at + 100)
  const is = (form: RegExp) => form.exec(rest)
  let found: RegExpExecArray | null
  if ((found = is(/^\\([pP])(?:\{\^?([\w&= -]+)\}|([A-Z]))/)) !== null) {
    const isNegated = (found[1] === 'P') !== found[0].includes('{^')
    return { text: `\\${isNegated ? 'P' : 'p'}{${propertyOf(found[2] ?? found[3])}}`, length: found[0].length }
  }
  if ((found = is(/^\\x\{([0-9A-Fa-f]{1,6})\}/)) !== null) return { text: `\\u{${found[1]}}`, length: found[0].length }
  if ((found = is(/^\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|c[A-Za-z])/)) !== null) {
    return { text: found[0], length: found[0].length }
  }
  if ((found = is(/^\\U([0-9A-Fa-f]{8})/)) !== null) return { text: `\\u{${found[1].replace(/^0+(?=.)/, '')}}`, length: 10 }
  if ((found = is(/^\\(?:k<(\w+)>|k\{(\w+)\}|k'(\w+)'|g\{([A-Za-z_]\w*)\})/)) !== null) {
    return { text: `\\k<${found.slice(1).find((name) => name !== undefined)}>`, length: found[0].length }
  }
  if ((found = is(/^\\(?:([1-9]\d?)|g\{?([1-9]\d?)\}?)/)) !== null) {
    // In a group, so that following digits of the pattern do not become part of the reference.
    return { text: `(?:\\${found[1] ?? found[2]})`, length: found[0].length }
  }
  if ((found = is(/^\\0([0-7]{0,2})/)) !== null) {
    return { text: `\\x${Number.parseInt(`0${found[1]}`, 8).toString(16).padStart(2, '0')}`, length: found[0].length }
  }
  return undefined
}

/** Returns JavaScript's name of a Unicode property. Throws SyntaxError if the property is not known. */
function propertyOf (name: string): string {
  const plain = name.trim()
  const bare = plain.replace(/^(?:Is|In)_?(?=[A-Z])/, '')
  const script = plain.replace(/^(?:script|sc|blk|block)=/i, '').replace(/^(?:Is|In)_?(?=[A-Z])/, '')
  const capital = script[0].toUpperCase() + script.slice(1).toLowerCase()
  const candidates = [plain, PROPERTIES[bare.toLowerCase()], bare, `sc=${script}`, `sc=${capital}`]
  const known = candidates.find((each) => each !== undefined && isProperty(each))
  if (known === undefined) throw unknown(`the property \\p{${name}}`, 'Properties are written as \\p{L}, \\p{Lu} or \\p{Script=Greek}')
  return known
}

function isProperty (name: string): boolean {
  try {
    return new RegExp(`\\p{${name}}`, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Reads a character class, from its opening to its closing bracket. */
function classAt (pattern: string, start: number): Piece {
  const alone = /^\[(\^?)\[:\^(\w+):\]\]/.exec(pattern.slice(start))
  if (alone !== null && Object.hasOwn(POSIX, alone[2])) {
    return { text: `[${alone[1] === '' ? '^' : ''}${POSIX[alone[2]]}]`, length: alone[0].length }
  }
  let at = start + 1
  const isNegated = pattern[at] === '^'
  if (isNegated) at++
  const parts: string[] = []
  if (pattern[at] === ']') {
    // JavaScript reads `[]` and `[^]` as empty classes. In all other dialects the first closing bracket is literal.
    const isEmpty = isNegated ? !/^[^[]*\]/.test(pattern.slice(at + 1)) : !pattern.includes(']', at + 1)
    if (isEmpty) return { text: isNegated ? '[^]' : '[]', length: at + 1 - start }
    parts.push('\\]')
    at++
  }
  /** The operands before each `&&`, the intersection of Java's dialect. */
  const before: string[] = []
  for (;;) {
    const character = pattern[at]
    if (character === undefined) throw new SyntaxError('The pattern has a [ without its ]; the bracket itself is written \\[')
    if (character === ']') break
    if (pattern.startsWith('&&', at) && parts.length > 0 && pattern[at + 2] !== ']') {
      before.push(parts.splice(0).join(''))
      const inner = pattern[at + 2] === '[' ? classAt(pattern, at + 2) : undefined
      if (inner !== undefined) before.push(inner.text)
      at += 2 + (inner?.length ?? 0)
      continue
    }
    const { text, length } = memberAt(pattern, at)
    parts.push(text)
    at += length
  }
  const length = at + 1 - start
  if (before.length === 0) return { text: `[${isNegated ? '^' : ''}${rangesOf(parts)}]`, length }
  const sets = [...before, ...parts.length > 0 ? [parts.join('')] : []].map((set) => set.startsWith('[') ? set : `[${set}]`)
  const last = sets.pop()!
  const both = `${sets.map((set) => `(?=${set})`).join('')}${last}`
  return { text: isNegated ? `(?!${both})[^]` : `(?:${both})`, length }
}

/** Reads one member of a character class. */
function memberAt (pattern: string, at: number): Piece {
  const rest = pattern.slice(at, at + 100)
  const posix = /^\[:(\^?)(\w+):\]/.exec(rest)
  if (posix !== null) {
    const [all, not, name] = posix
    const text = (not === '' ? POSIX : NOT_POSIX)[name]
    if (text === undefined) throw unknown(`the class ${all}`, 'Write its characters')
    return { text, length: all.length }
  }
  if (/^\[[.=]./.test(rest)) throw unknown('a class with [. or [=', 'Write its characters')
  const character = String.fromCodePoint(pattern.codePointAt(at)!)
  if (character !== '\\') return { text: '[(){}/|'.includes(character) ? `\\${character}` : character, length: character.length }
  const long = longEscapeAt(pattern, at)
  if (long !== undefined) {
    if (/^\((?:\?:)?\\\d/.test(long.text)) throw unknown(`${rest.slice(0, long.length)} in a class`, 'Write the character')
    return long
  }
  const letter = pattern[at + 1]
  if (letter === undefined) throw new SyntaxError('The pattern ends with a backslash; a backslash itself is written \\\\')
  if (EVERYWHERE[letter] !== undefined) return { text: EVERYWHERE[letter], length: 2 }
  if (SHARED.has(letter) && letter !== 'B') return { text: `\\${letter}`, length: 2 }
  return { text: plainEscape(letter, true), length: 2 }
}

/** Joins the members of a class. A hyphen next to a member that is itself a set is literal, not a range. */
const rangesOf = (parts: string[]): string =>
  parts.map((part, at) => part === '-' && [parts[at - 1], parts[at + 1]].some((beside) => isSet(beside)) ? '\\-' : part).join('')

const isSet = (part: string | undefined) => part !== undefined && (/^\\[dDsSwWpP]/.test(part) || part.length > 6)
