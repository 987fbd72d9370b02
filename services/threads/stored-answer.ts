import type { Protocol } from '../../schemas/agent.ts'
import type { RunEvent } from '../contracts/run-events.ts'

/** The property of a message that has the forms of an answer. It is a symbol, so clients cannot set it, and it is never stored. */
export const ANSWER: unique symbol = Symbol('answer')

/** A message in the form in which the client sent it. The schema has checked only that it has a role. */
export interface RawMessage {
  role: string
  [ANSWER]?: AnswerForms
  content?: unknown
  parts?: unknown
  id?: unknown
  [field: string]: unknown
}

/** A message in the form in which its client sent it or a run made it: a UIMessage (`parts`) or a ModelMessage (`content`). */
export interface ThreadMessage {
  role: string
  /** Present if the message is an answer from the log of a run. */
  [ANSWER]?: AnswerForms
  [field: string]: unknown
}

/** The user's answer to a request for approval. */
export interface Answered {
  approvalId: string
  approved?: boolean
  reason?: string
}

/** The record of an answer in a thread. The text of the answer is only in the log of its run. */
export interface StoredAnswer {
  role: 'assistant'
  /** The run that gave the answer. */
  run: string
  /** The protocol of the client that got the answer. It decides the format of the answer for readers that name no protocol. */
  protocol: Protocol
  /** The number of messages of the answer in that format. */
  count: number
  /** The message that the answer continues, or the record of it. */
  base?: ThreadMessage
  /** The user's answers to the approval requests of the run, stored here because the ledger keeps them for a shorter time. */
  answered?: Answered[]
  /** The run was interrupted. The beginnings of calls whose inputs are incomplete are left out. */
  isCut?: true
  /**
   * Events at the end of the answer that are not in the log: the ends of texts and calls that were interrupted, and steering messages (sent
   * by the user meanwhile) that no step has read.
   */
  ends?: RunEvent[]
}

/** The forms of an answer that was read from the log of its run. They belong to the message that chats show. */
export interface AnswerForms {
  stored: StoredAnswer
  /** The form for the client that got the answer. */
  written: readonly ThreadMessage[]
  /** The form for models; undefined if the answer continues a message. */
  readonly prompt?: readonly ThreadMessage[]
}

/** Reads an answer from the log of its run. */
export type ReadAnswer = (stored: StoredAnswer) => Promise<ThreadMessage>

/** Whether a record of a thread is a stored answer. All messages of clients have `content` or `parts`. */
export const isStoredAnswer = (record: ThreadMessage): record is ThreadMessage & StoredAnswer =>
  typeof record.run === 'string' && record.content === undefined && record.parts === undefined

/** Returns the record to store for a message. */
export const storedForm = (message: ThreadMessage): ThreadMessage =>
  (message[ANSWER]?.stored as ThreadMessage | undefined) ?? message

/** Returns a message in the form in which its client wrote or received it. */
export const writtenForm = (message: ThreadMessage): readonly ThreadMessage[] => message[ANSWER]?.written ?? [message]

/**
 * Returns the ids of the runs that gave an answer, the newest first. There are several if one run continued the answer of another. Returns
 * none for other messages.
 */
export function runsOfAnswer (record: ThreadMessage | undefined): string[] {
  return record !== undefined && isStoredAnswer(record) ? [record.run, ...runsOfAnswer(record.base)] : []
}
