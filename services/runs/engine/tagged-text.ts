import { readJson } from '../../lib/json.ts'

/** A piece of an answer's text: text, reasoning that stood in tags, or a call that was written as text. */
export type TextPiece = { kind: 'text' | 'reasoning', delta: string } | { kind: 'call', name: string, input: string }

const THINK = '<think>'
const THOUGHT = '</think>'
const CALL = '<tool_call>'
/** One call; more may follow, each in tags of its own. The last one may lack the end of its tag. */
const CALL_BLOCK = /<tool_call>\s*(\{[\s\S]*?\})\s*(?:<\/tool_call>\s*|$)/y
/** Characters of a text that may be held back. */
const MOST_HELD = 256 * 1024

/**
 * Reads the text of an answer as it arrives, for models whose server leaves their tags in it: reasoning in `<think>` at the beginning,
 * and calls in `<tool_call>` that are the whole answer, one call a tag. Text that could still become one is held back. `isTool` says
 * whether a name is that of an offered tool: with a call of another one, the answer is text.
 */
export function createTaggedText (isTool: (name: string) => boolean) {
  let state: 'begin' | 'think' | 'thought' | 'call' | 'text' = 'begin'
  let held = ''

  function step (): TextPiece | undefined {
    switch (state) {
      case 'begin':
      case 'thought': {
        const text = held.trimStart()
        const tags = state === 'begin' ? [THINK, CALL] : [CALL]
        const tag = tags.find((each) => text.startsWith(each))
        if (tag === undefined && tags.some((each) => each.startsWith(text))) return undefined
        held = tag === THINK ? text.slice(THINK.length) : state === 'thought' ? text : held
        state = tag === THINK ? 'think' : tag === CALL ? 'call' : 'text'
        return step()
      }
      case 'think': {
        const end = held.indexOf(THOUGHT)
        const length = end === -1 ? held.length - overlap(held, THOUGHT) : end
        const delta = held.slice(0, length)
        held = end === -1 ? held.slice(length) : held.slice(end + THOUGHT.length)
        if (end !== -1) state = 'thought'
        return delta === '' ? (end === -1 ? undefined : step()) : { kind: 'reasoning', delta }
      }
      case 'call':
        if (held.length <= MOST_HELD) return undefined
        state = 'text'
        return step()
      case 'text': {
        const delta = held
        held = ''
        return delta === '' ? undefined : { kind: 'text', delta }
      }
    }
  }

  function * pieces (): Generator<TextPiece> {
    for (let piece = step(); piece !== undefined; piece = step()) yield piece
  }

  return {
    /** Whether what follows is text. */
    get isPlain () {
      return state === 'text' && held === ''
    },
    * take (delta: string): Generator<TextPiece> {
      held += delta
      yield * pieces()
    },
    /** The text is at its end. */
    * end (): Generator<TextPiece> {
      const calls = state === 'call' ? callsIn(held.trim()) : []
      if (calls.length > 0 && calls.every(({ name }) => isTool(name))) {
        held = ''
        for (const call of calls) yield { kind: 'call', ...call }
      }
      if (state === 'think' && held !== '') yield { kind: 'reasoning', delta: held }
      else if (held.trim() !== '') yield { kind: 'text', delta: held }
      held = ''
      state = 'text'
    }
  }
}

/** Returns how many characters at the end of a text begin the tag. */
function overlap (text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) if (text.endsWith(tag.slice(0, length))) return length
  return 0
}

/** Returns the calls that a text consists of; none when anything else stands in it. */
function callsIn (text: string): Array<{ name: string, input: string }> {
  const calls = []
  for (let at = 0; at < text.length; at = CALL_BLOCK.lastIndex) {
    CALL_BLOCK.lastIndex = at
    const { name, arguments: given, parameters = given } = readJson(CALL_BLOCK.exec(text)?.[1] ?? '') ?? {}
    if (typeof name !== 'string') return []
    calls.push({ name, input: typeof parameters === 'string' ? parameters : JSON.stringify(parameters ?? {}) })
  }
  return calls
}
