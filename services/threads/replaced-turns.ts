import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { jsonBytes } from '../lib/json.ts'
import { messageKey, type Op, type Store, turnKey, versionKey, versionsPrefix } from '../store/index.ts'
import { isStoredAnswer } from './stored-answer.ts'
import type { ThreadHead } from './thread-head.ts'
import { excerpt, ownText, type ThreadMessage } from './thread-message.ts'
import type { createThreadReader, Span } from './thread-reader.ts'
import type { Turns, UserTurn } from './turns.ts'

// An edited message or a regenerated answer is a turn that replaces an earlier turn. The replaced turn is set aside with everything after
// it, as a version of its message, so that the thread can go back to it. Functions that change something return operations, which the
// caller commits.
//
// Messages and turns are stored under numbers. In the thread, the number is the position. The messages of the n-th version have the numbers
// from n * LINE on.

/** More than the messages of a thread. A number has ten digits, and there are never more than 202 versions. */
const LINE = 10_000_000
/** The most versions of one message, and of all messages of a thread. */
const MOST_OF_MESSAGE = 20
const MOST_OF_THREAD = 200
/** The most bytes of JSON of all versions of a thread together, not counting the newest version. */
const MOST_BYTES = 8 * 1024 * 1024
/** The most characters of the user's message that lists of versions show. */
const TEXT = 200

interface StoredVersion {
  id: string
  replacedAt: number
  /** The number of the version that contains the message; undefined if the thread contains it. */
  inside?: number
  /** The position of the message in the thread, or in the version that contains it. */
  at: number
  /** The number of the records of its messages, and their size in bytes of JSON. */
  length: number
  bytes: number
  messageCount: number
  text: string
}

export interface Version extends StoredVersion {
  n: number
}

/** The collaborators of functions that change stored threads. */
export interface ThreadParts {
  store: Store
  clock: Clock
  turns: Turns
  reader: ReturnType<typeof createThreadReader>
}

/** Messages that get other numbers: their numbers, and the difference. */
type Move = readonly [...span: Span, by: number]

/** A change of versions. The operations copy messages that move; the caller removes those under their old numbers, which are `gone`. */
export interface VersionChange {
  ops: Op[]
  gone: Span[]
  moved: Move[]
  hasVersions: true | undefined
}

/** Returns the numbers of the messages of a version. */
export const spanOf = ({ n, length }: Version): Span => [n * LINE, n * LINE + length]

/** Returns the operations that remove the messages with these numbers, and their turns. `thread` is the digest of the thread. */
export const removeNumbers = (thread: string, [from, end]: Span): Op[] =>
  Array.from({ length: Math.max(end - from, 0) }, (_, n) => [messageKey(thread, from + n), turnKey(thread, from + n)]).flat()
    .map((key) => ({ type: 'del', key }))

/** Returns all versions of a thread, the oldest first. */
async function allVersions ({ id, hasVersions }: ThreadHead, { store }: ThreadParts): Promise<Version[]> {
  const versions: Version[] = []
  if (!hasVersions) return versions
  const prefix = versionsPrefix(store.digest(id))
  for await (const [key, version] of store.list<StoredVersion>(prefix)) versions.push({ ...version, n: Number(key.slice(prefix.length)) })
  return versions.sort((a, b) => a.id < b.id ? -1 : 1)
}

/** Returns the versions of the messages that the thread has now, the oldest first. */
export async function currentVersions (head: ThreadHead, parts: ThreadParts): Promise<Version[]> {
  const all = (await allVersions(head, parts)).filter(({ inside }) => inside === undefined)
  const starts = new Set(all.length === 0 ? [] : (await parts.turns.list(head)).map(({ at }) => at))
  return all.filter(({ at }) => starts.has(at))
}

/** Returns these versions, and all versions of the messages that they contain. */
function withInner (versions: readonly Version[], all: readonly Version[]): Set<Version> {
  const found = new Set(versions)
  for (const { n } of found) for (const each of all) if (each.inside === n) found.add(each)
  return found
}

/** Returns the versions to remove because a limit is exceeded. The newest version always stays. */
function surplusOf (all: readonly Version[]): Set<Version> {
  const dropped = new Set<Version>()
  const kept = () => all.filter((version) => !dropped.has(version))
  const drop = (version: Version) => withInner([version], all).forEach((each) => dropped.add(each))
  for (const version of all) {
    const isOfSame = ({ inside, at }: Version) => inside === version.inside && at === version.at
    if (kept().filter(isOfSame).length > MOST_OF_MESSAGE) drop(version)
  }
  const isTooMuch = () => kept().length > MOST_OF_THREAD || kept().slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES
  for (const version of all.slice(0, -1)) if (isTooMuch() && !dropped.has(version)) drop(version)
  return dropped
}

/** Returns the operations that copy the messages with these numbers, and their turns, to the numbers from `to` on. */
async function copy (id: string, [from, end]: Span, to: number, { store, turns, reader }: ThreadParts) {
  const thread = store.digest(id)
  const records = await reader.inSpan(id, [from, end])
  const ops = records.map((record, n): Op => ({ type: 'put', key: messageKey(thread, to + n), value: record }))
  const here = <T extends { at: number }>(place: T): T => ({ ...place, at: place.at - from + to })
  const copied: UserTurn[] = []
  for await (const turn of turns.stored(id, { after: turnKey(thread, end) })) {
    if (turn.at < from) break
    copied.push({ ...here(turn), ...turn.steered && { steered: turn.steered.map(here) } })
  }
  ops.push(...copied.flatMap((turn) => turns.put({ id }, turn)))
  return { ops, records, turns: copied.length, move: [from, end, to - from] as const }
}

/** Returns a version of the turn at a position and everything after it, and the operations that copy its messages. */
async function setAside (head: ThreadHead, at: number, all: readonly Version[], parts: ThreadParts) {
  let n = 1
  while (all.some((version) => version.n === n)) n++
  const { ops, records, turns, move } = await copy(head.id, [at, head.messageCount], n * LINE, parts)
  const [message] = await parts.reader.resolve(head.id, records.slice(0, 1))
  const sum = (sizeOf: (record: ThreadMessage) => number) => records.reduce((total, record) => total + sizeOf(record), 0)
  const version: Version = {
    n,
    id: newId(),
    replacedAt: parts.clock.now(),
    at,
    length: records.length,
    bytes: sum(jsonBytes),
    messageCount: sum((record) => isStoredAnswer(record) ? record.count : 1),
    text: excerpt(ownText(message, ' '), TEXT)
  }
  /** Puts a version that the thread has behind this one into this one. */
  const take = (other: Version): Version =>
    other.inside === undefined && other.at > at ? { ...other, inside: n, at: other.at - at } : other
  return { ops, move, turns, version, take }
}

/** Returns the change that stores versions in place of `before`, without those that exceed a limit. */
function change (head: ThreadHead, before: readonly Version[], after: readonly Version[], { store }: ThreadParts): VersionChange {
  const thread = store.digest(head.id)
  const surplus = surplusOf(after)
  const kept = after.filter((version) => !surplus.has(version))
  const changed = kept.filter((version) => !before.includes(version))
  const removed = before.filter(({ n }) => !kept.some((version) => version.n === n))
  return {
    ops: [
      ...removed.map(({ n }): Op => ({ type: 'del', key: versionKey(thread, n) })),
      ...changed.map(({ n, ...value }): Op => ({ type: 'put', key: versionKey(thread, n), value }))
    ],
    gone: removed.map(spanOf),
    moved: [],
    hasVersions: kept.length > 0 || undefined
  }
}

/**
 * Returns the change that keeps the turn at position `at`, and all after it, as a version, because a write from position `from` on replaces
 * that turn. Versions of messages that the write removes are versions of the message at `from` then. `at` is undefined if no turn is
 * replaced.
 */
export async function keepReplaced (head: ThreadHead, from: number, at: number | undefined, parts: ThreadParts): Promise<VersionChange> {
  const all = at === undefined && from >= head.messageCount ? [] : await allVersions(head, parts)
  if (at === undefined && all.length === 0) return { ops: [], gone: [], moved: [], hasVersions: head.hasVersions }
  const moved = (version: Version): Version => version.inside === undefined && version.at > from ? { ...version, at: from } : version
  if (at === undefined) return change(head, all, all.map(moved), parts)
  const { ops, move, version, take } = await setAside(head, at, all, parts)
  const changed = change(head, all, [...all.map(take), version].map(moved), parts)
  return { ...changed, ops: [...ops, ...changed.ops], moved: [move] }
}

/**
 * Returns the change that removes the versions of the messages that a client's PUT has changed, because the client might want to get rid of
 * their content, and that keeps the other versions. `put` are the turns that the thread gets.
 */
export async function keepStanding (head: ThreadHead, put: readonly UserTurn[], parts: ThreadParts): Promise<VersionChange> {
  const all = await allVersions(head, parts)
  const now = all.length === 0 ? [] : await parts.turns.list(head)
  const same = now.findIndex(({ own }, n) => put[n]?.own !== own)
  const turnOf = ({ inside, at }: Version) => inside === undefined ? now.findIndex((turn) => turn.at === at) : -1
  const standing = all.filter((version) => turnOf(version) !== -1 && (same === -1 || turnOf(version) < same))
  const kept = withInner(standing, all)
  const after = all.filter((version) => kept.has(version))
    .map((version) => version.inside === undefined ? { ...version, at: put[turnOf(version)].at } : version)
  return change(head, all, after, parts)
}

/** Returns the change that lets a thread go back to a version, the operations that bring its messages back, and what the thread gets. */
export async function exchange (head: ThreadHead, version: Version, parts: ThreadParts) {
  const all = await allVersions(head, parts)
  const now = await setAside(head, version.at, all, parts)
  const { ops: back, records, turns, move } = await copy(head.id, spanOf(version), version.at, parts)
  const others = all.filter(({ n }) => n !== version.n).map(now.take)
    .map((other) => other.inside === version.n ? { ...other, inside: undefined, at: other.at + version.at } : other)
  const changed = change(head, all, [...others, now.version], parts)
  return {
    change: { ...changed, ops: [...now.ops, ...changed.ops], moved: [now.move, move] },
    back,
    records,
    turns: head.turns - now.turns + turns
  }
}
