import type { Protocol } from '../../../schemas/agent.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import type { ThreadMessage } from '../thread-message.ts'
import { asChat, asChat5, asChat7, idOf } from './as-chat.ts'
import { asModelMessages } from './as-model-messages.ts'
import { writtenForm } from '../stored-answer.ts'
import { type Unit, unitsOf } from './answer-units.ts'
import type { Unanswered } from './unanswered.ts'

/** The most stored answers with the same first message that are compared with a client's messages. */
const MOST_ALIKE = 20

/** Returns an id for the message at a position of a thread; used if the message has none of its own. */
type IdAt = (message: ThreadMessage, at: number) => string

/** The data that rendering needs in addition to the messages. */
interface Rendering {
  idAt: IdAt
  unanswered: Unanswered
}

function renderUnit (unit: Unit, protocol: Protocol, { idAt, unanswered }: Rendering): ThreadMessage[] {
  const [first] = unit.messages
  const id = idOf(first) ?? idAt(first, unit.at)
  switch (protocol) {
    case 'documented':
      return asModelMessages(unit, id, unanswered)
    case 'ui':
      return [asChat(unit, id, unanswered)]
    case 'ui5':
      return [asChat5(unit, id, unanswered)]
    case 'ui7':
      return [asChat7(unit, id, unanswered)]
  }
}

/**
 * Renders stored messages for the clients of a protocol, whichever client wrote the messages. `from` is the position of the first message.
 */
export async function renderMessages (
  stored: readonly ThreadMessage[],
  protocol: Protocol,
  rendering: Rendering,
  from = 0
): Promise<ThreadMessage[]> {
  const rendered: ThreadMessage[] = []
  for (const unit of unitsOf(stored, from)) {
    rendered.push(...renderUnit(unit, protocol, rendering))
    await yieldToEventLoop()
  }
  return rendered
}

/**
 * Returns the messages to store when a client replaces the messages of a thread. A message that the client has read in any protocol and not
 * changed keeps its stored form.
 */
export async function keepStored (
  given: ThreadMessage[],
  stored: readonly ThreadMessage[],
  rendering: Rendering
): Promise<ThreadMessage[]> {
  const { idAt } = rendering
  const units = unitsOf(stored)
  const byFirst = new Map<string, Unit[]>()
  const note = (key: string, unit: Unit) => {
    const known = byFirst.get(key)
    if (known === undefined) byFirst.set(key, [unit])
    else known.push(unit)
  }
  for (const unit of units) {
    const [first] = unit.messages
    note(`id ${idOf(first) ?? idAt(first, unit.at)}`, unit)
    // Clients that name no protocol read messages in the form in which they were written.
    const [written] = writtenForm(first)
    if (idOf(written) === undefined) note(canonicalJson(written), unit)
    await yieldToEventLoop()
  }
  const kept: ThreadMessage[] = []
  for (let at = 0; at < given.length;) {
    const id = idOf(given[at])
    const alike = byFirst.get(id === undefined ? canonicalJson(given[at]) : `id ${id}`) ?? []
    let length = 0
    const found = alike.slice(0, MOST_ALIKE).findIndex((unit) => (length = lengthOf(given, at, unit, rendering)) > 0)
    // Each stored message is used only once, because messages with the same text can differ in data that clients do not see.
    if (found === -1) kept.push(given[at++])
    else {
      kept.push(...alike.splice(found, 1)[0].messages)
      at += length
    }
    await yieldToEventLoop()
  }
  return kept
}

const CHATS = ['ui', 'ui5', 'ui7'] as const

/** Returns how many of the given messages from `at` on are together a rendering of the unit; 0 if they are not one. */
function lengthOf (given: ThreadMessage[], at: number, unit: Unit, rendering: Rendering): number {
  const isAt = (reading: ThreadMessage[]) =>
    reading.every((message, n) => at + n < given.length && canonicalJson(given[at + n]) === canonicalJson(message))
  const asWritten = unit.messages.flatMap(writtenForm)
  if (isAt(asWritten)) return asWritten.length
  for (const protocol of given[at].parts === undefined ? ['documented' as const] : CHATS) {
    const reading = renderUnit(unit, protocol, rendering)
    if (isAt(reading)) return reading.length
  }
  return 0
}
