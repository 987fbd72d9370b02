import type { OfferedTools } from './dialect.ts'
import type { Dialect } from './dialects.ts'
import type { createQuoting } from './quoting.ts'

/**
 * A piece of an answer: text, reasoning, or a call that was written as text. `broken` is a text that is meant as a call and cannot be
 * read. `was-thought`: all text so far was thinking, whose beginning the template wrote into the prompt.
 */
export type TextPiece =
  | { kind: 'text' | 'reasoning', delta: string }
  | { kind: 'call', name: string, input: string }
  | { kind: 'broken', text: string }
  | { kind: 'was-thought' }

/** What is known of the answer so far. */
export interface AnswerState {
  mode: 'text' | 'thought' | 'calls' | 'over'
  /** The text that is not read yet. */
  held: string
  tools: OfferedTools | undefined
  quoting: ReturnType<typeof createQuoting>
  /** Blanks at the beginning, which belong to the text only when there is one. */
  blanks: string
  /** What ends the thoughts under way. */
  ends: readonly string[]
  hasThoughts: boolean
  isHarmony: boolean
  /** `<s>` is open, which HTML strikes through. */
  isStruck: boolean
  /** The dialect of the call that may have begun. */
  dialect?: Dialect
  /** The length of the held text at which it is looked at again. */
  nextLook: number
  pieces: TextPiece[]
}
