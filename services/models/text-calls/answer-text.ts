import type { AnswerState, TextPiece } from './answer-state.ts'
import { isKnown, readSequence } from './call-sequence.ts'
import type { OfferedTools } from './dialect.ts'
import { findMark, lineWordAt, type Mark } from './find-mark.ts'
import { createQuoting } from './quoting.ts'

/** The most characters that are held back because they might become a call. */
const MOST_HELD = 1024 * 1024
/** An incomplete long call is parsed again when its text has grown by this factor. */
const GROWN = 1.1
/** The most blank characters at the beginning of an answer that are held back until other text follows. */
const MOST_BLANKS = 1_000

/**
 * Returns a parser for the text of an answer as it arrives, for models whose server leaves marks in the text: thoughts in tags, tokens of
 * the chat template, and tool calls in the dialects of `dialects.ts`. Calls count only at the end of an answer: a call with text behind it
 * is text. Text that could still become a mark is held back. If `tools` is undefined, calls are text, too.
 */
export function createAnswerText (tools: OfferedTools | undefined) {
  const state: AnswerState = {
    mode: 'text',
    held: '',
    tools,
    quoting: createQuoting(),
    blanks: '',
    ends: [],
    hasThoughts: false,
    isHarmony: false,
    isStruck: false,
    nextLook: 0,
    pieces: []
  }

  return {
    /** Parses the next piece of the text. Returns the pieces of the answer that no later text can change. */
    take (delta: string): TextPiece[] {
      const { mode, held, quoting } = state
      // Most pieces are words within a line.
      if (mode === 'text' && held === '' && quoting.hasText && !quoting.isLineStart && !SUSPECT_OR_LINE.test(delta)) {
        quoting.advance(delta)
        return [{ kind: 'text', delta }]
      }
      state.held += delta
      return read(state, false)
    },
    /** Ends the text. Returns the pieces of the answer that were held back. */
    end: (): TextPiece[] => read(state, true)
  }
}

function read (state: AnswerState, isEnd: boolean): TextPiece[] {
  state.pieces = []
  while (readOn(state, isEnd));
  return state.pieces
}

/** Parses the next mark, thought or sequence of calls. Returns whether parsing continues in the rest of the held text. */
function readOn (state: AnswerState, isEnd: boolean): boolean {
  switch (state.mode) {
    case 'text':
      return readText(state, isEnd)
    case 'thought':
      return readThought(state, isEnd)
    case 'calls':
      return readCalls(state, isEnd)
    case 'over':
      state.held = ''
      return false
  }
}

/** Characters with which a mark can begin. */
const SUSPECT = /[<[{`◁]/
const SUSPECT_OR_LINE = /[<[{`◁\n]/

function readText (state: AnswerState, isEnd: boolean): boolean {
  if (state.held === '') return false
  const special = state.held.search(SUSPECT)
  const word = lineWordAt(state, special === -1 ? state.held.length : special)
  const at = word ?? special
  if (at === -1) {
    passText(state, state.held.length)
    return false
  }
  passText(state, at)
  const mark = findMark(state, isEnd)
  if (mark.is === 'wait') return false
  obey(state, mark)
  return state.mode !== 'text' || state.held !== ''
}

function obey (state: AnswerState, mark: Exclude<Mark, { is: 'wait' }>): void {
  switch (mark.is) {
    case 'text':
      return passText(state, mark.length)
    case 'nothing':
      return drop(state, mark.length)
    case 'over':
      state.mode = 'over'
      return
    case 'thought':
      drop(state, mark.length)
      state.mode = 'thought'
      state.ends = mark.ends
      return
    case 'was-thought':
      state.pieces.push({ kind: 'was-thought' })
      state.quoting = createQuoting()
      state.blanks = ''
      state.hasThoughts = true
      return drop(state, mark.length)
    case 'channel':
      state.isHarmony = true
      if (state.quoting.hasText) pushText(state, '\n\n')
      return drop(state, mark.length)
    case 'call':
      state.mode = 'calls'
      state.dialect = mark.dialect
      state.nextLook = 0
  }
}

const drop = (state: AnswerState, length: number): void => {
  state.held = state.held.slice(length)
}

/** Moves the first `length` characters of the held text to the pieces, as text. */
function passText (state: AnswerState, length: number): void {
  if (length === 0) return
  const text = state.held.slice(0, length)
  drop(state, length)
  if (!state.quoting.hasText) {
    if (text.trim() === '') {
      state.blanks += text
      state.quoting.advance(text)
      if (state.blanks.length > MOST_BLANKS) {
        pushText(state, state.blanks)
        state.blanks = ''
      }
      return
    }
    const blanks = state.hasThoughts ? '' : state.blanks
    state.blanks = ''
    pushText(state, blanks + (state.hasThoughts ? text.trimStart() : text))
    state.quoting.advance(text)
    return
  }
  pushText(state, text)
  state.quoting.advance(text)
}

function pushText (state: AnswerState, delta: string, kind: 'text' | 'reasoning' = 'text'): void {
  const last = state.pieces.at(-1)
  if (last?.kind === kind) last.delta += delta
  else if (delta !== '') state.pieces.push({ kind, delta })
}

function readThought (state: AnswerState, isEnd: boolean): boolean {
  const { held, ends } = state
  const found = ends.flatMap((end) => held.includes(end) ? [{ end, at: held.indexOf(end) }] : []).sort((a, b) => a.at - b.at)[0]
  const length = found?.at ?? held.length - (isEnd ? 0 : Math.max(...ends.map((end) => overlap(held, end))))
  if (length > 0) pushText(state, held.slice(0, length), 'reasoning')
  // Some closing marks are also the beginning of the next mark.
  const isNext = found !== undefined && /^<\|(?:start|channel)\|>$|^assistantcommentary$/.test(found.end)
  drop(state, found === undefined ? length : length + (isNext ? 0 : found.end.length))
  if (found === undefined) return false
  state.mode = 'text'
  state.hasThoughts = true
  return true
}

/** Returns how many characters at the end of `text` are an incomplete beginning of `tag`. */
function overlap (text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) if (text.endsWith(tag.slice(0, length))) return length
  return 0
}

function readCalls (state: AnswerState, isEnd: boolean): boolean {
  const { held } = state
  if (!isEnd && held.length < state.nextLook) return false
  const sequence = readSequence(state, isEnd)
  switch (sequence.is) {
    case 'wait':
      if (held.length <= MOST_HELD) {
        state.nextLook = held.length < 2_000 ? 0 : held.length * GROWN
        return false
      }
      state.mode = 'text'
      passText(state, held.length)
      return false
    case 'text':
      state.mode = 'text'
      passText(state, sequence.length)
      if (sequence.isQuoted) state.quoting.quoteLine()
      return true
    case 'broken':
      state.pieces.push({ kind: 'broken', text: held })
      state.mode = 'over'
      return true
    case 'calls':
      if (!isKnown(sequence.calls, state.tools!)) {
        state.pieces.push({ kind: 'broken', text: held })
      } else state.pieces.push(...sequence.calls.map((call) => ({ kind: 'call' as const, ...call })))
      state.mode = 'over'
      return true
  }
}
