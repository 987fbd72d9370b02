import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../lib/clock.ts'
import {
  FOUND,
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
import { isAnswer, marked, MAX_UNREAD, saidAgain, unreadIn } from './steer-messages.ts'
import { beginsTurn, dropTries, markOf, type ThreadMessage } from './thread-message.ts'
import type { Summary } from './compaction/items.ts'
import { createReadPositions } from './read-positions.ts'
import { findThread, placeRequest, type RequestMessages, type RequestPlace } from './place-request.ts'
import { createThreadReader } from './thread-reader.ts'
import { createTurns, type Steered, type UserTurn } from './turns.ts'
import { createMessageVersions, type StoredVersion, type VersionContent } from './message-versions.ts'
import { attachmentsIn, changeUses } from '../attachments/index.ts'
import { searchAgain, searchNoMore } from './search/due-threads.ts'

export type { ReadPosition } from './read-positions.ts'
export { partsOf, type ThreadMessage } from './thread-message.ts'

export type ThreadRepository = ReturnType<typeof createThreadRepository>

/** Returns which requests for approval of messages were not answered, and cannot be any more. */
type UnansweredIn = (messages: readonly ThreadMessage[]) => Promise<Unanswered>

/**
 * Stores conversations message by message. Clients choose thread ids freely, so the keys are digests. Methods that change a
 * thread return operations: the caller locks the conversation and commits them together with its own changes.
 */
export function createThreadRepository ({ store, clock }: { store: Store, clock: Clock }) {
  const turns = createTurns(store)
  const reader = createThreadReader(store)
  const { get, lastMessages } = reader
  const versions = createMessageVersions({ store, clock, turns, reader })
  const sizeOf = ({ turns: count, messageCount: length }: ThreadHead) => ({ count, length })

  /**
   * Returns the operations that replace the messages of the thread from position `from` on by `fresh`; the first `keep` turns
   * stay. `saidAt` returns the time of each turn in `fresh`, epoch milliseconds, 0 for unknown.
   */
  async function put (before: ThreadHead | undefined, thread: ThreadHead, { keep, from, fresh, saidAt, steeredAt = new Map() }: {
    keep: number,
    from: number,
    fresh: ThreadMessage[],
    saidAt: (turn: UserTurn, n: number) => number,
    steeredAt?: ReadonlyMap<string, number>
  }): Promise<Op[]> {
    const digest = store.digest(thread.id)
    const last = keep > 0 ? await turns.get(digest, keep - 1) : undefined
    const end = await turns.position(digest, keep, sizeOf(thread))
    const answered = last && { ...last, found: await foundOf(thread.id, last, { keep, from, fresh, isCut: from < end }) }
    const plainTurns = await turns.read(fresh, { before: answered?.found, from })
    const { kept, newTurns } = withSteering({ from, fresh, last: answered, plainTurns, steeredAt })
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
    const ops: Op[] = fresh.map((value, at) => ({ type: 'put', key: messageKey(digest, from + at), value }))
    for (let seq = after.messageCount; seq < thread.messageCount; seq++) ops.push({ type: 'del', key: messageKey(digest, seq) })
    const replaced = keep < thread.turns ? await turns.list(digest, keep) : []
    for (const [n, turn] of replaced.entries()) ops.push(...turns.del(thread.id, keep + n, turn))
    if (kept !== undefined && !isDeepStrictEqual(kept, last)) ops.push(...turns.put(thread, keep - 1, kept, last))
    for (const [n, turn] of newTurns.entries()) ops.push(...turns.put(thread, keep + n, { ...turn, sentAt: saidAt(turn, n) }))
    ops.push(searchAgain(digest, { from, removes: from < thread.messageCount }))
    const named = fresh.map(attachmentsIn)
    const isAppended = from >= (before?.messageCount ?? 0)
    if (!isAppended || named.some((digests) => digests.length > 0)) ops.push(...await changeUses(store, digest, { from, named }))
    if (!isAppended) ops.push(...await clearSummaryPositions(digest, from))
    return [...ops, ...headOps(store, before, after)]
  }

  /** Returns what the last turn that stays is found by, when its answer ends with `fresh`; as before if nothing of it changes. */
  async function foundOf (id: string, last: UserTurn, { keep, from, fresh, isCut }: {
    keep: number,
    from: number,
    fresh: ThreadMessage[],
    isCut: boolean
  }): Promise<string[]> {
    const next = fresh.findIndex(beginsTurn)
    const end = next === -1 ? fresh : fresh.slice(0, next)
    if (end.length === 0 && !isCut) return last.found
    const begin = last.at + 1
    const answer = from > begin ? await reader.messages(id, { from: begin, limit: from - begin }) : []
    const before = keep > 1 ? (await turns.get(store.digest(id), keep - 2))?.found : undefined
    return turns.follow(before ?? [], last.own, [...answer, ...end])
  }

  /**
   * Returns the new turns, and the last one that stays, with the index entries of what was said while their answers were made.
   * `steeredAt` returns its time, by its id.
   */
  function withSteering ({ from, fresh, last, plainTurns, steeredAt }: {
    from: number,
    fresh: ThreadMessage[],
    last: UserTurn | undefined,
    plainTurns: UserTurn[],
    steeredAt: ReadonlyMap<string, number>
  }): { kept?: UserTurn, newTurns: UserTurn[] } {
    const known = new Map([...steeredAt, ...(last?.steered ?? []).map(({ id, sentAt }) => [id, sentAt] as const)])
    const steered = turns.steeredIn(fresh, from, clock.now()).map((each) => ({ ...each, sentAt: known.get(each.id) ?? each.sentAt }))
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
    /** Finds the thread that a request without an id continues; see `findThread`. */
    find: (messages: ThreadMessage[], isFree: (id: string) => boolean) => findThread(messages, isFree, { store, turns }),

    /** Returns where a request goes on in its thread; see `placeRequest`. */
    place: async (id: string, request: RequestMessages) => placeRequest(await get(id), request, { store, turns, reader }),

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
      (await unlessDamaged(turns.lastUpTo(store.digest(id), count, at)))?.sentAt ?? 0,

    /** Returns the user's turns from the `n`-th on, with positions and times. */
    turns: (id: string, n = 0) => turns.list(store.digest(id), n),

    /**
     * Puts what a request brings into its thread, in the place that was found for it. `minted` says that the service made the id for this
     * request. Resolves to the operations and to the position of the answer.
     */
    async appendRequest (
      id: string,
      { keep, at, fresh }: RequestPlace,
      { minted = false } = {}
    ): Promise<{ ops: Op[], answerAt: number }> {
      const before = await get(id)
      const { asked, minted: wasMinted, ...known } = before ?? newHead(id)
      const thread: ThreadHead = { ...known, ...(minted && (wasMinted ?? before === undefined) && { minted: true }) }
      const digest = store.digest(id)
      const message = fresh.findLast(beginsTurn)
      const from = at - await saidAgainAt(id, thread, at, message)
      const now = clock.now()
      // A repeated message, such as for a regenerated answer, keeps its time.
      const repeated = keep < thread.turns ? await turns.get(digest, keep) : undefined
      const newest = fresh.filter(beginsTurn).length - 1
      const saidAt = ({ own }: UserTurn, n: number) => n === 0 && repeated?.own === own ? repeated.sentAt : n === newest ? now : 0
      const kept = await versions.keepReplaced(thread, { turn: keep, at }, message)
      return { ops: [...kept, ...await put(before, thread, { keep, from, fresh, saidAt })], answerAt: from + fresh.length }
    },

    /** Appends messages to the thread. Resolves to the operations and to the position of the answer. */
    async append (id: string, fresh: ThreadMessage[]): Promise<{ ops: Op[], answerAt: number }> {
      const before = await get(id)
      const { asked, minted, ...thread } = before ?? newHead(id)
      const now = clock.now()
      const from = thread.messageCount - await saidAgainAt(id, thread, thread.messageCount, fresh.at(-1))
      const ops = await put(before, thread, { keep: thread.turns, from, fresh, saidAt: () => now })
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
      const known = old.toReversed()
      const now = clock.now()
      const saidAt = ({ own }: UserTurn) => {
        const at = known.findLastIndex((turn) => turn.own === own)
        return at === -1 ? now : known.splice(at, 1)[0].sentAt
      }
      const steeredAt = new Map(old.flatMap(({ steered = [] }) => steered.map(({ id, sentAt }) => [id, sentAt] as const)))
      const standing = before ? await versions.keepStanding(store.digest(id), await turns.read(fresh)) : []
      return [...standing, ...await put(before, thread, { keep: 0, from: 0, fresh, saidAt, steeredAt })]
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
      const steeredAt = new Map(ofVersion.flatMap(({ steered = [] }) => steered.map(({ id, sentAt }) => [id, sentAt] as const)))
      const kept = await versions.exchange(head, version)
      const saidAt = (_: UserTurn, n: number) => ofVersion[n]?.sentAt ?? 0
      const back = { keep: version.turn, from: version.at, fresh: messages, saidAt, steeredAt }
      return [...kept, ...await put(head, thread, back)]
    },

    /** Returns the operations that remove a thread. */
    async remove (head: ThreadHead): Promise<Op[]> {
      const thread = store.digest(head.id)
      const ops: Op[] = []
      for (let seq = 0; seq < head.messageCount; seq++) ops.push({ type: 'del', key: messageKey(thread, seq) })
      for (const [n, turn] of (await turns.list(thread)).entries()) ops.push(...turns.del(head.id, n, turn))
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
      store.transact([{ type: 'put', key: summaryKey(store.digest(id)), value: summaries }])
  }
}
