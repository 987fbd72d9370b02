import type { Clock } from '../lib/clock.ts'
import {
  FOUND,
  foundPrefix,
  messageKey,
  messagesPrefix,
  metadataKey,
  type Op,
  readKey,
  RECENT,
  type Store,
  summaryKey,
  threadMemoryKey,
  threadKey,
  turnsPrefix,
  unlessDamaged,
  UNREAD
} from '../store/index.ts'
import { firstWords, headOps, lastWords, type ThreadHead } from './thread-head.ts'
import { idOf } from './rendering/as-chat.ts'
import { chatFormOf } from './rendering/chat-form.ts'
import { continuesAnswer } from './rendering/answer-units.ts'
import { keepStored } from './rendering/render.ts'
import { NONE_UNANSWERED, type Unanswered } from './rendering/unanswered.ts'
import { isAnswer, marked, MAX_UNREAD, saidAgain, unmarked, unreadIn } from './steer-messages.ts'
import { answerTexts, beginsTurn, dropTries, markOf, type ThreadMessage } from './thread-message.ts'
import type { Summary } from './compaction/items.ts'
import { createReadPositions } from './read-positions.ts'
import { createRecall } from './recall-answers.ts'
import { createThreadReader } from './thread-reader.ts'
import { createHistoryMatch, type RequestMessages, type Steered, type UserTurn } from './history.ts'
import { createMessageVersions, type StoredVersion, type VersionContent } from './message-versions.ts'
import { attachmentsIn, changeUses } from '../attachments/index.ts'
import { searchAgain, searchNoMore } from './search/due-threads.ts'

export type { ReadPosition } from './read-positions.ts'
export { partsOf, type ThreadMessage } from './thread-message.ts'

export type ThreadRepository = ReturnType<typeof createThreadRepository>

/** Returns which requests for approval of messages were not answered, and cannot be any more. */
type UnansweredIn = (messages: readonly ThreadMessage[]) => Promise<Unanswered>

/** The number of threads with the same content that are compared; the newest is taken. */
const MAX_CANDIDATES = 50

/**
 * Stores conversations message by message. Clients choose thread ids freely, so the keys are digests. Methods that change a
 * thread return operations: the caller locks the conversation and commits them together with its own changes.
 */
export function createThreadRepository ({ store, clock }: { store: Store, clock: Clock }) {
  const turns = createHistoryMatch(store)
  const reader = createThreadReader(store)
  const { get, lastMessages } = reader
  const versions = createMessageVersions({ store, clock, turns, reader })
  const sizeOf = ({ turns: count, messageCount: length }: ThreadHead) => ({ count, length })

  /** Returns the digests that identify a thread by its user messages and the text of its last answer, or as waiting for an answer. */
  const contentDigests = (chain: string, answers: string[] | 'waits') =>
    answers === 'waits' ? [store.digest(`waits ${chain}`)] : answers.map((text) => store.digest(`told ${chain} ${text}`))

  /**
   * Returns the operations that replace the messages of the thread from position `from` on by `fresh`; the first `keep` turns
   * stay. `saidAt` returns the time of each turn in `fresh`, epoch milliseconds, 0 for unknown.
   */
  async function put (before: ThreadHead | undefined, thread: ThreadHead, { keep, from, fresh, saidAt, seen, steeredAt }: {
    keep: number,
    from: number,
    fresh: ThreadMessage[],
    steeredAt?: ReadonlyMap<string, number>,
    saidAt: (chain: string, isLast: boolean) => number,
    seen?: string
  }): Promise<Op[]> {
    const digest = store.digest(thread.id)
    const chain = await turns.chainAt(digest, keep)
    const plainTurns = await turns.read(fresh, { chain, from })
    const { kept, newTurns } = await withSteering(digest, { keep, from, fresh, isSteered: thread.steered, plainTurns, steeredAt })
    const isSteered = thread.steered ?? [kept, ...newTurns].some((turn) => turn?.steered !== undefined)
    const isWhole = from === 0
    const after: ThreadHead = {
      ...thread,
      messageCount: from + fresh.length,
      turns: keep + newTurns.length,
      updatedAt: clock.now(),
      words: isWhole ? firstWords(fresh) : thread.words || firstWords(fresh),
      lastMessage: lastWords(fresh) || (isWhole ? '' : thread.lastMessage),
      ...(isSteered && { steered: true })
    }
    const last = newTurns.at(-1)?.chain ?? chain
    const digestsOf = (chain: string, messages: ThreadMessage[]) =>
      contentDigests(chain, messages.length === 0 || beginsTurn(messages.at(-1)!) ? 'waits' : answerTexts(messages))
    if (after.minted && after.turns > 0) after.found = digestsOf(last, fresh)
    else delete after.found
    if (after.found !== undefined && isSteered) {
      // A client may send back what was said to a run as any other message of the user.
      const all = [...(await turns.list(digest)).slice(0, Math.max(keep - 1, 0)), ...kept ? [kept] : [], ...newTurns]
      after.found = [...new Set([...after.found, ...digestsOf(turns.wholeChain(all), fresh.map(unmarked))])]
    }
    const ops: Op[] = fresh.map((value, at) => ({ type: 'put', key: messageKey(digest, from + at), value }))
    for (let seq = after.messageCount; seq < thread.messageCount; seq++) ops.push({ type: 'del', key: messageKey(digest, seq) })
    if (kept !== undefined) ops.push(turns.put(digest, keep - 1, kept))
    for (const [n, turn] of newTurns.entries()) {
      const isLast = n === newTurns.length - 1
      ops.push(turns.put(digest, keep + n, { ...turn, said: saidAt(turn.chain, isLast), ...(isLast && seen !== undefined && { seen }) }))
    }
    for (let n = after.turns; n < thread.turns; n++) ops.push(turns.del(digest, n))
    ops.push(searchAgain(digest, { from, removes: from < thread.messageCount }))
    const named = fresh.map(attachmentsIn)
    const isAppended = from >= (before?.messageCount ?? 0)
    if (!isAppended || named.some((digests) => digests.length > 0)) ops.push(...await changeUses(store, digest, { from, named }))
    if (!isAppended) ops.push(...await clearSummaryPositions(digest, from))
    return [...ops, ...headOps(store, before, after)]
  }

  /**
   * Returns the new turns, and the last one that stays, with the index entries of what was said while their answers were made.
   * `steeredAt` returns its time, by its id.
   */
  async function withSteering (thread: string, { keep, from, fresh, isSteered, plainTurns, steeredAt = new Map() }: {
    keep: number,
    from: number,
    fresh: ThreadMessage[],
    isSteered: true | undefined,
    plainTurns: UserTurn[],
    steeredAt?: ReadonlyMap<string, number>
  }): Promise<{ kept?: UserTurn, newTurns: UserTurn[] }> {
    const found = turns.steeredIn(fresh, from, clock.now())
    if (found.length === 0 && !isSteered) return { newTurns: plainTurns }
    const last = keep > 0 ? await turns.get(thread, keep - 1) : undefined
    const known = new Map([...steeredAt, ...(last?.steered ?? []).map(({ id, said }) => [id, said] as const)])
    const steered = found.map((each) => ({ ...each, said: known.get(each.id) ?? each.said }))
    const between = (start: number, end = Infinity) => steered.filter(({ at }) => at >= start && at < end)
    const withThese = ({ steered: _, ...turn }: UserTurn, these: Steered[]) => ({ ...turn, ...(these.length > 0 && { steered: these }) })
    const before = (last?.steered ?? []).filter(({ at }) => at < from)
    return {
      ...(last && { kept: withThese(last, [...before, ...between(from, plainTurns[0]?.at)]) }),
      newTurns: plainTurns.map((turn, n) => withThese(turn, between(turn.at, plainTurns[n + 1]?.at)))
    }
  }

  /** Returns how many messages before position `from` are unread, and said again by the message. */
  async function saidAgainAt (id: string, { steered }: ThreadHead, from: number, message: ThreadMessage | undefined): Promise<number> {
    if (!steered || message === undefined) return 0
    return saidAgain((await lastMessages(id, { end: from, limit: MAX_UNREAD })).messages, message)
  }

  /** Returns the operations that call read what the model of an answer got with the conversation. */
  async function markRead ({ id, steered }: ThreadHead, at: number, answer: ThreadMessage[]): Promise<Op[]> {
    if (!steered || !answer.some(isAnswer)) return []
    const { messages, from } = await lastMessages(id, { end: at, limit: 2 * MAX_UNREAD })
    return unreadIn(messages).map((n) => {
      const { id: said } = markOf(messages[n])!
      return { type: 'put', key: messageKey(store.digest(id), from + n), value: marked(messages[n], { id: said, state: 'read' }) }
    })
  }

  /** Returns the operations that remove the positions from summaries of messages behind position `from`, because those messages change. */
  async function clearSummaryPositions (thread: string, from: number): Promise<Op[]> {
    const summaries = await unlessDamaged(store.get<Summary[]>(summaryKey(thread))) ?? []
    if (!summaries.some(({ at = 0 }) => at > from)) return []
    return [{
      type: 'put',
      key: summaryKey(thread),
      value: summaries.map(({ at, tokens, ...summary }) => at !== undefined && at <= from ? { ...summary, at, tokens } : summary)
    }]
  }

  /** Returns the messages of a thread as they would be stored of what a client puts into it, and whether they are what it holds. */
  async function readGiven (
    id: string,
    given: ThreadMessage[],
    unansweredIn: UnansweredIn = async () => NONE_UNANSWERED
  ): Promise<{ fresh: ThreadMessage[], isSame: boolean }> {
    const stored = given.length === 0 ? [] : await reader.messages(id)
    const rendering = { idAt: turns.messageId, unanswered: await unansweredIn(stored) }
    const fresh = await keepStored(given.map(dropTries), stored, rendering)
    return { fresh, isSame: fresh.length === stored.length && fresh.every((message, at) => message === stored[at]) }
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
    ...reader,
    ...createReadPositions({ store, turns, get }),
    recall: createRecall({ store, turns, get, lastMessages }),

    /** Returns the id of a message without one of its own; the same as long as it stays the same and in its place. */
    messageId: turns.messageId,

    /** Returns the id that a message of the thread has in chats; a damaged message before it counts as none of its answer. */
    async shownId (id: string, at: number, message: ThreadMessage): Promise<string> {
      let first = message
      for (; at > 0; at--) {
        const [before] = await unlessDamaged(reader.messages(id, { from: at - 1, limit: 1 })) ?? []
        if (before === undefined || !continuesAnswer(before, first)) break
        first = before
      }
      return idOf(first) ?? chatFormOf(first)?.id ?? turns.messageId(first, at)
    },

    /** Returns when the user said the message at a position, or the one before it; 0 for unknown. Milliseconds since the Unix epoch. */
    saidAt: async ({ id, turns: count }: ThreadHead, at: number): Promise<number> =>
      (await unlessDamaged(turns.lastUpTo(store.digest(id), count, at)))?.said ?? 0,

    /** Returns the user's turns from the `n`-th on, with positions and times. */
    turns: (id: string, n = 0) => turns.list(store.digest(id), n),

    /**
     * Merges a request into its thread: known messages stay, new ones are appended, and from the point where the request's
     * history diverges, later messages are removed (see `findDivergence`). `minted` says that the service made the id for this
     * request. Resolves to the operations, to the position of the answer and to whether the request holds the whole thread.
     */
    async appendRequest (
      id: string,
      request: RequestMessages,
      { minted = false } = {}
    ): Promise<{ ops: Op[], answerAt: number, isWhole: boolean }> {
      const before = await get(id)
      const { asked, minted: wasMinted, ...known } = before ?? newHead(id)
      const thread: ThreadHead = { ...known, ...(minted && (wasMinted ?? before === undefined) && { minted: true }) }
      const digest = store.digest(id)
      const { keep, since, seen } = await turns.findDivergence(digest, sizeOf(thread), request)
      const position = await turns.position(digest, keep, sizeOf(thread))
      const from = position - await saidAgainAt(id, thread, position, request.messages.at(-1))
      const fresh = request.messages.slice(since)
      const now = clock.now()
      // A repeated message, such as for a regenerated answer, keeps its time.
      const repeated = keep < thread.turns ? await turns.get(digest, keep) : undefined
      const saidAt = (chain: string, isLast: boolean) => repeated?.chain === chain ? repeated.said : isLast ? now : 0
      const kept = await versions.keepReplaced(thread, { turn: keep, at: position }, request.messages.at(-1))
      const ops = [...kept, ...await put(before, thread, { keep, from, fresh, saidAt, seen })]
      const answerAt = from + fresh.length
      return { ops, answerAt, isWhole: seen === undefined && answerAt === request.messages.length }
    },

    /** Appends messages to the thread. Resolves to the operations and to the position of the answer. */
    async append (id: string, fresh: ThreadMessage[]): Promise<{ ops: Op[], answerAt: number }> {
      const before = await get(id)
      const { asked, minted, ...thread } = before ?? newHead(id)
      const now = clock.now()
      const from = thread.messageCount - await saidAgainAt(id, thread, thread.messageCount, fresh.at(-1))
      const ops = await put(before, thread, { keep: thread.turns, from, fresh, saidAt: (_, isLast) => isLast ? now : 0 })
      return { ops, answerAt: from + fresh.length }
    },

    /** Returns the operations that store a run's answer at its position, with the approvals that it requests. */
    async appendAnswer (id: string, at: number, answer: ThreadMessage[], { asked }: { asked?: string[] } = {}): Promise<Op[]> {
      const before = await get(id)
      const { asked: _, ...thread } = before ?? newHead(id)
      const after = { ...thread, ...(asked && { asked }) }
      const ops = await put(before, after, { keep: thread.turns, from: at, fresh: answer, saidAt: clock.now })
      return [...await markRead(thread, at, answer), ...ops]
    },

    /** Whether these messages, as a client has read them in any protocol, are those of the thread. */
    holds: async (id: string, given: ThreadMessage[], unansweredIn?: UnansweredIn): Promise<boolean> =>
      given.length > 0 && (await readGiven(id, given, unansweredIn)).isSame,

    /**
     * Returns the operations that replace the messages of a thread, or create it. What a client has read and left as it was stays as it is
     * stored, and known user messages keep their times.
     */
    async replace (id: string, given: ThreadMessage[], unansweredIn?: UnansweredIn): Promise<Op[]> {
      const before = await get(id)
      const { fresh } = await readGiven(id, given, unansweredIn)
      const { asked, minted, ...thread } = before ?? newHead(id)
      const old = before ? await turns.list(store.digest(id)) : []
      const known = new Map(old.map(({ chain, said }) => [chain, said]))
      const steeredAt = new Map(old.flatMap(({ steered = [] }) => steered.map(({ id, said }) => [id, said] as const)))
      const now = clock.now()
      const standing = before ? await versions.keepStanding(store.digest(id), await turns.read(fresh)) : []
      return [...standing, ...await put(before, thread, { keep: 0, from: 0, fresh, saidAt: (chain) => known.get(chain) ?? now, steeredAt })]
    },

    versions: versions.list,
    versionContent: versions.content,

    /** Returns the operations that take a thread back to a version, in whose place goes what the thread has now. */
    async goBack (
      head: ThreadHead,
      version: StoredVersion & { at: number },
      { messages, turns: ofVersion }: VersionContent
    ): Promise<Op[]> {
      const { asked, minted, ...thread } = head
      const said = new Map(ofVersion.map((turn) => [turn.chain, turn.said]))
      const steeredAt = new Map(ofVersion.flatMap(({ steered = [] }) => steered.map(({ id, said }) => [id, said] as const)))
      const kept = await versions.exchange(head, version)
      const back = { keep: version.turn, from: version.at, fresh: messages, saidAt: (chain: string) => said.get(chain) ?? 0, steeredAt }
      return [...kept, ...await put(head, thread, back)]
    },

    /** Returns the operations that remove a thread. */
    async remove (head: ThreadHead): Promise<Op[]> {
      const thread = store.digest(head.id)
      const ops: Op[] = []
      for (let seq = 0; seq < head.messageCount; seq++) ops.push({ type: 'del', key: messageKey(thread, seq) })
      for (let n = 0; n < head.turns; n++) ops.push(turns.del(thread, n))
      ops.push(...await searchNoMore(store, thread))
      ops.push(...await versions.removeAll(thread))
      ops.push(...[readKey, summaryKey, threadMemoryKey].map((key): Op => ({ type: 'del', key: key(thread) })))
      ops.push(...await changeUses(store, thread, { from: 0, named: [] }))
      return [...ops, ...headOps(store, head, undefined)]
    },

    /** Returns the operations that remove a thread with an unreadable head: all records under its digest. */
    async removeDamaged (thread: string): Promise<Op[]> {
      const keys = [threadKey(thread), metadataKey(thread), readKey(thread), summaryKey(thread), threadMemoryKey(thread)]
      const prefixes = [messagesPrefix, turnsPrefix]
      for (const prefix of prefixes.map((of) => of(thread))) for await (const key of store.keys(prefix)) keys.push(key)
      for (const prefix of [RECENT, UNREAD, FOUND]) for await (const key of store.keys(prefix)) if (key.endsWith(thread)) keys.push(key)
      const ofVersions = await versions.removeAll(thread)
      const others = [...await searchNoMore(store, thread), ...await changeUses(store, thread, { from: 0, named: [] })]
      return [...keys.map((key): Op => ({ type: 'del', key })), ...ofVersions, ...others]
    },

    /** Reads the summaries of older messages. A summary is valid only while the messages that it was made of are unchanged. */
    summaries: async (id: string): Promise<Summary[]> => await store.get<Summary[]>(summaryKey(store.digest(id))) ?? [],
    keepSummaries: (id: string, summaries: Summary[]): Promise<void> =>
      store.transact([{ type: 'put', key: summaryKey(store.digest(id)), value: summaries }]),

    /**
     * Finds the thread that a request without an id continues: its id was made by the service, and it contains exactly the
     * user messages of the request's history with the text of the last answer, or already the new message without an answer.
     * Returns the one that changed last among those that are `isFree`; undefined if there is none.
     */
    async find (messages: ThreadMessage[], isFree: (id: string) => boolean): Promise<string | undefined> {
      const userTurns = await turns.read(messages)
      if (userTurns.length < 2 || messages.at(-1)!.role !== 'user') return undefined
      const history = messages.slice(0, userTurns.at(-1)!.at)
      const keys = [
        ...contentDigests(userTurns.at(-2)!.chain, answerTexts(history).slice(0, 1)),
        ...contentDigests(userTurns.at(-1)!.chain, 'waits')
      ]
      for (const key of keys) {
        const same: Array<{ id: string, at: number }> = []
        for await (const [, found] of store.list<{ id: string, at: number }>(foundPrefix(key), { limit: MAX_CANDIDATES, damaged () {} })) {
          same.push(found)
        }
        const newest = same.filter(({ id }) => isFree(id)).sort((a, b) => b.at - a.at)[0]
        if (newest !== undefined) return newest.id
      }
      return undefined
    }
  }
}
