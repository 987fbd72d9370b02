/** The index entry of what the user said to a run: its digest, as that of a message, and the position of the message that holds it. */
export interface Steered {
  id: string
  own: string
  at: number
  said: number
}

/**
 * The index entry of a user message in a thread. The entries are enough to find where a request diverges from the thread,
 * without reading the messages.
 */
export interface UserTurn {
  /** The digest of this message. */
  own: string
  /** The digest of this and all earlier user messages: two conversations with the same `chain` have the same user messages so far. */
  chain: string
  /** The position of the message in the thread. */
  at: number
  /** The time of the message, epoch milliseconds; 0 if it came as part of a history, so that its time is unknown. */
  said: number
  /** The id that the client gave the message. */
  id?: string
  /** What the user said while its answer was made. It is no part of the chain: clients may leave it out of what they send back. */
  steered?: Steered[]
  /** The chain of the user messages before this one in the client's copy, if that left out exchanges of the thread. */
  seen?: string
}

/** Where a request diverges from its thread. */
export interface Divergence {
  /** The number of turns that stay. */
  keep: number
  /** The index of the first new message of the request. */
  since: number
  /** See `UserTurn.seen`. */
  seen?: string
}
