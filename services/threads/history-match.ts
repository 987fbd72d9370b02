import type { Op, Store } from '../store/store-types.ts'
import { historyKey } from '../store/record-names.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { essence, type ThreadMessage } from './thread-message.ts'

/**
 * One message of the user in a thread, beside the message itself: enough to tell where a request leaves the thread
 * without reading what was said.
 */
export interface UserTurn {
  /** Digest of this message. */
  own: string
  /** Digest of this and every earlier message of the user: two conversations with one `chain` said the same up to here. */
  chain: string
  /** Where the message stands in the thread. */
  at: number
  /** When the user said it; 0 when it came as history, said at some time nobody knows. */
  said: number
  /** The id its client gave the message. */
  id?: string
}

export type HistoryMatch = ReturnType<typeof createHistoryMatch>

/** What a request lets the thread know of itself; see `RunBody`. */
export interface RequestMessages {
  messages: ThreadMessage[]
  trigger?: unknown
}

/** The user's messages of threads. Threads are named by their digests. */
export function createHistoryMatch (store: Pick<Store, 'get' | 'list' | 'digest'>) {
  const key = (thread: string, n: number) => historyKey('turn', thread, n)
  const get = (thread: string, n: number) => store.get<UserTurn>(key(thread, n))

  /** What was read of whole requests: each is asked for more than once. */
  const whole = new WeakMap<ThreadMessage[], Promise<UserTurn[]>>()

  /** The turns that messages make after those with `chain`; `from` is where the first message stands in the thread. */
  function read (messages: ThreadMessage[], { chain = '', from = 0 }: { chain?: string, from?: number } = {}): Promise<UserTurn[]> {
    if (chain !== '' || from !== 0) return readAnew(messages, chain, from)
    const known = whole.get(messages) ?? readAnew(messages, chain, from)
    whole.set(messages, known)
    return known
  }

  async function readAnew (messages: ThreadMessage[], chain: string, from: number): Promise<UserTurn[]> {
    const turns: UserTurn[] = []
    for (const [n, message] of messages.entries()) {
      if (message.role !== 'user') continue
      await yieldToEventLoop()
      const own = store.digest(`message ${essence(message)}`)
      chain = store.digest(`chain ${chain} ${own}`)
      turns.push({ own, chain, at: from + n, said: 0, ...(typeof message.id === 'string' && { id: message.id }) })
    }
    return turns
  }

  /** How many turns the thread and `theirs` have in common from the first on: `chain` makes that a bisection. */
  async function shared (thread: string, count: number, theirs: UserTurn[]): Promise<number> {
    const isShared = async (n: number) => n === 0 || (await get(thread, n - 1))?.chain === theirs[n - 1].chain
    let high = Math.min(count, theirs.length)
    // What most requests do: go on where the thread ends.
    if (await isShared(Math.min(high, theirs.length - 1))) {
      return high === theirs.length && await isShared(high)
        ? high
        : Math.min(high, theirs.length - 1)
    }
    let low = 0
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (await isShared(middle)) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The turns from the `n`-th on. */
  async function list (thread: string, n = 0): Promise<UserTurn[]> {
    const found: UserTurn[] = []
    for await (const [, turn] of store.list<UserTurn>(`turn/${thread}/`, n > 0 ? { after: key(thread, n - 1) } : {})) found.push(turn)
    return found
  }

  /** Where the earlier messages of a client that keeps only the newest ones stand in the thread: after which turn the last is said; 0 when nowhere. */
  async function windowEnd (thread: string, count: number, theirs: UserTurn[]): Promise<number> {
    const earlier = theirs.slice(0, -1)
    const first = Math.max(0, count - theirs.length)
    const ours = await list(thread, first)
    for (let start = ours.length - earlier.length; start >= 0; start--) {
      if (earlier.every(({ own }, n) => ours[start + n].own === own)) return first + start + earlier.length
    }
    return 0
  }

  return {
    read,
    get,
    list,
    shared,
    windowEnd,
    put: (thread: string, n: number, turn: UserTurn): Op => ({ type: 'put', key: key(thread, n), value: turn }),
    del: (thread: string, n: number): Op => ({ type: 'del', key: key(thread, n) }),

    /**
     * Where a request leaves a thread of `count` turns and `length` messages: how many turns stay, and which message of
     * the request is the first new one. A client that sends its history says by it what the conversation is, so what it
     * does not hold is gone: an edited message, an answer to be given again. A lone message says nothing of what was
     * before and takes nothing away, unless it is the same message again, by its id, or still waits for its answer.
     */
    async findDivergence (
      thread: string,
      { count, length }: { count: number, length: number },
      { messages, trigger }: RequestMessages
    ): Promise<{ keep: number, since: number }> {
      const theirs = await read(messages)
      const end = { keep: count, since: 0 }
      if (count === 0 || theirs.length === 0) return end
      const last = theirs.length - 1
      if (last === 0) {
        const [first, newest] = await Promise.all([get(thread, 0), get(thread, count - 1)])
        const { own, id, at } = theirs[0]
        const isFirst = first !== undefined && (id !== undefined ? first.id === id : trigger === 'regenerate-message' && first.own === own)
        if (isFirst) return { keep: 0, since: at }
        const isWaiting = newest?.own === own && newest.at === length - 1
        return { keep: isWaiting ? count - 1 : count, since: at }
      }
      const common = await shared(thread, count, theirs)
      // The last message of a request is always new: a user who says the same again wants it done again.
      const keep = common > 0 ? Math.min(common, last) : await windowEnd(thread, count, theirs)
      if (keep === 0) return end
      return { keep, since: theirs[common > 0 ? keep : last].at }
    },

    /** Where the `n`-th turn stands; `length` when there is none. */
    async position (thread: string, n: number, { count, length }: { count: number, length: number }): Promise<number> {
      return n < count ? (await get(thread, n))?.at ?? length : length
    },

    chainAt: async (thread: string, n: number): Promise<string> => n === 0 ? '' : (await get(thread, n - 1))?.chain ?? ''
  }
}
