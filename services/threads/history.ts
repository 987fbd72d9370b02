import { type Op, type Store, turnKey, turnsPrefix } from '../store/index.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { marked, steeringIn } from './steer-messages.ts'
import { beginsTurn, canonicalContent, markOf, type ThreadMessage } from './thread-message.ts'

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
interface Divergence {
  /** The number of turns that stay. */
  keep: number
  /** The index of the first new message of the request. */
  since: number
  /** See `UserTurn.seen`. */
  seen?: string
}

/** The number of turns at the end of a thread among which those of another tab are looked for. */
const NEWEST_TURNS = 1_000

export type HistoryMatch = ReturnType<typeof createHistoryMatch>

/** The fields of a request that the history match uses; see `RunBody`. */
export interface RequestMessages {
  messages: ThreadMessage[]
  trigger?: unknown
  messageId?: unknown
  /** The client is a chat, which may be open in several tabs. */
  isChat?: boolean
}

/** Characters of a digest in an id. */
const ID_DIGEST = 16
const madeId = (at: number, own: string) => `message-${at}-${own.slice(0, ID_DIGEST)}`

/** Stores the index of user messages and matches requests with it. Threads are named by their digests. */
export function createHistoryMatch (store: Pick<Store, 'get' | 'list' | 'digest'>) {
  const get = (thread: string, n: number) => store.get<UserTurn>(turnKey(thread, n))

  const chainOf = (chain: string, own: string) => store.digest(`chain ${chain} ${own}`)

  const digestOf = (message: ThreadMessage) => store.digest(`message ${canonicalContent(message)}`)
  const idOfTurn = ({ id, at, own }: UserTurn) => id ?? madeId(at, own)

  /** Caches the turns of whole requests, because each request is read more than once. */
  const cache = new WeakMap<ThreadMessage[], Promise<UserTurn[]>>()

  /** Returns the turns of messages that follow the turns with `chain`; `from` is the position of the first message in the thread. */
  function read (messages: ThreadMessage[], { chain = '', from = 0 }: { chain?: string, from?: number } = {}): Promise<UserTurn[]> {
    if (chain !== '' || from !== 0) return readUncached(messages, chain, from)
    const known = cache.get(messages) ?? readUncached(messages, chain, from)
    cache.set(messages, known)
    return known
  }

  async function readUncached (messages: ThreadMessage[], chain: string, from: number): Promise<UserTurn[]> {
    const turns: UserTurn[] = []
    for (const [n, message] of messages.entries()) {
      if (!beginsTurn(message)) continue
      await yieldToEventLoop()
      const own = digestOf(message)
      chain = chainOf(chain, own)
      turns.push({ own, chain, at: from + n, said: 0, ...(typeof message.id === 'string' && { id: message.id }) })
    }
    return turns
  }

  /** Returns how many turns the thread and the request have in common from the first on. The chains allow a binary search. */
  async function shared (thread: string, count: number, requestTurns: UserTurn[]): Promise<number> {
    const isShared = async (n: number) => n === 0 || (await get(thread, n - 1))?.chain === requestTurns[n - 1].chain
    let high = Math.min(count, requestTurns.length)
    // Fast path: most requests continue at the end of the thread.
    if (await isShared(Math.min(high, requestTurns.length - 1))) {
      return high === requestTurns.length && await isShared(high)
        ? high
        : Math.min(high, requestTurns.length - 1)
    }
    let low = 0
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (await isShared(middle)) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Returns the turns from the `n`-th on. */
  async function list (thread: string, n = 0): Promise<UserTurn[]> {
    const found: UserTurn[] = []
    for await (const [, turn] of store.list<UserTurn>(turnsPrefix(thread), n > 0 ? { after: turnKey(thread, n - 1) } : {})) found.push(turn)
    return found
  }

  /**
   * Finds the earlier messages of a request that contains only the newest messages of the thread. Returns the number of turns
   * of the thread up to and including the last of them; 0 if they are not in the thread.
   */
  async function windowEnd (thread: string, count: number, requestTurns: UserTurn[]): Promise<number> {
    const earlier = requestTurns.slice(0, -1)
    const first = Math.max(0, count - requestTurns.length)
    const storedTurns = await list(thread, first)
    for (let start = storedTurns.length - earlier.length; start >= 0; start--) {
      if (earlier.every(({ own }, n) => storedTurns[start + n].own === own)) return first + start + earlier.length
    }
    return 0
  }

  /** Returns what messages hold that the user said to runs; `from` is the position of the first message in the thread. */
  const steeredIn = (messages: ThreadMessage[], from: number, said: number): Steered[] =>
    messages.flatMap((message, n) =>
      steeringIn(message).map(({ id, text }) => ({ id, own: digestOf({ role: 'user', content: text }), at: from + n, said }))
    )

  /**
   * Marks the messages of a request that are in the thread as said to a run, which a client may send back as any other message of the
   * user. The last message of a request is a new one.
   */
  async function markSteering (thread: string, messages: ThreadMessage[]): Promise<ThreadMessage[]> {
    const turns = await list(thread)
    const byId = new Map(turns.flatMap(({ steered = [] }) => steered.map((each) => [each.id, each])))
    const users = messages.flatMap((message, at) => message.role === 'user' ? [{ message, at, own: digestOf(message) }] : [])
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

  return {
    read,
    steeredIn,
    markSteering,
    /** Returns the chain of turns with all that was said while their answers were made. */
    wholeChain: (turns: readonly UserTurn[]) =>
      turns.flatMap(({ own, steered = [] }) => [own, ...steered.map((each) => each.own)]).reduce(chainOf, ''),
    get,
    list,
    shared,
    windowEnd,
    messageId: (message: ThreadMessage, at: number): string => madeId(at, digestOf(message)),
    put: (thread: string, n: number, turn: UserTurn): Op => ({ type: 'put', key: turnKey(thread, n), value: turn }),
    del: (thread: string, n: number): Op => ({ type: 'del', key: turnKey(thread, n) }),

    /**
     * Finds where a request diverges from a thread of `count` turns and `length` messages. The history of a request is authoritative:
     * messages of the thread that it lacks are removed, as after an edit or before a regenerated answer, except what a chat lacks because
     * another tab said it. A single message removes nothing, unless it is a stored first message again (same id, or regenerated) or the
     * newest message, which still waits for its answer.
     */
    async findDivergence (
      thread: string,
      { count, length }: { count: number, length: number },
      { messages, trigger, messageId, isChat = false }: RequestMessages
    ): Promise<Divergence> {
      const requestTurns = await read(messages)
      const end = { keep: count, since: 0 }
      if (count === 0 || requestTurns.length === 0) return end
      const last = requestTurns.length - 1
      if (last === 0) {
        const [first, newest] = await Promise.all([get(thread, 0), get(thread, count - 1)])
        const { own, id, at } = requestTurns[0]
        const isSame = (turn: UserTurn) => id !== undefined ? idOfTurn(turn) === id : trigger === 'regenerate-message' && turn.own === own
        const isFirst = first !== undefined && isSame(first)
        if (isFirst) return { keep: 0, since: at }
        const isWaiting = newest?.own === own && newest.at === length - 1
        return { keep: isWaiting ? count - 1 : count, since: at }
      }
      const common = await shared(thread, count, requestTurns)
      // The last message of a request is always new: a repeated message is a new request.
      const keep = common > 0 ? Math.min(common, last) : await windowEnd(thread, count, requestTurns)
      if (keep === 0) return end
      if (isChat && keep < count) {
        const isPlain = trigger === 'submit-message' && !requestTurns.some(({ id }) => id !== undefined && id === messageId)
        const isGapless = common === 0 || common >= last
        const newest = await list(thread, Math.max(0, count - NEWEST_TURNS))
        const kept = keptOfOtherTabs(newest, requestTurns, { keep, count, isGapless, isPlain, chainOf })
        if (kept !== undefined) return { ...kept, since: requestTurns[last].at }
      }
      return { keep, since: requestTurns[common > 0 ? keep : last].at }
    },

    /** Returns the last of the `count` turns that is at a position or before it; undefined if there is none. */
    async lastUpTo (thread: string, count: number, position: number): Promise<UserTurn | undefined> {
      let found: UserTurn | undefined
      for (let low = 0, high = count - 1; low <= high;) {
        const middle = (low + high) >> 1
        const turn = await get(thread, middle)
        if (turn === undefined || turn.at > position) high = middle - 1
        else {
          found = turn
          low = middle + 1
        }
      }
      return found
    },

    /** Returns the position of the `n`-th turn; `length` if there is none. */
    async position (thread: string, n: number, { count, length }: { count: number, length: number }): Promise<number> {
      return n < count ? (await get(thread, n))?.at ?? length : length
    },

    /** Returns the chain of the first `n` turns; '' if `n` is 0 or the turn is missing. */
    chainAt: async (thread: string, n: number): Promise<string> => n === 0 ? '' : (await get(thread, n - 1))?.chain ?? ''
  }
}

/**
 * Finds which turns stay although a chat's request leaves them out, because another tab said them: its messages are a gapless part of the
 * thread, or of the thread as this chat knows it, which `seen` of its earlier turns tells. `newest` are the last turns of the thread.
 * Returns undefined if the request leaves them out on purpose, such as after an edit.
 */
function keptOfOtherTabs (
  newest: UserTurn[],
  requestTurns: UserTurn[],
  { keep, count, isGapless, isPlain, chainOf }: {
    /** The turns that the request and the thread have in common. */
    keep: number
    /** The turns of the thread. */
    count: number
    /** Whether the request's earlier messages are in the thread one after the other, up to these turns. */
    isGapless: boolean
    /** Whether the request says something new: it neither edits a message nor asks for another answer. */
    isPlain: boolean
    /** Returns the chain of a message that follows the messages of a chain. */
    chainOf: (chain: string, own: string) => string
  }
): Omit<Divergence, 'since'> | undefined {
  const said = requestTurns.at(-1)!
  const seen = requestTurns.at(-2)!.chain
  const isSame = (turn: UserTurn) => said.id === undefined || turn.id === undefined ? turn.own === said.own : turn.id === said.id
  // The chat's own turn again, edited or for another answer: what other tabs said before it stays.
  const again = newest.findIndex((turn) => turn.seen === seen && isSame(turn))
  if (again !== -1) return { keep: count - newest.length + again, seen }
  if (!isPlain) return undefined
  const own = newest.findLastIndex((turn) => turn.seen !== undefined && chainOf(turn.seen, turn.own) === seen)
  if (own === -1 && !isGapless) return undefined
  // A message that the thread has already is sent again: what followed it goes.
  const left = own === -1 ? newest.slice(Math.max(0, newest.length - (count - keep))) : newest.slice(own + 1)
  return left.some(isSame) ? undefined : { keep: count, seen }
}
