import { attachmentsIn, changeUses } from '../attachments/index.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { jsonBytes } from '../lib/json.ts'
import { defineError } from '../lib/service-error.ts'
import { type Op, type Store, unlessDamaged, versionMessagesKey, versionMessagesPrefix, versionsKey } from '../store/index.ts'
import type { Turns, UserTurn } from './turns.ts'
import type { ThreadHead } from './thread-head.ts'
import { beginsTurn, excerpt, ownText, type ThreadMessage } from './thread-message.ts'
import type { createThreadReader } from './thread-reader.ts'

const NowTooLarge = defineError(
  'ERR_VERSION_REFUSED',
  'What the conversation has now in the place of this version is larger than 8 MiB and could not be kept as a version: nothing was ' +
    'changed. Copy the conversation first, and take the copy back.'
)

/** The most versions of one message, and of a thread. */
const MOST_OF_MESSAGE = 20
const MOST_OF_THREAD = 200
/** The JSON of the messages of all versions of a thread, bytes. */
const MOST_BYTES = 8 * 1024 * 1024
/** Characters of what the user said, in lists. */
const TEXT = 200

/** The entry of a version in the list of its thread. */
export interface StoredVersion {
  id: string
  /** The number of the user's turn that it is a version of, and the digest of the user's messages before it. */
  turn: number
  before: string
  replacedAt: number
  bytes: number
  messageCount: number
  text: string
  isCut?: true
  /** The version whose messages it belongs to, if those are not in the thread themselves. */
  within?: string
}

/** The messages of a version: those from the user's message on, and the index entries of the turns in them. */
export interface VersionContent {
  messages: ThreadMessage[]
  turns: UserTurn[]
}

interface Removed {
  /** The number of the first turn that is replaced, and the position of its message. */
  turn: number
  at: number
}

/**
 * Keeps what edits and new answers replace in threads. A version holds the user's message with all that came after it, so that the thread
 * can go back to it. Methods that change something return operations: the caller commits them with the change of the thread.
 */
export function createMessageVersions ({ store, clock, turns, reader }: {
  store: Store,
  clock: Clock,
  turns: Turns,
  reader: ReturnType<typeof createThreadReader>
}) {
  const listOf = async (thread: string): Promise<StoredVersion[]> =>
    await unlessDamaged(store.get<StoredVersion[]>(versionsKey(thread))) ?? []

  const usesOf = (id: string, messages: readonly ThreadMessage[]) => {
    const named = messages.map(attachmentsIn)
    // Attachments stay as long as a version names them: it counts as a thread of its own.
    return changeUses(store, store.digest(`version ${id}`), { from: 0, named })
  }
  const removalOf = async (thread: string, id: string): Promise<Op[]> =>
    [{ type: 'del', key: versionMessagesKey(thread, id) }, ...await usesOf(id, [])]

  /** Returns the removed messages, all or those up to the next turn, as far as they are not too large; undefined if they are. */
  async function contentOf (
    head: ThreadHead,
    { turn, at }: Removed
  ): Promise<(VersionContent & { bytes: number, isCut: boolean }) | undefined> {
    const found = await turns.list(store.digest(head.id), turn)
    const next = found[1]?.at ?? head.messageCount
    const messages: ThreadMessage[] = []
    let [bytes, answerBytes, isCut] = [0, 0, false]
    for await (const message of reader.from(head.id, at)) {
      bytes += jsonBytes(message)
      if (bytes > MOST_BYTES) {
        isCut = true
        break
      }
      messages.push(message)
      if (messages.length === next - at) answerBytes = bytes
    }
    if (!isCut) return { messages, turns: found, bytes, isCut }
    if (answerBytes === 0) return undefined
    return { messages: messages.slice(0, next - at), turns: found.slice(0, 1), bytes: answerBytes, isCut }
  }

  /** Returns the operations that store the list without versions that are too many, whose contents they remove. */
  async function listOps (thread: string, list: StoredVersion[]): Promise<Op[]> {
    const dropped = new Set<string>()
    const kept = () => list.filter(({ id }) => !dropped.has(id))
    const drop = (id: string) => {
      dropped.add(id)
      for (const each of list) if (each.within === id && !dropped.has(each.id)) drop(each.id)
    }
    const isSame = (a: StoredVersion, b: StoredVersion) => a.turn === b.turn && a.before === b.before && a.within === b.within
    for (const each of list) {
      if (kept().filter((other) => isSame(each, other)).length > MOST_OF_MESSAGE && !dropped.has(each.id)) drop(each.id)
    }
    const isTooMuch = () => kept().length > MOST_OF_THREAD || kept().reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES
    for (const { id } of list) if (isTooMuch() && !dropped.has(id)) drop(id)
    const left = kept()
    const ops: Op[] = [left.length === 0
      ? { type: 'del', key: versionsKey(thread) }
      : { type: 'put', key: versionsKey(thread), value: left }]
    for (const id of dropped) ops.push(...await removalOf(thread, id))
    return ops
  }

  /** Returns the list with the removed messages as its newest version, to which the versions of later turns belong, and the operations. */
  async function withRemoved (
    head: ThreadHead,
    removed: Removed,
    list: StoredVersion[],
    content: Awaited<ReturnType<typeof contentOf>>
  ): Promise<{ list: StoredVersion[], ops: Op[] }> {
    const thread = store.digest(head.id)
    const id = newId()
    const isLater = ({ turn, within }: StoredVersion) => within === undefined && turn > removed.turn
    if (content === undefined) {
      const gone = list.filter(isLater)
      const removals = await Promise.all(gone.map((each) => removalOf(thread, each.id)))
      return { list: list.filter((each) => !isLater(each)), ops: removals.flat() }
    }
    const { bytes, isCut, ...value } = content
    const version: StoredVersion = {
      id,
      turn: removed.turn,
      before: turns.wordsOf((await turns.list(thread)).slice(0, removed.turn)),
      replacedAt: clock.now(),
      bytes,
      messageCount: content.messages.length,
      text: excerpt(ownText(content.messages[0], ' '), TEXT),
      ...(isCut && { isCut })
    }
    return {
      list: [...list.map((each) => isLater(each) ? { ...each, within: id } : each), version],
      ops: [{ type: 'put', key: versionMessagesKey(thread, id), value }, ...await usesOf(id, content.messages)]
    }
  }

  /** Whether a version is one of a turn that the thread has now. */
  const isCurrent = (now: readonly UserTurn[], { turn, before, within }: StoredVersion): boolean =>
    within === undefined && turn < now.length && turns.wordsOf(now.slice(0, turn)) === before

  return {
    /**
     * Returns the operations that keep what a request replaces, from a turn of the user on; none when the message is the same and had no
     * answer. `said` is the message that takes its place.
     */
    async keepReplaced (head: ThreadHead, removed: Removed, said: ThreadMessage | undefined): Promise<Op[]> {
      if (removed.turn >= head.turns || said === undefined || !beginsTurn(said)) return []
      const thread = store.digest(head.id)
      const isUnanswered = removed.at === head.messageCount - 1
      const [now] = isUnanswered ? await turns.read([said]) : []
      if (now !== undefined && (await turns.get(thread, removed.turn))?.own === now.own) return []
      const { list, ops } = await withRemoved(head, removed, await listOf(thread), await contentOf(head, removed))
      // What is dropped for lack of room may be the new version itself.
      return settled([...ops, ...await listOps(thread, list)])
    },

    /** Returns the versions of the messages that a thread has, the oldest first. */
    async list (head: ThreadHead): Promise<Array<StoredVersion & { at: number }>> {
      const thread = store.digest(head.id)
      const list = await listOf(thread)
      const now = list.length === 0 ? [] : await turns.list(thread)
      return list.filter((version) => isCurrent(now, version)).map((version) => ({ ...version, at: now[version.turn].at }))
    },

    /** Returns the messages of a version; undefined if there is none, or it is damaged. */
    content: (threadId: string, id: string): Promise<VersionContent | undefined> =>
      unlessDamaged(store.get<VersionContent>(versionMessagesKey(store.digest(threadId), id))),

    /**
     * Returns the operations that put the messages of the thread in the place of a version, to which it goes back. Throws NowTooLarge (409)
     * where they would be lost.
     */
    async exchange (head: ThreadHead, version: StoredVersion & { at: number }): Promise<Op[]> {
      const thread = store.digest(head.id)
      const others = (await listOf(thread)).filter(({ id }) => id !== version.id)
      const now = await contentOf(head, version)
      if (now === undefined || now.isCut) throw new NowTooLarge()
      const { list, ops } = await withRemoved(head, version, others, now)
      const back = list.map(({ within, ...each }) => within === undefined || within === version.id ? each : { ...each, within })
      return settled([...await removalOf(thread, version.id), ...ops, ...await listOps(thread, back)])
    },

    /**
     * Returns the operations that remove the versions of messages that are others now, when a client puts messages in the place of those of
     * a thread: it may do so to be rid of something.
     */
    async keepStanding (thread: string, put: readonly UserTurn[]): Promise<Op[]> {
      const list = await listOf(thread)
      if (list.length === 0) return []
      const now = await turns.list(thread)
      const isSame = ({ turn }: StoredVersion) =>
        put.length > turn && turns.wordsOf(put.slice(0, turn + 1)) === turns.wordsOf(now.slice(0, turn + 1))
      const kept = list.filter((version) => isCurrent(now, version) && isSame(version))
      // A version within another one may come before or behind it.
      for (let found = kept; found.length > 0;) {
        const ids = new Set(found.map(({ id }) => id))
        found = list.filter(({ within }) => within !== undefined && ids.has(within))
        kept.push(...found)
      }
      const gone = list.filter((version) => !kept.includes(version))
      const left = list.filter((version) => kept.includes(version))
      return [...(await Promise.all(gone.map(({ id }) => removalOf(thread, id)))).flat(), ...await listOps(thread, left)]
    },

    /** Returns the operations that remove all versions of a thread. */
    async removeAll (thread: string): Promise<Op[]> {
      const ops: Op[] = [{ type: 'del', key: versionsKey(thread) }]
      const prefix = versionMessagesPrefix(thread)
      for await (const key of store.keys(prefix)) ops.push(...await removalOf(thread, key.slice(prefix.length)))
      return ops
    }
  }
}

/** Returns operations of which the last one of each key counts. */
function settled (ops: Op[]): Op[] {
  return [...new Map(ops.map((op) => [op.key, op])).values()]
}
