import { findJsonEnd } from '../../lib/nearly-json.ts'
import { OPEN, type Reading, type ReadCalls, TEXT } from './dialect.ts'

// Calls in OpenAI's harmony format (gpt-oss), also without the tokens:
// <|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>

const CHANNEL = String.raw`(?:<\|channel\|>\s*(?:commentary|analysis))?`
const HEAD = new RegExp(
  String.raw`(?:<\|start\|>)?(?:assistant)?\s*(?:<\|channel\|>)?\s*(?:commentary|analysis)?\s*to=([\w.:/-]+)\s*${CHANNEL}\s*` +
    String.raw`(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*`,
  'y'
)
const END = /\s*<\|(?:call|end|return)\|>/y
/** The most characters of a message header. */
const LONGEST_HEAD = 200

/** Parses a harmony message that is addressed to a function. */
export const readHarmony: ReadCalls = (text, at, _tools, isEnd): Reading => {
  HEAD.lastIndex = at
  const head = HEAD.exec(text)
  if (head === null) return isEnd || text.length - at > LONGEST_HEAD || /\n/.test(text.slice(at)) ? TEXT : OPEN
  const from = at + head[0].length
  if (text[from] !== '{') return isEnd || text.length - from > 60 || !/^[\w\s<|>]*$/.test(text.slice(from)) ? TEXT : OPEN
  const found = findJsonEnd(text, from)
  if (!('end' in found)) return OPEN
  END.lastIndex = found.end
  const end = found.end + (END.exec(text)?.[0].length ?? 0)
  return { is: 'calls', calls: [{ name: head[1], input: text.slice(from, found.end) }], end }
}
