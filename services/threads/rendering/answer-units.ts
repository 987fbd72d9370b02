import { markOf, type ThreadMessage } from '../thread-message.ts'

/** What a chat shows as one message: a message of any shape, or the ModelMessages of one answer. */
export interface Unit {
  /** The position of its first message in the thread. */
  at: number
  messages: ThreadMessage[]
}

/** Messages of an answer after its first one have its id with a number. */
const STEP = /\/\d+$/
export const stepId = (id: string, n: number) => n === 0 ? id : `${id}/${n}`

/** Whether a message that the user sent during an answer is a part of that answer; it is not if no step has read it. */
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

/** Groups stored messages to units; `from` is the position of the first. */
export function unitsOf (messages: readonly ThreadMessage[], from = 0): Unit[] {
  const units: Unit[] = []
  for (const [n, message] of messages.entries()) {
    if (n > 0 && continuesAnswer(messages[n - 1], message)) units.at(-1)!.messages.push(message)
    else units.push({ at: from + n, messages: [message] })
  }
  return units
}
