/** One place in the user's messages that a model points at. `span` is an exact part of message number `message`, counted from 0. */
export interface Pointer {
  message: number
  span: string
  kind: 'fact' | 'preference' | 'instruction'
  key?: string
  value?: string
  about: 'user' | 'other'
  /** False for what passes, and for a retraction that states nothing new. */
  lasting: boolean
  sensitive: boolean
  replaces: string[]
}
/** A fact known before: typed by the user, or pinned by the user, or learned. */
export interface KnownFact {
  id: string
  fact: string
  typed?: true
  pinned?: true
}
export interface MemoryCase {
  name: string
  language: string
  known?: KnownFact[]
  messages: string[]
  /** What a model answers that points rightly. */
  right: Pointer[]
  /** With the right pointers; what is left out is empty. `neverLearned` holds for whatever a model points at. */
  expect: {
    learned: string[],
    preferences?: Record<string, string>,
    proposed?: string[],
    replaced?: string[],
    neverLearned: string[]
  }
}

type More = Partial<Pick<Pointer, 'about' | 'lasting' | 'sensitive' | 'replaces'>>
const user = { about: 'user', lasting: true, sensitive: false, replaces: [] as string[] } as const
export const fact = (message: number, span: string, more: More = {}): Pointer => ({ message, span, kind: 'fact', ...user, ...more })
export const instruction = (message: number, span: string, more: More = {}): Pointer => ({
  message,
  span,
  kind: 'instruction',
  ...user,
  ...more
})
export const preference = (message: number, span: string, key: string, value: string, more: More = {}): Pointer => ({
  message,
  span,
  kind: 'preference',
  key,
  value,
  ...user,
  ...more
})
