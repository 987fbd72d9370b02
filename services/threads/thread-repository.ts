import type { Clock } from '../lib/clock.ts'
import { PAGE_BYTES, jsonBytes } from '../http/pages.ts'
import { historyKey } from '../store/record-names.ts'
import type { Op, Store } from '../store/store-types.ts'
import { isDamage, unlessDamaged } from '../store/store-errors.ts'
import { ThreadDamaged } from './thread-errors.ts'
import {
  metadataKey,
  firstWords,
  foundPrefix,
  headKey,
  headOps,
  lastWords,
  listed,
  readKey,
  RECENT,
  summaryKey,
  UNREAD,
  unreadKey,
  type ThreadHead
} from './thread-head.ts'
import { tellings, type ThreadMessage } from './thread-message.ts'
import type { Summary } from '../models/compaction/items.ts'
import { createRecall } from './recall-answers.ts'
import { createHistoryMatch, type RequestMessages } from './history-match.ts'

export { partsOf, type ThreadMessage } from './thread-message.ts'

export type ThreadRepository = ReturnType<typeof createThreadRepository>

/**
 * How far a thread was looked through for facts, of how many messages of the user, as it was at `updatedAt`. `isPart`:
 * the user plays a part there.
 */
export interface ReadPosition {
  read: number
  turns: number
  updatedAt: number
  isPart?: boolean
}

/** Threads that hold the very same words, of which the newest is taken. */
const SAME_WORDS = 50

/**
 * Conversations as they were exchanged, message by message. Ids are callers' text, so the keys are digests. What
 * changes a thread gives operations, for whoever has the conversation to itself to commit with what belongs to them.
 */
export function createThreadRepository ({ store, clock }: { store: Store, clock: Clock }) {
  const turns = createHistoryMatch(store)
  const messageKey = (thread: string, seq: number) => historyKey('message', thread, seq)
  const tellDamage = (id: string) => (): never => {
    throw new ThreadDamaged(id)
  }
  const inWords = (id: string) => (error: unknown): never => {
    throw isDamage(error) ? new ThreadDamaged(id) : error
  }
  const get = (id: string) => store.get<ThreadHead>(headKey(store.digest(id))).catch(inWords(id))
  const sizeOf = ({ turns: count, messageCount: length }: ThreadHead) => ({ count, length })

  /** The messages from position `from` on, at most `limit`. */
  async function messages (id: string, { from = 0, limit }: { from?: number, limit?: number } = {}): Promise<ThreadMessage[]> {
    const thread = store.digest(id)
    const found: ThreadMessage[] = []
    const range = { limit, ...(from > 0 && { after: messageKey(thread, from - 1) }), damaged: tellDamage(id) }
    for await (const [, message] of store.list<ThreadMessage>(`message/${thread}/`, range)) found.push(message)
    return found
  }

  /** The messages and where they stand, the newest first: they are read as they are asked for. */
  async function * backwards (id: string): AsyncGenerator<{ at: number, message: ThreadMessage }> {
    const prefix = `message/${store.digest(id)}/`
    for await (const [key, message] of store.list<ThreadMessage>(prefix, { reverse: true, damaged: tellDamage(id) })) {
      yield { at: Number(key.slice(prefix.length)), message }
    }
  }

  /** The last messages before position `end`, at most `limit` and as many as a page holds; and where they begin. */
  async function lastMessages (
    id: string,
    { end, limit }: { end: number, limit: number }
  ): Promise<{ messages: ThreadMessage[], from: number }> {
    const thread = store.digest(id)
    const found: ThreadMessage[] = []
    let bytes = 0
    if (end > 0) {
      for await (
        const [, message] of store.list<ThreadMessage>(`message/${thread}/`, {
          reverse: true,
          after: messageKey(thread, end),
          damaged: tellDamage(id)
        })
      ) {
        bytes += jsonBytes(message)
        if (found.length > 0 && (found.length === limit || bytes > PAGE_BYTES)) break
        found.push(message)
      }
    }
    return { messages: found.reverse(), from: end - found.length }
  }

  /** The digests under which a thread is found that has said this much and was told that, or waits for its answer. */
  const foundUnder = (chain: string, told: string[] | 'waits') =>
    told === 'waits' ? [store.digest(`waits ${chain}`)] : told.map((text) => store.digest(`told ${chain} ${text}`))

  /**
   * The operations that make the thread hold `fresh` from position `from` on and nothing behind it, after its first
   * `keep` turns. `saidAt` is the time of each turn among them.
   */
  async function put (before: ThreadHead | undefined, thread: ThreadHead, { keep, from, fresh, saidAt }: {
    keep: number,
    from: number,
    fresh: ThreadMessage[],
    saidAt: (chain: string, isLast: boolean) => number
  }): Promise<Op[]> {
    const digest = store.digest(thread.id)
    const chain = await turns.chainAt(digest, keep)
    const newTurns = await turns.read(fresh, { chain, from })
    const isWhole = from === 0
    const after: ThreadHead = {
      ...thread,
      messageCount: from + fresh.length,
      turns: keep + newTurns.length,
      updatedAt: clock.now(),
      words: isWhole ? firstWords(fresh) : thread.words || firstWords(fresh),
      lastMessage: lastWords(fresh) || (isWhole ? '' : thread.lastMessage)
    }
    const last = newTurns.at(-1)?.chain ?? chain
    const isWaiting = fresh.length === 0 || fresh.at(-1)!.role === 'user'
    if (after.minted && after.turns > 0) after.found = foundUnder(last, isWaiting ? 'waits' : tellings(fresh))
    else delete after.found
    const ops: Op[] = fresh.map((value, at) => ({ type: 'put', key: messageKey(digest, from + at), value }))
    for (let seq = after.messageCount; seq < thread.messageCount; seq++) ops.push({ type: 'del', key: messageKey(digest, seq) })
    for (const [n, turn] of newTurns.entries()) {
      ops.push(turns.put(digest, keep + n, { ...turn, said: saidAt(turn.chain, n === newTurns.length - 1) }))
    }
    for (let n = after.turns; n < thread.turns; n++) ops.push(turns.del(digest, n))
    if (from < (before?.messageCount ?? 0)) ops.push(...await unplaced(digest, from))
    return [...ops, ...headOps(store, before, after)]
  }

  /** The operations after which no summary claims to stand for messages of the thread behind position `from`: they change. */
  async function unplaced (thread: string, from: number): Promise<Op[]> {
    const summaries = await unlessDamaged(store.get<Summary[]>(summaryKey(thread))) ?? []
    if (!summaries.some(({ at = 0 }) => at > from)) return []
    return [{
      type: 'put',
      key: summaryKey(thread),
      value: summaries.map(({ at, tokens, ...summary }) => at !== undefined && at <= from ? { ...summary, at, tokens } : summary)
    }]
  }

  const newHead = (id: string): ThreadHead => ({
    id,
    createdAt: clock.now(),
    updatedAt: 0,
    messageCount: 0,
    turns: 0,
    words: '',
    lastMessage: ''
  })

  return {
    get,
    messages,
    backwards,
    lastMessages,
    recall: createRecall({ store, turns, get, lastMessages }),

    /** The messages of the user from the `n`-th on: where they stand, and when they were said. */
    turns: (id: string, n = 0) => turns.list(store.digest(id), n),

    /**
     * Takes over what a request says of its conversation: messages that the thread has are left as they are, new ones are
     * added, and where the request's history says otherwise, what followed is gone (see `Turns.divergence`). A thread
     * whose id is `minted` for the request is one nobody has named. Resolves to the operations and to the place of the answer.
     */
    async appendRequest (id: string, said: RequestMessages, { minted = false } = {}): Promise<{ ops: Op[], answerAt: number }> {
      const before = await get(id)
      const { asked, minted: wasMinted, ...known } = before ?? newHead(id)
      const thread: ThreadHead = { ...known, ...(minted && (wasMinted ?? before === undefined) && { minted: true }) }
      const digest = store.digest(id)
      const { keep, since } = await turns.findDivergence(digest, sizeOf(thread), said)
      const from = await turns.position(digest, keep, sizeOf(thread))
      const fresh = said.messages.slice(since)
      const now = clock.now()
      // The same message again, as for another answer, was said when it was said.
      const again = keep < thread.turns ? await turns.get(digest, keep) : undefined
      const saidAt = (chain: string, isLast: boolean) => again?.chain === chain ? again.said : isLast ? now : 0
      const ops = await put(before, thread, { keep, from, fresh, saidAt })
      return { ops, answerAt: from + fresh.length }
    },

    /** Adds messages behind those that the thread has; as `take` does otherwise. */
    async append (id: string, fresh: ThreadMessage[]): Promise<{ ops: Op[], answerAt: number }> {
      const before = await get(id)
      const { asked, minted, ...thread } = before ?? newHead(id)
      const now = clock.now()
      const ops = await put(before, thread, {
        keep: thread.turns,
        from: thread.messageCount,
        fresh,
        saidAt: (_, isLast) => isLast ? now : 0
      })
      return { ops, answerAt: thread.messageCount + fresh.length }
    },

    /** The operations that put a run's answer in its place, with the approvals that it asks for. */
    async appendAnswer (id: string, at: number, answer: ThreadMessage[], { asked }: { asked?: string[] } = {}): Promise<Op[]> {
      const before = await get(id)
      const { asked: _, ...thread } = before ?? newHead(id)
      return put(before, { ...thread, ...(asked && { asked }) }, { keep: thread.turns, from: at, fresh: answer, saidAt: clock.now })
    },

    /** The operations that make a thread hold these messages, or make one that does. What it held before was said when it was. */
    async replace (id: string, fresh: ThreadMessage[]): Promise<Op[]> {
      const before = await get(id)
      const { asked, minted, ...thread } = before ?? newHead(id)
      const known = new Map((before ? await turns.list(store.digest(id)) : []).map(({ chain, said }) => [chain, said]))
      const now = clock.now()
      return put(before, thread, { keep: 0, from: 0, fresh, saidAt: (chain) => known.get(chain) ?? now })
    },

    /** The operations that remove a thread. */
    async remove (head: ThreadHead): Promise<Op[]> {
      const thread = store.digest(head.id)
      const ops: Op[] = []
      for (let seq = 0; seq < head.messageCount; seq++) ops.push({ type: 'del', key: messageKey(thread, seq) })
      for (let n = 0; n < head.turns; n++) ops.push(turns.del(thread, n))
      ops.push({ type: 'del', key: readKey(thread) }, { type: 'del', key: summaryKey(thread) })
      return [...ops, ...headOps(store, head, undefined)]
    },

    /** The operations that remove a thread, by its digest, whose head cannot be read: all that lies under its name. */
    async removeDamaged (thread: string): Promise<Op[]> {
      const keys = [headKey(thread), metadataKey(thread), readKey(thread), summaryKey(thread)]
      for (const prefix of [`message/${thread}/`, `turn/${thread}/`]) for await (const key of store.keys(prefix)) keys.push(key)
      for (const prefix of [RECENT, UNREAD, 'found/']) for await (const key of store.keys(prefix)) if (key.endsWith(thread)) keys.push(key)
      return keys.map((key) => ({ type: 'del', key }))
    },

    /** What stands for older messages of the thread before a model, each as long as those are what it was made of. */
    summaries: async (id: string): Promise<Summary[]> => await store.get<Summary[]>(summaryKey(store.digest(id))) ?? [],
    keepSummaries: (id: string, summaries: Summary[]): Promise<void> =>
      store.transact([{ type: 'put', key: summaryKey(store.digest(id)), value: summaries }]),

    /**
     * How many of the user's messages were looked through for facts, and as of when. Those that were changed since, or
     * follow one that was, count as not.
     */
    async unread (id: string): Promise<ReadPosition> {
      const thread = store.digest(id)
      const [head, read] = await Promise.all([get(id), store.get<{ turns: number, chain: string, isPart?: true }>(readKey(thread))])
      const isSame = read !== undefined && await turns.chainAt(thread, read.turns) === read.chain
      return {
        read: isSame ? read.turns : 0,
        turns: head?.turns ?? 0,
        updatedAt: head?.updatedAt ?? 0,
        ...(isSame && read.isPart && { isPart: true })
      }
    },

    /** Remembers that a thread was looked through as it was at `unread`. */
    async markRead (id: string, { turns: count, updatedAt, isPart }: ReadPosition): Promise<void> {
      const thread = store.digest(id)
      if (await get(id) === undefined) return
      await store.transact([
        {
          type: 'put',
          key: readKey(thread),
          value: { turns: count, chain: await turns.chainAt(thread, count), ...(isPart && { isPart: true }) }
        },
        { type: 'del', key: unreadKey(updatedAt, thread) }
      ])
    },

    /** The threads that were not looked through since they changed, with the time of that; the one that changed first comes first. */
    async * rested (signal: AbortSignal): AsyncGenerator<{ id: string, time: number }> {
      for await (const [key] of store.list(UNREAD, { signal, damaged () {} })) {
        const { time, thread } = listed(key)
        const head = await unlessDamaged(store.get<ThreadHead>(headKey(thread)))
        if (head !== undefined) yield { id: head.id, time }
      }
    },

    /**
     * The thread that a request without an id goes on with: one that no client has named, and that holds exactly what the
     * request's history says, the user's messages and the text of the last answer, or already its new message without an
     * answer. Of several that hold the very same the one that changed last; undefined when there is none that `isFree`.
     */
    async find (messages: ThreadMessage[], isFree: (id: string) => boolean): Promise<string | undefined> {
      const said = await turns.read(messages)
      if (said.length < 2 || messages.at(-1)!.role !== 'user') return undefined
      const history = messages.slice(0, said.at(-1)!.at)
      const keys = [...foundUnder(said.at(-2)!.chain, tellings(history).slice(0, 1)), ...foundUnder(said.at(-1)!.chain, 'waits')]
      for (const key of keys) {
        const same: Array<{ id: string, at: number }> = []
        for await (const [, found] of store.list<{ id: string, at: number }>(foundPrefix(key), { limit: SAME_WORDS, damaged () {} })) {
          same.push(found)
        }
        const newest = same.filter(({ id }) => isFree(id)).sort((a, b) => b.at - a.at)[0]
        if (newest !== undefined) return newest.id
      }
      return undefined
    }
  }
}
