import type { Store } from '../store/index.ts'
import type { ThreadHead } from './thread-head.ts'
import { MAX_UNREAD, saidAgain, unmarked } from './steer-messages.ts'
import { answerTexts, beginsTurn, hasChosen, markOf, partsOf, type ThreadMessage } from './thread-message.ts'
import type { HistoryMatch, UserTurn } from './history.ts'

/** The messages of a request, with stored answers in place of the client's copies. */
interface Recalled {
  messages: ThreadMessage[]
  /** The index of each message in the request; undefined for a message from the thread. */
  places: Array<number | undefined>
}

/** Answers are recalled from a multiple of BLOCK messages on, at most two blocks, so that the beginning of the prompt changes rarely. */
const BLOCK = 1_000

/**
 * Replaces the answers in a request's history by the stored answers, which contain exactly what the model produced and saw:
 * reasoning with its signature, inputs and outputs of calls. A client's copy may lack or change these. The user's messages decide
 * which answers correspond; one for which a prompt or a skill was chosen is recalled with that. An answer with other text or other calls
 * than the stored one stays, without its model marks.
 */
export function createRecall ({ store, turns, get, lastMessages }: {
  store: Pick<Store, 'digest'>
  turns: Pick<HistoryMatch, 'read' | 'get' | 'shared' | 'windowEnd' | 'position' | 'markSteering'>
  get: (id: string) => Promise<ThreadHead | undefined>
  lastMessages: (id: string, page: { end: number, limit: number }) => Promise<{ messages: ThreadMessage[] }>
}) {
  /** Returns how many turns of the request are in the thread, and the number of turns of the thread up to the last of them. */
  async function matched (thread: string, count: number, requestTurns: UserTurn[]): Promise<{ turns: number, end: number }> {
    const earlier = requestTurns.length - 1
    const common = Math.min(await turns.shared(thread, count, requestTurns), earlier)
    if (common > 0) return { turns: common, end: common }
    const end = await turns.windowEnd(thread, count, requestTurns)
    return { turns: end > 0 ? earlier : 0, end }
  }

  /** Whether the thread begins with the messages of the user in a request, but for the last one. */
  async function isKnown (id: string, head: ThreadHead, request: ThreadMessage[]): Promise<boolean> {
    const requestTurns = await turns.read(request)
    if (requestTurns.length < 2) return true
    return await turns.shared(store.digest(id), head.turns, requestTurns) >= requestTurns.length - 1
  }

  /** Returns what no step has read of what was said to the run of the last turn, if a request asks for another answer to that turn. */
  async function unreadOf (id: string, head: ThreadHead, requestTurns: UserTurn[], isRegenerated: boolean): Promise<ThreadMessage[]> {
    const last = head.steered && (requestTurns.length > 1 || isRegenerated) ? await turns.get(store.digest(id), head.turns - 1) : undefined
    if (last === undefined || requestTurns.at(-1)?.chain !== last.chain) return []
    const { messages } = await lastMessages(id, { end: head.messageCount, limit: MAX_UNREAD })
    return messages.slice(messages.findLastIndex((message) => markOf(message)?.state !== 'unread') + 1)
  }

  return async function recall (id: string, given: ThreadMessage[], { isRegenerated = false } = {}): Promise<Recalled> {
    const head = await get(id)
    const plain = given.with(-1, unmarked(given.at(-1)!))
    const request = head?.steered && !await isKnown(id, head, plain) ? await turns.markSteering(store.digest(id), plain) : plain
    const requestTurns = await turns.read(request)
    const answers = new Map<number, ThreadMessage[]>()
    const said = new Map<number, ThreadMessage>()
    if (head !== undefined && head.turns > 0 && (requestTurns.length > 1 || isRegenerated)) {
      const thread = store.digest(id)
      const { turns: count, end: last } = await matched(thread, head.turns, requestTurns)
      if (isRegenerated) {
        const before = await turns.get(thread, requestTurns.length > 1 ? last : 0)
        const now = requestTurns.at(-1)
        const isSame = before !== undefined && before.own === now?.own
        const [message] = isSame ? (await lastMessages(id, { end: before.at + 1, limit: 1 })).messages : []
        if (message !== undefined && hasChosen(message)) said.set(now!.at, message)
      }
      const end = count === 0 ? 0 : await turns.position(thread, last, { count: head.turns, length: head.messageCount })
      const from = Math.max(0, Math.floor(end / BLOCK) * BLOCK - BLOCK)
      let stored = end > from ? (await lastMessages(id, { end, limit: end - from })).messages : []
      for (let n = count - 1; n >= 0 && stored.length > 0; n--) {
        const at = stored.findLastIndex(beginsTurn)
        if (at >= 0 && isCopy(request.slice(requestTurns[n].at + 1, requestTurns[n + 1].at), stored.slice(at + 1))) {
          answers.set(requestTurns[n].at, stored.slice(at + 1))
        }
        if (at >= 0 && hasChosen(stored[at])) said.set(requestTurns[n].at, stored[at])
        stored = stored.slice(0, Math.max(at, 0))
      }
    }
    const recalled: Recalled = { messages: [], places: [] }
    let isReplaced = false
    for (const [at, message] of request.entries()) {
      if (beginsTurn(message)) isReplaced = false
      if (isReplaced) continue
      recalled.messages.push(said.get(at) ?? withoutModelMarks(message))
      recalled.places.push(said.has(at) ? undefined : at)
      const answer = answers.get(at)
      if (answer === undefined) continue
      recalled.messages.push(...answer)
      recalled.places.push(...answer.map(() => undefined))
      isReplaced = true
    }
    const again = saidAgain(recalled.messages.slice(0, -1), request.at(-1)!)
    const kept = recalled.messages.length - 1 - again
    const unread = head === undefined || !beginsTurn(request.at(-1)!) ? [] : await unreadOf(id, head, requestTurns, isRegenerated)
    return {
      messages: [...recalled.messages.toSpliced(kept, again), ...unread],
      places: [...recalled.places.toSpliced(kept, again), ...unread.map(() => undefined)]
    }
  }
}

const callsIn = (messages: ThreadMessage[]): string[] =>
  messages.filter(({ role }) => role === 'assistant').flatMap(partsOf)
    .flatMap((part) => typeof part?.toolCallId === 'string' && part.type !== 'tool-approval-request' ? [part.toolCallId] : [])

/** Whether a client's messages between two user messages are a copy of the stored answer: the same text, and no other calls. */
function isCopy (received: ThreadMessage[], stored: ThreadMessage[]): boolean {
  if (
    stored.length === 0 || !received.some(({ role }) => role === 'assistant') ||
    received.some((message) => message.role !== 'assistant' && message.role !== 'tool' && markOf(message) === undefined)
  ) return false
  const made = new Set(callsIn(stored))
  if (!callsIn(received).every((id) => made.has(id))) return false
  const storedTexts = answerTexts(stored)
  const [whole, ...end] = answerTexts(received)
  return whole === '' ? storedTexts[0] === '' : [whole, ...end].some((text) => text !== '' && storedTexts.includes(text))
}

/** The fields of parts that contain provider metadata. */
const ATTACHED = ['providerMetadata', 'callProviderMetadata', 'resultProviderMetadata', 'providerOptions']

/** Returns the message without its model marks: only the stored copy proves which model made a part. */
export function withoutModelMarks (message: ThreadMessage): ThreadMessage {
  const field = message.parts === undefined ? 'content' : 'parts'
  const parts = message[field]
  if (message.role === 'user' || !Array.isArray(parts)) return message
  const isMarked = (part: any, name: string) => part?.[name]?.agent?.model !== undefined
  if (!parts.some((part) => ATTACHED.some((name) => isMarked(part, name)))) return message
  return {
    ...message,
    [field]: parts.map((part) => {
      const names = ATTACHED.filter((name) => isMarked(part, name))
      return names.length === 0 ? part : { ...part, ...Object.fromEntries(names.map((name) => [name, withoutModel(part[name])])) }
    })
  }
}

function withoutModel ({ agent: { model, ...agent }, ...attached }: Record<string, any>): object {
  return { ...attached, ...(Object.keys(agent).length > 0 && { agent }) }
}
