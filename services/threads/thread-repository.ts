import { changeUses } from '../attachments/index.ts'
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
  UNREAD,
  versionsPrefix
} from '../store/index.ts'
import { headOps, type ThreadHead } from './thread-head.ts'
import { idOf } from './rendering/as-chat.ts'
import { continuesAnswer } from './rendering/answer-units.ts'
import { keepStored } from './rendering/render.ts'
import { NONE_UNANSWERED, type Unanswered } from './rendering/unanswered.ts'
import { type ReadAnswer, runsOfAnswer } from './stored-answer.ts'
import { isAnswer, marked, MAX_UNREAD, saidAgain, unreadIn } from './steer-messages.ts'
import { beginsTurn, dropTries, markOf, type ThreadMessage } from './thread-message.ts'
import type { Summary } from './compaction/items.ts'
import { createReadPositions } from './read-positions.ts'
import { findThread, placeRequest, type RequestMessages, type RequestPlace } from './place-request.ts'
import { createThreadReader } from './thread-reader.ts'
import { createTurns, type UserTurn } from './turns.ts'
import { currentVersions, spanOf, type Version } from './replaced-turns.ts'
import { goBack, writeMessages } from './write-messages.ts'
import { searchNoMore } from './search/due-threads.ts'

export { partsOf, type ThreadMessage } from './thread-message.ts'

export type ThreadRepository = ReturnType<typeof createThreadRepository>

/** Returns the approval requests in messages that were not answered and cannot be answered any more. */
type UnansweredIn = (messages: readonly ThreadMessage[]) => Promise<Unanswered>

/**
 * Stores conversations message by message. Clients choose thread ids freely, so the store keys are digests of them. Methods that change a
 * thread return operations. The caller locks the conversation and commits the operations together with its own changes.
 */
export function createThreadRepository ({ store, clock, readAnswer }: { store: Store, clock: Clock, readAnswer: ReadAnswer }) {
  const turns = createTurns(store)
  const reader = createThreadReader(store, readAnswer)
  const { get, lastMessages } = reader
  const parts = { store, clock, turns, reader }

  /** Returns how many unread steering messages directly before position `from` the message repeats. */
  async function saidAgainAt (id: string, { steered }: ThreadHead, from: number, message: ThreadMessage | undefined): Promise<number> {
    if (!steered || message === undefined) return 0
    return saidAgain((await lastMessages(id, { end: from, limit: MAX_UNREAD })).messages, message)
  }

  /** Whether a message replaces a turn. False if the turn has no answer yet and the message repeats it. */
  async function isReplaced (
    { messageCount }: ThreadHead,
    turn: UserTurn | undefined,
    message: ThreadMessage | undefined
  ): Promise<boolean> {
    if (turn === undefined || message === undefined) return false
    return turn.at !== messageCount - 1 || (await turns.read([message]))[0].own !== turn.own
  }

  /**
   * Returns the operations that mark unread steering messages before an answer as read, because the model got them with the conversation.
   */
  async function markRead (thread: ThreadHead, at: number, answer: ThreadMessage[]): Promise<Op[]> {
    const { id, steered } = thread
    if (!steered || !answer.some(isAnswer)) return []
    const { messages, from } = await lastMessages(id, { end: at, limit: 2 * MAX_UNREAD })
    return unreadIn(messages).map((n) => {
      const { id: said } = markOf(messages[n])!
      const key = messageKey(store.digest(id), from + n)
      return { type: 'put', key, value: marked(messages[n], { id: said, state: 'read' }) }
    })
  }

  /**
   * Returns the messages that a client gives for a thread in the form in which they would be stored, and whether they equal the messages of
   * the thread.
   */
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

  /** Returns the keys of the records of a thread, without its head, metadata and index entries. */
  async function keysOf (thread: string): Promise<string[]> {
    const keys = [readKey(thread), summaryKey(thread), threadMemoryKey(thread)]
    for (const prefix of [messagesPrefix, turnsPrefix, versionsPrefix]) for await (const key of store.keys(prefix(thread))) keys.push(key)
    return keys
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
    readAnswer,
    ...createReadPositions({ store, turns, get }),
    /** Finds the thread that a request without an id continues; see `findThread`. */
    find: (messages: ThreadMessage[], isFree: (id: string) => boolean) => findThread(messages, isFree, { store, turns }),

    /** Returns where a request continues in its thread; see `placeRequest`. */
    place: async (id: string, request: RequestMessages) => placeRequest(await get(id), request, { store, turns, reader }),

    /** Returns the ids of the runs whose answers the thread has from position `at` on, the newest first. */
    async runsFrom (id: string, at: number): Promise<string[]> {
      const runIds: string[] = []
      for await (const record of reader.records(id, at)) runIds.unshift(...runsOfAnswer(record))
      return [...new Set(runIds)]
    },

    /** Returns an id for a message that has none. The id stays the same as long as the message and its position do. */
    messageId: turns.messageId,

    /**
     * Returns the id that a message of the thread has in chats, which is the id of its answer's first message. A damaged message before it
     * ends the search for the first one.
     */
    async shownId (id: string, at: number, message: ThreadMessage): Promise<string> {
      let first = message
      for (; at > 0; at--) {
        const [before] = await unlessDamaged(reader.messages(id, { from: at - 1, limit: 1 })) ?? []
        if (before === undefined || !continuesAnswer(before, first)) break
        first = before
      }
      return idOf(first) ?? turns.messageId(first, at)
    },

    /**
     * Returns when the user sent the message at a position, or the last user message before it; 0 if unknown. Milliseconds since the Unix
     * epoch.
     */
    saidAt: async (head: ThreadHead, at: number): Promise<number> => (await unlessDamaged(turns.lastUpTo(head, at)))?.sentAt ?? 0,

    /** Returns the turns of a thread from the `n`-th on, with their positions and times. */
    async turns (id: string, n = 0): Promise<UserTurn[]> {
      const head = await get(id)
      return head === undefined ? [] : turns.list(head, n)
    },

    /** Returns the position of that of the last `most` messages of the user which has the id of this message; undefined if none has it. */
    async positionOf (id: string, message: ThreadMessage, most: number): Promise<number | undefined> {
      const head = typeof message.id === 'string' ? await get(id) : undefined
      if (head === undefined) return undefined
      return (await turns.list(head, Math.max(0, head.turns - most))).findLast((turn) => turns.idOf(turn) === message.id)?.at
    },

    /**
     * Adds the messages of a request to its thread, at the place that `place` found. `minted`: the service made the id of the thread for
     * this request. Resolves to the operations and the position of the answer.
     */
    async appendRequest (
      id: string,
      { keep, at, fresh }: RequestPlace,
      { minted = false } = {}
    ): Promise<{ ops: Op[], answerAt: number }> {
      const before = await get(id)
      const { asked, minted: wasMinted, ...known } = before ?? newHead(id)
      const thread: ThreadHead = { ...known, ...(minted && (wasMinted ?? before === undefined) && { minted: true }) }
      const message = fresh.findLast(beginsTurn)
      const from = at - await saidAgainAt(id, thread, at, message)
      const now = clock.now()
      // A repeated message, for example of a regenerated answer, keeps its time.
      const repeated = await turns.get(thread, keep)
      const newest = fresh.filter(beginsTurn).length - 1
      const saidAt = ({ own }: UserTurn, n: number) => n === 0 && repeated?.own === own ? repeated.sentAt : n === newest ? now : 0
      const replacedAt = await isReplaced(thread, repeated, message) ? at : undefined
      return { ops: await writeMessages(before, thread, { keep, from, fresh, saidAt, replacedAt }, parts), answerAt: from + fresh.length }
    },

    /** Appends messages to the thread. Resolves to the operations and the position of the answer. */
    async append (id: string, fresh: ThreadMessage[]): Promise<{ ops: Op[], answerAt: number }> {
      const before = await get(id)
      const { asked, minted, ...thread } = before ?? newHead(id)
      const now = clock.now()
      const from = thread.messageCount - await saidAgainAt(id, thread, thread.messageCount, fresh.at(-1))
      const ops = await writeMessages(before, thread, { keep: thread.turns, from, fresh, saidAt: () => now }, parts)
      return { ops, answerAt: from + fresh.length }
    },

    /** Returns the operations that store a run's answer at position `at`. `asked` are the ids of the approvals that it requests. */
    async appendAnswer (id: string, at: number, answer: ThreadMessage[], { asked }: { asked?: string[] } = {}): Promise<Op[]> {
      const before = await get(id)
      const { asked: _, ...thread } = before ?? newHead(id)
      const after = { ...thread, ...(asked && { asked }) }
      const ops = await writeMessages(before, after, { keep: thread.turns, from: at, fresh: answer, saidAt: clock.now }, parts)
      return [...await markRead(thread, at, answer), ...ops]
    },

    /** Whether these messages, which a client can have read in any protocol, equal the messages of the thread. */
    holds: async (id: string, given: ThreadMessage[], unansweredIn?: UnansweredIn): Promise<boolean> =>
      given.length > 0 && (await readGiven(id, given, unansweredIn)).isSame,

    /**
     * Returns the operations that replace all messages of a thread, or create it. A message that the client has read and not changed keeps
     * its stored form, and known user messages keep their times.
     */
    async replace (id: string, given: ThreadMessage[], unansweredIn?: UnansweredIn): Promise<Op[]> {
      const before = await get(id)
      const { fresh } = await readGiven(id, given, unansweredIn)
      const { asked, minted, ...thread } = before ?? newHead(id)
      const old = before ? await turns.list(before) : []
      const known = old.toReversed()
      const now = clock.now()
      const saidAt = ({ own }: UserTurn) => {
        const at = known.findLastIndex((turn) => turn.own === own)
        return at === -1 ? now : known.splice(at, 1)[0].sentAt
      }
      const steeredAt = new Map(old.flatMap(({ steered = [] }) => steered.map(({ id, sentAt }) => [id, sentAt] as const)))
      return writeMessages(before, thread, { keep: 0, from: 0, fresh, saidAt, steeredAt, isPut: true }, parts)
    },

    /** Returns the earlier versions of the messages of the thread, the oldest first. */
    versions: (head: ThreadHead): Promise<Version[]> => currentVersions(head, parts),
    /** Returns the messages of a version. */
    versionMessages: async (id: string, version: Version): Promise<ThreadMessage[]> =>
      reader.resolve(id, await reader.inSpan(id, spanOf(version))),

    /** Returns the operations that let a thread go back to a version. The turns that the version replaces are kept as a version. */
    goBack: (head: ThreadHead, version: Version): Promise<Op[]> => goBack(head, version, parts),

    /** Returns the operations that remove a thread. `keepsFiles`: the attachments of its messages stay in use. */
    async remove (head: ThreadHead, { keepsFiles = false }: { keepsFiles?: boolean } = {}): Promise<Op[]> {
      const thread = store.digest(head.id)
      const ops = (await keysOf(thread)).map((key): Op => ({ type: 'del', key }))
      for await (const turn of turns.stored(head.id)) ops.push(...turns.lose(head.id, [turn]))
      ops.push(...await searchNoMore(store, thread))
      if (!keepsFiles) ops.push(...await changeUses(store, thread))
      return [...ops, ...headOps(store, head, undefined)]
    },

    /** Returns the operations that remove a thread with an unreadable head: all records under its digest. */
    async removeDamaged (thread: string): Promise<Op[]> {
      const keys = [threadKey(thread), metadataKey(thread), ...await keysOf(thread)]
      for (const prefix of [RECENT, UNREAD, FOUND]) for await (const key of store.keys(prefix)) if (key.endsWith(thread)) keys.push(key)
      const others = [...await searchNoMore(store, thread), ...await changeUses(store, thread)]
      return [...keys.map((key): Op => ({ type: 'del', key })), ...others]
    },

    /** Reads the summaries of older messages. A summary is valid only while the messages that it summarises are unchanged. */
    summaries: async (id: string): Promise<Summary[]> => await store.get<Summary[]>(summaryKey(store.digest(id))) ?? [],
    keepSummaries: (id: string, summaries: Summary[]): Promise<void> =>
      store.transact([{ type: 'put', key: summaryKey(store.digest(id)), value: summaries }])
  }
}
