import { writtenForm } from './stored-answer.ts'
import type { ThreadHead } from './thread-head.ts'
import { answerTexts, beginsTurn, hasChosen, partsOf, type ThreadMessage } from './thread-message.ts'
import type { createThreadReader } from './thread-reader.ts'
import type { RequestTurn, UserTurn } from './turns.ts'

/** The messages of a request, with the thread's copies of answers instead of the client's copies. */
export interface RecalledMessages {
  messages: ThreadMessage[]
  /** The index of each message in the request; undefined for a message that comes from the thread. */
  places: Array<number | undefined>
}

/** The messages that a request and its thread have in common. */
interface Matched {
  /** The turns of the thread, the first `keep` of which stay. `requested` are the turns of the request. */
  all: UserTurn[]
  requested: RequestTurn[]
  keep: number
  messages: ThreadMessage[]
  /** The index of the first new message of the request. */
  since: number
}

interface Parts {
  reader: Pick<ReturnType<typeof createThreadReader>, 'lastMessages'>
}

/**
 * Stored answers are used from a position on that is a multiple of BLOCK, for two blocks at most, so that the beginning of the prompt
 * changes rarely.
 */
const BLOCK = 1_000

/** Reads the stored messages for the turns of a request. The keys are the indexes of the turns' first messages in the request. */
async function readTurns (
  head: ThreadHead,
  { all, requested, keep, since }: Matched,
  { reader }: Parts
): Promise<Map<number, { message?: ThreadMessage, answer?: ThreadMessage[] }>> {
  const end = all[keep]?.at ?? head.messageCount
  const from = Math.max(0, Math.floor(end / BLOCK) * BLOCK - BLOCK)
  const earlier = requested.filter(({ at }) => at < since)
  if (end === from || earlier.length === 0) return new Map()
  const page = await reader.lastMessages(head.id, { end, limit: end - from })
  const recalled = new Map<number, { message?: ThreadMessage, answer?: ThreadMessage[] }>()
  let next = keep
  for (const { at, own, answer } of earlier.toReversed()) {
    const n = all.findLastIndex((turn, index) => index < next && turn.own === own)
    if (n === -1) continue
    if (all[n].at < page.from) break
    const [message, ...stored] = page.messages.slice(all[n].at - page.from, (n + 1 < keep ? all[n + 1].at : end) - page.from)
    recalled.set(at, { ...hasChosen(message) && { message }, ...isCopy(answer, stored.flatMap(writtenForm)) && { answer: stored } })
    next = n
  }
  return recalled
}

/**
 * Returns the messages of a request before its new ones, with the thread's copies of the answers. These contain exactly what the model
 * produced and got: reasoning with its signature, inputs and outputs of calls. A client's copy might lack or change these. If the client's
 * answer has another text or other calls than the stored one, the client's answer is used.
 */
export async function recallAnswers (
  head: ThreadHead,
  matched: Matched,
  parts: Parts
): Promise<RecalledMessages> {
  const { messages, since } = matched
  const recalled = await readTurns(head, matched, parts)
  const result: RecalledMessages = { messages: [], places: [] }
  for (let at = 0; at < since;) {
    const { message, answer } = recalled.get(at) ?? {}
    result.messages.push(message ?? messages[at])
    result.places.push(message === undefined ? at : undefined)
    at++
    if (answer === undefined) continue
    result.messages.push(...answer)
    result.places.push(...answer.map(() => undefined))
    while (at < since && !beginsTurn(messages[at])) at++
  }
  return result
}

const callsIn = (messages: ThreadMessage[]): string[] =>
  messages.filter(({ role }) => role === 'assistant').flatMap(partsOf)
    .flatMap((part) => typeof part?.toolCallId === 'string' && part.type !== 'tool-approval-request' ? [part.toolCallId] : [])

/** Whether a client's answer is a copy of the stored answer: whether it has the same text and no other calls. */
function isCopy (received: ThreadMessage[], stored: ThreadMessage[]): boolean {
  if (!received.some(({ role }) => role === 'assistant') || received.some(({ role }) => role === 'system')) return false
  const made = new Set(callsIn(stored))
  if (!callsIn(received).every((id) => made.has(id))) return false
  const texts = answerTexts(stored)
  return answerTexts(received)[0] === '' ? texts[0] === '' : answerTexts(received).some((text) => text !== '' && texts.includes(text))
}
