import type { OfferedTools } from './dialect.ts'
import type { Dialect } from './dialects.ts'
import type { createQuoting } from './quoting.ts'

/**
 * A piece of an answer: text, reasoning, or a call that was written as text. `broken` is a text that is meant as a call and cannot be read.
 * `was-thought`: all text so far was thinking, whose opening tag the template wrote into the prompt.
 */
export type TextPiece =
  | { kind: 'text' | 'reasoning', delta: string }
  | { kind: 'call', name: string, input: string }
  | { kind: 'broken', text: string }
  | { kind: 'was-thought' }

/** The state of reading an answer. */
export interface AnswerState {
  mode: 'text' | 'thought' | 'calls' | 'over'
  /** The text that is not yet read. */
  held: string
  tools: OfferedTools | undefined
  quoting: ReturnType<typeof createQuoting>
  /** Blanks at the beginning, which belong to the text only if there is one. */
  blanks: string
  /** The marks that end the current thoughts. */
  ends: readonly string[]
  hasThoughts: boolean
  isHarmony: boolean
  /** True after `<s>`, which means strikethrough in HTML. */
  isStruck: boolean
  /** The dialect of the call that may have begun. */
  dialect?: Dialect
  /** The length of the held text at which it is read again. */
  nextLook: number
  pieces: TextPiece[]
}
