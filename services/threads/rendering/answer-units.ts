import { markOf, type ThreadMessage } from '../thread-message.ts'

/** The stored messages that a chat shows as one message: a single message, or the ModelMessages of one answer. */
export interface Unit {
  /** The position of the first message in the thread. */
  at: number
  messages: ThreadMessage[]
}

/** The end of the ids of an answer's messages after the first: the id of the first message and a number. */
const STEP = /\/\d+$/
export const stepId = (id: string, n: number) => n === 0 ? id : `${id}/${n}`

/**
 * Whether a ModelMessage is a part of an answer: an assistant or tool message, or a steering message (sent by the user while the run
 * worked), unless no step has read it.
 */
function isOfAnswer (message: ThreadMessage): boolean {
  const mark = markOf(message)
  return message.parts === undefined &&
    (message.role === 'assistant' || message.role === 'tool' || (mark !== undefined && mark.state !== 'unread'))
}

/** Whether a message belongs to the same answer as the one before it. */
export function continuesAnswer (before: ThreadMessage, message: ThreadMessage): boolean {
  if (!isOfAnswer(before) || !isOfAnswer(message)) return false
  if (message.role === 'tool') return true
  const { id } = message
  if (typeof id !== 'string' || id === '') return before.role === 'tool'
  return STEP.test(id) && id.replace(STEP, '') === String(before.id).replace(STEP, '')
}

/** Groups stored messages into units: messages that clients show as one. `from` is the position of the first message. */
export function unitsOf (messages: readonly ThreadMessage[], from = 0): Unit[] {
  const units: Unit[] = []
  for (const [n, message] of messages.entries()) {
    if (n > 0 && continuesAnswer(messages[n - 1], message)) units.at(-1)!.messages.push(message)
    else units.push({ at: from + n, messages: [message] })
  }
  return units
}
