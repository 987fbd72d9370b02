import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { foundKey, type Op, type Store, turnKey, turnsPrefix } from '../store/index.ts'
import { digestConversation, digestMessage } from './conversation-digests.ts'
import { marked, steeringIn } from './steer-messages.ts'
import type { ThreadHead } from './thread-head.ts'
import { markOf, type ThreadMessage, turnsIn } from './thread-message.ts'

/** The index entry of what the user said to a run: its digest, as that of a message, and the position of the message that holds it. */
export interface Steered {
  id: string
  own: string
  at: number
  sentAt: number
}

/** A turn of a thread: a message of the user, and its answer up to the next one. */
export interface UserTurn {
  /** The digest of the user's message. */
  own: string
  /**
   * Digests of all that user and assistant said up to the end of this turn, one for each way in which clients keep answers. By them a
   * request finds the turn that its last message follows.
   */
  found: string[]
  /** The position of the user's message in the thread. */
  at: number
  /** The time of the message, epoch milliseconds; 0 if it came as part of a history, so that its time is unknown. */
  sentAt: number
  /** The id that the client gave the message. */
  id?: string
  /** What the user said while the answer was made. */
  steered?: Steered[]
}

/** A turn of a request: a message of the user, its index, its answer, and what the turn is found by. */
export type RequestTurn = ReturnType<typeof turnsIn>[number] & Pick<UserTurn, 'own' | 'found'>

/** What is stored under a digest of a conversation: the thread, and the number of the turn with which it ends. */
export interface FoundTurn {
  id: string
  turn: number
}

export type Turns = ReturnType<typeof createTurns>

/** Characters of a digest in an id. */
const ID_DIGEST = 16
const madeId = (at: number, own: string) => `message-${at}-${own.slice(0, ID_DIGEST)}`

/** Returns the turns of messages that follow a turn; `from` is the position of the first message in the thread. */
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
 * Marks the messages of a request that a thread of these turns holds as said to a run, which a client may send back as any other message of
 * the user. The last message of a request is a new one.
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
    // The same words may have been said twice; then the message behind them decides.
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

/** Stores the turns of threads, which are named by their digests, and the index by which requests find them. */
export function createTurns ({ get, list, digest }: Pick<Store, 'get' | 'list' | 'digest'>) {
  const getTurn = (thread: string, n: number) => get<UserTurn>(turnKey(thread, n))
  const keysOf = (thread: string, n: number, { found }: UserTurn) => [turnKey(thread, n), ...found.map((each) => foundKey(each, thread))]

  return {
    get: getTurn,
    /** Returns the turns of messages; see `readTurns`. */
    read: (messages: readonly ThreadMessage[], after: { before?: string[], from?: number } = {}) =>
      readTurns(messages, { ...after, digest }),
    /** Returns what a turn is found by; see `digestConversation`. */
    follow: (before: readonly string[], own: string, answer: readonly ThreadMessage[]) =>
      digestConversation(before, { own, answer }, digest),
    markSteering: (turns: readonly UserTurn[], messages: ThreadMessage[]) => markSteering(turns, messages, digest),

    /** Returns the turns from the `n`-th on. */
    async list (thread: string, n = 0): Promise<UserTurn[]> {
      const turns: UserTurn[] = []
      for await (const [, turn] of list<UserTurn>(turnsPrefix(thread), n > 0 ? { after: turnKey(thread, n - 1) } : {})) turns.push(turn)
      return turns
    },

    /** Returns what messages hold that the user said to runs; `from` is the position of the first message in the thread. */
    steeredIn: (messages: ThreadMessage[], from: number, sentAt: number): Steered[] =>
      messages.flatMap((message, n) =>
        steeringIn(message).map(({ id, text }) =>
          ({ id, own: digestMessage({ role: 'user', content: text }, digest), at: from + n, sentAt }))
      ),

    /** Returns the digest of the user's messages of turns; '' if there are none. */
    wordsOf: (turns: readonly UserTurn[]): string => turns.length === 0 ? '' : digest(`words ${turns.map(({ own }) => own).join(' ')}`),

    messageId: (message: ThreadMessage, at: number): string => madeId(at, digestMessage(message, digest)),
    /** Returns the id of a turn's message; the same as `messageId` if its client gave it none. */
    idOf: ({ id, at, own }: UserTurn): string => id ?? madeId(at, own),

    /** Returns the operations that store the `n`-th turn of a thread, and let requests without an id find it in place of `before`. */
    put ({ id, minted }: Pick<ThreadHead, 'id' | 'minted'>, n: number, turn: UserTurn, before?: UserTurn): Op[] {
      const [key, ...found] = keysOf(digest(id), n, turn)
      const gone = before === undefined ? [] : keysOf(digest(id), n, before).slice(1)
      const value: FoundTurn = { id, turn: n }
      return [
        { type: 'put', key, value: turn },
        ...minted ? gone.map((each): Op => ({ type: 'del', key: each })) : [],
        ...minted ? found.map((each): Op => ({ type: 'put', key: each, value })) : []
      ]
    },
    del: (id: string, n: number, turn: UserTurn): Op[] => keysOf(digest(id), n, turn).map((key): Op => ({ type: 'del', key })),

    /** Returns the last of the `count` turns that is at a position or before it; undefined if there is none. */
    async lastUpTo (thread: string, count: number, position: number): Promise<UserTurn | undefined> {
      let last: UserTurn | undefined
      for (let low = 0, high = count - 1; low <= high;) {
        const middle = (low + high) >> 1
        const turn = await getTurn(thread, middle)
        if (turn === undefined || turn.at > position) high = middle - 1
        else {
          last = turn
          low = middle + 1
        }
      }
      return last
    },

    /** Returns the position of the `n`-th turn; `length` if there is none. */
    async position (thread: string, n: number, { count, length }: { count: number, length: number }): Promise<number> {
      return n < count ? (await getTurn(thread, n))?.at ?? length : length
    }
  }
}
