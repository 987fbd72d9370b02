import { readJson } from '../../lib/json.ts'

/** A piece of an answer's text: text, reasoning that stood in tags, or a call that was written as text. */
export type TextPiece = { kind: 'text' | 'reasoning', delta: string } | { kind: 'call', name: string, input: string }

const THINK = '<think>'
const THOUGHT = '</think>'
const CALL = '<tool_call>'
const WHOLE_CALL = /^<tool_call>\s*(\{[\s\S]*\})\s*<\/tool_call>\s*$/
/** Characters of a text that may be held back. */
const MOST_HELD = 256 * 1024

/**
 * Reads the text of an answer as it arrives, for models whose server leaves their tags in it: reasoning in `<think>` at the beginning,
 * and one `<tool_call>` that is the whole answer. Text that could still become one is held back. `isTool` says whether a name is that of
 * an offered tool: a call of another one is text.
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
      const call = state === 'call' ? callIn(held.trimStart()) : undefined
      if (call !== undefined && isTool(call.name)) {
        held = ''
        yield { kind: 'call', ...call }
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

function callIn (text: string): { name: string, input: string } | undefined {
  const { name, arguments: given, parameters = given } = readJson(WHOLE_CALL.exec(text)?.[1] ?? '') ?? {}
  if (typeof name !== 'string') return undefined
  return { name, input: typeof parameters === 'string' ? parameters : JSON.stringify(parameters ?? {}) }
}
