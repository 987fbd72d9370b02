import { readPath, type Known } from './paths.ts'
import { MARK, type Marked } from './quotes.ts'

const LABEL =
  '(?:(?:(?:the|an?|some|following|this|only|just|exact|literal)\\s+)*(?:text|contents?|words?|string|lines?|sentence|message|phrase|data|code|json|value)\\s*(?:of\\s+|:\\s*|as\\s+|\\s+))?'
const CONNECTOR =
  '(?:with|containing|that (?:says|contains|reads|has|holds)|which (?:says|contains|reads|has|holds)|saying|whose (?:contents?|text) (?:is|are|says)|and (?:put|write|fill it with)|having|content:?|contents:?)'
const NAMED =
  '(?:(?:the|an?|following|exact|some|as|its|this|initial|file)\\s+)*(?:(?:text|contents?|words?|string|lines?|sentence|message|data|code)\\b)?\\s*(?:of|as|being|is|are|:)?\\s*'

const FILE_FIRST = new RegExp(`^(.+?),?\\s+${CONNECTOR}\\s*:?\\s*${NAMED}(\\S[^]*)$`, 'i')
const TO_FILE_FIRST = new RegExp(
  `^(?:(?:the following|this)\\s+)?${LABEL}(?:into|to|in|inside|on)\\s+(.+?)(?:\\s*:\\s*|\\s*,\\s+|\\s+(?:the|this|following)[^\\uE000]*?\\s*:?\\s*(?=${MARK})|\\s+(?=${MARK})|\\s+(?:(?:the )?following|this|(?:the )?(?:text|content|words?|line))\\s*:?\\s+)(?:${NAMED})(\\S[^]*)$`,
  'i'
)
const QUOTED_FIRST = new RegExp(`^${LABEL}(?:the\\s+)?(${MARK})\\s*,?\\s*(?:in ?to|into|to|in|as|inside|onto|at|under)\\s+(\\S[^]*)$`, 'i')
const BARE_FIRST = new RegExp(`^${LABEL}(\\S[^]*)\\s+(?:into|to|as)\\s+(\\S.*)$`, 'i')
const BARE_IN = new RegExp(`^${LABEL}(\\S[^]*)\\s+(?:in|inside|under)\\s+(\\S.*)$`, 'i')
const FILE_THEN_QUOTE = new RegExp(`^(.+?)\\s*:?\\s+(${MARK})$`)
const QUOTE_THEN_FILE = new RegExp(`^(${MARK})\\s+(\\S+)$`)

export interface Writing {
  path: string
  content: string
}

/** Reads the path and the content from the words after a verb of writing. Quoted text is taken literally. */
export function readWriting (marked: Marked, verb: string, rest: string, known: Known): Writing | undefined {
  const creates = /^(?:create|make|touch|add|new)$/i.test(verb)
  const text = (slice: string) =>
    marked.plain(slice.replace(new RegExp(`(${MARK})\\s*(?:(?:in|to|into|inside) it)?[.!?,;]*$`), '$1').trim())
  const pathIn = (phrase: string) => readPath(marked, phrase, { known, here: false })

  const quoted = QUOTED_FIRST.exec(rest)
  if (quoted) {
    const path = pathIn(quoted[2])
    if (path) return { path: path.path, content: text(quoted[1]) }
  }
  const toFile = TO_FILE_FIRST.exec(rest)
  if (toFile) {
    const path = pathIn(toFile[1])
    if (path) return { path: path.path, content: text(toFile[2]) }
  }
  const fileFirst = FILE_FIRST.exec(rest)
  if (fileFirst) {
    const path = pathIn(fileFirst[1])
    const named = path && !path.folder && (creates || path.plainly || /\bfile\b/i.test(fileFirst[1]))
    // A colon at the end announces content that follows in a later clause.
    if (named && !/:\s*$/.test(fileFirst[2])) return { path: path.path, content: text(fileFirst[2]) }
  }
  for (const pattern of creates ? [] : [BARE_FIRST, BARE_IN]) {
    const bare = pattern.exec(rest)
    const path = bare && pathIn(bare[2])
    if (path && (path.plainly || /\bfile\b/i.test(bare[2]))) return { path: path.path, content: text(bare[1]) }
  }
  const reversed = QUOTE_THEN_FILE.exec(rest)
  if (reversed && !/^\uE000/.test(reversed[2])) return { path: marked.unquoted(reversed[2]), content: text(reversed[1]) }
  const pair = FILE_THEN_QUOTE.exec(rest)
  if (pair) {
    const path = pathIn(pair[1])
    if (path?.plainly && !new RegExp(`^${MARK}$`).test(pair[1].trim())) return { path: path.path, content: text(pair[2]) }
    // Two quotations and nothing else are the content, then the file.
    const file = pathIn(pair[2])
    if (file && path) return { path: file.path, content: text(pair[1]) }
  }
  if (!creates || /[:]$/.test(rest)) return undefined
  const path = pathIn(rest.replace(/[,\s]+(?:without|with no) (?:any )?content$/i, ''))
  return path && !path.folder && (path.plainly || /\bfile\b/i.test(rest)) ? { path: path.path, content: '' } : undefined
}
