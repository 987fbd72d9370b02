import { foundPrefix, type Store, threadKey, unlessDamaged } from '../store/index.ts'
import { digestsOfCopy } from './conversation-digests.ts'
import { recallAnswers, type RecalledMessages } from './recall-answers.ts'
import { MAX_UNREAD, saidAgain } from './steer-messages.ts'
import type { ThreadHead } from './thread-head.ts'
import { beginsTurn, hasChosen, markOf, type ThreadMessage, turnsIn } from './thread-message.ts'
import type { createThreadReader } from './thread-reader.ts'
import type { RequestTurn, Turns, UserTurn } from './turns.ts'

/** The most threads with the same digest that are compared. */
const MAX_CANDIDATES = 50

/** The fields of a request that say where the request continues its thread; see `RunBody`. */
export interface RequestMessages {
  messages: ThreadMessage[]
  trigger?: unknown
  messageId?: unknown
  /** Whether the client is a chat, which can be open in several tabs. */
  isChat?: boolean
}

/**
 * The place where a request continues its thread, and the messages with which its run begins: the messages of the request, with the
 * thread's own copies of answers.
 */
export interface RequestPlace extends RecalledMessages {
  /** The number of turns of the thread that stay. The messages of the request replace the others. */
  keep: number
  /** The new messages of the request, and their position in the thread. */
  fresh: ThreadMessage[]
  at: number
}

interface PlaceParts {
  store: Pick<Store, 'get' | 'keys'>
  turns: Turns
  reader: ReturnType<typeof createThreadReader>
}

interface Divergence {
  /** The number of turns of the thread that stay. */
  keep: number
  /** The index of the first new message of the request. */
  since: number
}

/** Finds the place of a request with a single message. */
function placeLone (
  head: ThreadHead,
  all: UserTurn[],
  { at, message: { id }, own }: RequestTurn,
  { turns, isRegenerated }: { turns: Turns, isRegenerated: boolean }
): Divergence {
  const newest = all.at(-1)!
  const again = typeof id === 'string' ? all.findLastIndex((turn) => turns.idOf(turn) === id) : isRegenerated && all[0].own === own ? 0 : -1
  const isWaiting = newest.own === own && newest.at === head.messageCount - 1
  return { keep: again !== -1 ? again : isWaiting ? all.length - 1 : all.length, since: at }
}

/**
 * Finds the place only by the contents of the user's messages, for a request with other answers than the thread, or with only the newest
 * messages.
 */
function placeByWords (all: UserTurn[], requested: RequestTurn[]): Divergence {
  const earlier = requested.slice(0, -1)
  const isAt = (from: number) => earlier.every(({ own }, n) => all[from + n]?.own === own)
  const from = isAt(0) ? 0 : all.findLastIndex((_, n) => isAt(n))
  if (from !== -1) return { keep: from + earlier.length, since: requested.at(-1)!.at }
  const common = earlier.findIndex(({ own }, n) => all[n]?.own !== own)
  return common === 0 ? { keep: all.length, since: 0 } : { keep: common, since: requested[common].at }
}

/**
 * Finds the place of a request with a history: by the digest of the history, else by the ids of the user's messages, else by their
 * contents.
 */
function placeHistory (
  all: UserTurn[],
  requested: RequestTurn[],
  { trigger, messageId, isChat = false }: RequestMessages,
  turns: Turns
): Divergence {
  const newest = requested.at(-1)!
  const earlier = requested.slice(0, -1)
  const digests = digestsOfCopy(earlier.at(-1)!.found)
  const found = all.findLastIndex((turn) => digests.some((digest) => turn.found.includes(digest)))
  const indexOf = ({ message: { id } }: RequestTurn) =>
    typeof id === 'string' ? all.findLastIndex((each) => turns.idOf(each) === id) : -1
  const again = indexOf(newest)
  if (again !== -1) return { keep: again, since: newest.at }
  const known = found === -1 ? earlier.findLastIndex((each) => indexOf(each) !== -1) : earlier.length - 1
  if (known === -1) return placeByWords(all, requested)
  const last = found === -1 ? indexOf(earlier[known]) : found
  const isNew = isChat && trigger === 'submit-message' && known === earlier.length - 1 &&
    !requested.some(({ message: { id } }) => id !== undefined && id === messageId)
  // Messages that the chat lacks were sent from another tab, unless the chat sends them again.
  const isOfOthers = all.slice(last + 1).every(({ own, id }) =>
    own !== newest.own || (id !== undefined && newest.message.id !== undefined))
  return isNew && isOfOthers ? { keep: all.length, since: newest.at } : { keep: last + 1, since: requested[known + 1].at }
}

/** Returns the new messages of a request in their stored form. */
async function readFresh (
  head: ThreadHead,
  all: UserTurn[],
  request: RequestMessages,
  { keep, since, own }: Divergence & { own: string | undefined },
  { reader }: PlaceParts
): Promise<ThreadMessage[]> {
  const fresh = request.messages.slice(since)
  const isRegenerated = request.trigger === 'regenerate-message'
  if (!beginsTurn(fresh[0]) || all[keep]?.own !== own) return fresh
  const [stored] = isRegenerated ? await reader.messages(head.id, { from: all[keep].at, limit: 1 }) : []
  // The client's copy of a message lacks the text of a prompt that was chosen for the message.
  if (stored !== undefined && hasChosen(stored)) fresh[0] = stored
  if (!head.steered || keep !== all.length - 1 || fresh.length > 1 || !(isRegenerated || since > 0)) return fresh
  // If the same message is answered again, the new run also gets the messages of the user to the first run that no step has read.
  const { messages: newest } = await reader.lastMessages(head.id, { end: head.messageCount, limit: MAX_UNREAD })
  return [...fresh, ...newest.slice(newest.findLastIndex((message) => markOf(message)?.state !== 'unread') + 1)]
}

/**
 * Finds the place of a request in its thread. The history in the request decides: turns of the thread that it lacks are replaced, as after
 * an edit or for a regenerated answer. Turns that a chat lacks because they were sent from another tab stay. A single message replaces
 * nothing, except when it has the id of a stored message, asks for another answer to the first message, or repeats the newest message while
 * that still waits for its answer.
 */
export async function placeRequest (
  head: ThreadHead | undefined,
  request: RequestMessages,
  parts: PlaceParts
): Promise<RequestPlace> {
  const { turns } = parts
  const all = head === undefined ? [] : await turns.list(head)
  const messages = head?.steered ? turns.markSteering(all, request.messages) : request.messages
  const digests = await turns.read(messages)
  const requested = turnsIn(messages).map((turn, n): RequestTurn => ({ ...turn, own: digests[n].own, found: digests[n].found }))
  if (head === undefined || all.length === 0 || requested.length === 0) {
    return { keep: all.length, at: head?.messageCount ?? 0, fresh: messages, messages, places: [...messages.keys()] }
  }
  const whole = { ...request, messages }
  const divergence = requested.length === 1
    ? placeLone(head, all, requested[0], { turns, isRegenerated: request.trigger === 'regenerate-message' })
    : placeHistory(all, requested, whole, turns)
  const [fresh, before] = await Promise.all([
    readFresh(head, all, whole, { ...divergence, own: requested.find(({ at }) => at === divergence.since)?.own }, parts),
    recallAnswers(head, { all, requested, messages, ...divergence }, parts)
  ])
  const newest = fresh.findLast(beginsTurn)
  const end = before.messages.length - (newest === undefined ? 0 : saidAgain(before.messages, newest))
  const placeOf = (message: ThreadMessage) => {
    const at = messages.indexOf(message)
    return at === -1 ? undefined : at
  }
  return {
    keep: divergence.keep,
    at: all[divergence.keep]?.at ?? head.messageCount,
    fresh,
    messages: [...before.messages.slice(0, end), ...fresh],
    places: [...before.places.slice(0, end), ...fresh.map(placeOf)]
  }
}

/**
 * Finds the thread that a request without an id continues. The service must have made the id of the thread, and one of its turns must end
 * with exactly the messages before the last message of the request. Of several such threads that are `isFree`, returns the most recently
 * changed one; undefined if there is none.
 */
export async function findThread (
  messages: ThreadMessage[],
  isFree: (id: string) => boolean,
  { store, turns }: Omit<PlaceParts, 'reader'>
): Promise<string | undefined> {
  const before = (await turns.read(messages)).at(-2)
  if (before === undefined || messages.at(-1)!.role !== 'user') return undefined
  const heads: ThreadHead[] = []
  for (const digest of digestsOfCopy(before.found)) {
    const prefix = foundPrefix(digest)
    for await (const key of store.keys(prefix, { limit: MAX_CANDIDATES })) {
      const head = await unlessDamaged(store.get<ThreadHead>(threadKey(key.slice(prefix.length))))
      if (head?.minted && isFree(head.id)) heads.push(head)
    }
  }
  return heads.sort((a, b) => b.updatedAt - a.updatedAt)[0]?.id
}
