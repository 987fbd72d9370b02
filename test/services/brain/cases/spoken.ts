/** Something that a user says of themselves, and a later message for which it matters. */
export interface Spoken {
  says: string
  /** What a careful model files it under: words of the language, and English ones. */
  topics: string[]
  /** A later message, in another conversation, for which it matters. */
  ask: string
  /** It matters whatever is asked, as an allergy does; the user's own health. */
  isHealth?: true
}

/** One language: what is worth remembering, what is not, and a message for which nothing of it matters. */
export interface SpokenLanguage {
  language: string
  statements: Spoken[]
  /** Said by the user, and not worth remembering: it passes, is about others, is a wish for this once, or must not be stored. */
  junk: string[]
  unrelated: string
}

/** A turn of a dialogue: the words of the user, or of the assistant before them. */
export type DialogueLine = string | { assistant: string }

/** A dialogue that makes sense only as a whole, with what a careful model points at in it. */
export interface Dialogue {
  language: string
  name: string
  /** The local day on which it takes place, as YYYY-MM-DD. */
  day: string
  lines: DialogueLine[]
  /** The number of the user's message, the words there, and the date that they mean, if they name a day by its distance. */
  points: Array<{ message: number, span: string, on?: string, isHealth?: true }>
  /** What is known afterwards: sentences as they stand in the thread. */
  known: string[]
  /** Words that nothing known may hold. */
  never: string[]
  /** What the user says that is not worth remembering. */
  junk?: string[]
}
