import type { OfferedTools } from './dialect.ts'
import type { Dialect } from './dialects.ts'
import type { createQuoting } from './quoting.ts'

/**
 * A piece of an answer: text, reasoning, or a tool call that the model wrote as text. `broken` is text that is meant as a call but cannot
 * be parsed. `was-thought` means that all text so far was reasoning, whose opening tag the chat template wrote into the prompt.
 */
export type TextPiece =
  | { kind: 'text' | 'reasoning', delta: string }
  | { kind: 'call', name: string, input: string }
  | { kind: 'broken', text: string }
  | { kind: 'was-thought' }

/** The state of the parser of one answer. */
export interface AnswerState {
  mode: 'text' | 'thought' | 'calls' | 'over'
  /** The text that has arrived and is not yet parsed. */
  held: string
  tools: OfferedTools | undefined
  quoting: ReturnType<typeof createQuoting>
  /** Whitespace at the beginning of the answer. It is passed on when text follows, unless thoughts come first. */
  blanks: string
  /** The closing marks of the current thoughts. */
  ends: readonly string[]
  hasThoughts: boolean
  isHarmony: boolean
  /** True between `<s>` and `</s>` if they are HTML's strikethrough tags, not tokens of a chat template. */
  isStruck: boolean
  /** The dialect (way to write calls as text) of the possible call at the beginning of the held text. */
  dialect?: Dialect
  /** The length that the held text must reach before it is parsed again. */
  nextLook: number
  pieces: TextPiece[]
}
