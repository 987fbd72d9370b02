import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { foundKey, type Op, type Store, turnKey, turnsPrefix } from '../store/index.ts'
import { digestConversation, digestMessage } from './conversation-digests.ts'
import { marked, steeringIn } from './steer-messages.ts'
import type { ThreadHead } from './thread-head.ts'
import { markOf, type ThreadMessage, turnsIn } from './thread-message.ts'

/**
 * The index entry of a steering message: its digest, the same as for any user message, and the position of the message that contains it.
 */
export interface Steered {
  id: string
  own: string
  at: number
  sentAt: number
}

/** A turn of a thread: a message of the user, and its answer up to the next turn. */
export interface UserTurn {
  /** The digest of the user's message. */
  own: string
  /**
   * Digests of everything that user and assistant said up to the end of this turn, one for each way in which clients keep answers. By them,
   * the service finds the turn that the last message of a request follows.
   */
  found: string[]
  /** The position of the user's message in the thread. */
  at: number
  /** The time of the message, epoch milliseconds; 0 if the message came as part of a history and its time is unknown. */
  sentAt: number
  /** The id that the client gave the message. */
  id?: string
  /** The steering messages during the answer. */
  steered?: Steered[]
}

/** A turn of a request: a message of the user, its index, its answer, and the digests by which the turn is found. */
export type RequestTurn = ReturnType<typeof turnsIn>[number] & Pick<UserTurn, 'own' | 'found'>

export type Turns = ReturnType<typeof createTurns>

/** The number of characters of a digest in an id. */
const ID_DIGEST = 16
const madeId = (at: number, own: string) => `message-${at}-${own.slice(0, ID_DIGEST)}`

/**
 * Returns the turns of messages. `before` are the digests of the turn before them, and `from` is the position of the first message in the
 * thread.
 */
async function readTurns (
  messages: readonly ThreadMessage[],
  { before = [], from = 0, digest }: { before?: string[], from?: number, digest: Store['digest'] }
): Promise<UserTurn[]> {
  const turns: UserTurn[] = []
  for (const { at, message, answer } of turnsIn(messages)) {
    await yieldToEventLoop()
    const own = digestMessage(message, digest)
    const found = digestConversation(turns.at(-1)?.found ?? before, { own, answer }, digest)
    turns.push({ own, found, at: from + at, sentAt: 0, ...(typeof message.id === 'string' && { id: message.id }) })
  }
  return turns
}

/**
 * Marks those messages of a request that the thread knows as steering messages, because a client might send them back like any other user
 * message. The last message of a request is new and is not marked.
 */
function markSteering (turns: readonly UserTurn[], messages: ThreadMessage[], digest: Store['digest']): ThreadMessage[] {
  const byId = new Map(turns.flatMap(({ steered = [] }) => steered.map((each) => [each.id, each])))
  const users = messages.flatMap((message, at) => message.role === 'user' ? [{ message, at, own: digestMessage(message, digest) }] : [])
  if (users.slice(0, -1).every(({ own }, n) => turns[n]?.own === own)) return messages
  const result = [...messages]
  let next = 0
  let open: Steered[] = []
  for (const [n, { message, at, own }] of users.slice(0, -1).entries()) {
    if (markOf(message) !== undefined) continue
    const known = byId.get(message.id as string) ?? open.find((each) => each.own === own)
    const isTurn = turns[next]?.own === own
    // The same text can be both a turn and a steering message. Then the message after it decides.
    if (known !== undefined && !(isTurn && turns[next + 1]?.own === users[n + 1].own)) {
      open = open.filter((each) => each !== known)
      result[at] = marked(message, { id: known.id, state: 'read' })
      continue
    }
    const found = isTurn ? next : turns.findIndex((turn, each) => each >= next && turn.own === own)
    if (found === -1) break
    open = turns[found].steered ?? []
    next = found + 1
  }
  return result
}

type Place = Pick<ThreadHead, 'id' | 'turns' | 'messageCount'>

/** Stores the turns of threads, and the index by which requests find them. */
export function createTurns ({ list, digest }: Pick<Store, 'list' | 'digest'>) {
  /** Yields the turns of a thread with their numbers (`at`), the last first, including those of versions. `id` is the thread's. */
  async function * stored (id: string, range: { limit?: number, after?: string } = {}): AsyncGenerator<UserTurn> {
    const prefix = turnsPrefix(digest(id))
    for await (const [key, turn] of list<Omit<UserTurn, 'at'>>(prefix, { reverse: true, ...range })) {
      yield { ...turn, at: Number(key.slice(prefix.length)) }
    }
  }

  /** Returns the last `count` turns before a position. */
  async function lastTurns ({ id, messageCount }: Place, count: number, end = messageCount): Promise<UserTurn[]> {
    const turns: UserTurn[] = []
    if (count <= 0) return turns
    const after = turnKey(digest(id), Math.min(end, messageCount))
    for await (const turn of stored(id, { limit: count, after })) turns.push(turn)
    return turns.reverse()
  }
  /** Returns the turns from the `n`-th on. */
  const listFrom = (head: Place, n = 0) => lastTurns(head, head.turns - n)
  const keysOf = (id: string, { found }: Pick<UserTurn, 'found'>) => found.map((each) => foundKey(each, digest(id)))

  return {
    stored,
    list: listFrom,
    /** Returns the `n`-th turn; undefined if there is none. */
    get: async (head: Place, n: number): Promise<UserTurn | undefined> => (await listFrom(head, n))[0],
    /** Returns the turns of messages; see `readTurns`. */
    read: (messages: readonly ThreadMessage[], after: { before?: string[], from?: number } = {}) =>
      readTurns(messages, { ...after, digest }),
    /** Returns the digests by which a turn is found; see `digestConversation`. */
    follow: (before: readonly string[], own: string, answer: readonly ThreadMessage[]) =>
      digestConversation(before, { own, answer }, digest),
    markSteering: (turns: readonly UserTurn[], messages: ThreadMessage[]) => markSteering(turns, messages, digest),

    /** Returns the index entries of the steering messages in these messages. `from` is the position of the first message in the thread. */
    steeredIn: (messages: ThreadMessage[], from: number, sentAt: number): Steered[] =>
      messages.flatMap((message, n) =>
        steeringIn(message).map(({ id, text }) =>
          ({ id, own: digestMessage({ role: 'user', content: text }, digest), at: from + n, sentAt }))
      ),

    /** Returns one digest of the user's messages in all these turns, with the steering messages; '' if there are none. */
    wordsOf (turns: readonly UserTurn[]): string {
      const all = turns.flatMap(({ own, steered = [] }) => [own, ...steered.map((each) => each.own)])
      return all.length === 0 ? '' : digest(`words ${all.join(' ')}`)
    },

    messageId: (message: ThreadMessage, at: number): string => madeId(at, digestMessage(message, digest)),
    /** Returns the id of a turn's message: the client's id, else the same as `messageId`. */
    idOf: ({ id, at, own }: UserTurn): string => id ?? madeId(at, own),

    /**
     * Returns the operations that store a turn in place of `before`. If the service made the id of the thread, the turn is added to the
     * index by which requests without an id find their thread.
     */
    put ({ id, minted }: Pick<ThreadHead, 'id' | 'minted'>, { at, ...turn }: UserTurn, before?: UserTurn): Op[] {
      return [
        { type: 'put', key: turnKey(digest(id), at), value: turn },
        ...minted && before ? keysOf(id, before).map((key): Op => ({ type: 'del', key })) : [],
        ...minted ? keysOf(id, turn).map((key): Op => ({ type: 'put', key, value: {} })) : []
      ]
    },
    /** Returns the operations that remove turns from the index by which requests without an id find their thread. */
    lose: (id: string, turns: ReadonlyArray<Pick<UserTurn, 'found'>>): Op[] =>
      turns.flatMap((turn) => keysOf(id, turn)).map((key): Op => ({ type: 'del', key })),
    /** Returns the last turn at a position or before it; undefined if there is none. */
    lastUpTo: async (head: Place, position: number): Promise<UserTurn | undefined> => (await lastTurns(head, 1, position + 1))[0]
  }
}
