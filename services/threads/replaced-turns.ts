import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { jsonBytes } from '../lib/json.ts'
import { type Op, type Store, turnKey } from '../store/index.ts'
import { holds, numberAt, pathOf, positionOf, slicePath, type Span, type WritePlan } from './message-path.ts'
import { isStoredAnswer } from './stored-answer.ts'
import type { ThreadHead } from './thread-head.ts'
import { excerpt, ownText } from './thread-message.ts'
import type { createThreadReader } from './thread-reader.ts'
import type { ReplacedTurn, StoredTurn, Turns, UserTurn } from './turns.ts'

// An edited message or a regenerated answer is a turn that replaces an earlier turn. A replaced turn stays stored with everything after it,
// outside the path of the thread, so that the thread can go back to it. Such a stored turn is a version of its message. Functions that
// change something return operations, which the caller commits.

/** The most versions of one message, and of all messages of a thread. */
const MOST_OF_MESSAGE = 20
const MOST_OF_THREAD = 200
/** The most bytes of JSON of all versions of a thread together, not counting the newest version. */
const MOST_BYTES = 8 * 1024 * 1024
/** The most characters of the user's message that lists of versions show. */
const TEXT = 200

/** A replaced turn, with the number of the user's message. */
interface Version extends ReplacedTurn {
  number: number
  turn: StoredTurn
}

/** A version of a message that is on the thread's path now. `at` is the position of that message. */
export interface CurrentVersion extends Version {
  at: number
}

/** The collaborators of functions that change stored threads. */
export interface ThreadParts {
  store: Store
  clock: Clock
  turns: Turns
  reader: ReturnType<typeof createThreadReader>
}

/** The operations that change versions, and the numbers of the messages that are removed together with versions. */
export interface Kept {
  ops: Op[]
  gone: Span[]
}

const NOTHING: Kept = { ops: [], gone: [] }

/** Whether a thread has messages that are not on its path. */
const hasReplaced = ({ end, messageCount }: ThreadHead) => end !== undefined && end > messageCount

/** Returns all versions of a thread, the oldest first. */
async function versionsOf (head: ThreadHead, { store, turns }: ThreadParts): Promise<Version[]> {
  const versions: Version[] = []
  if (!hasReplaced(head)) return versions
  for await (const { number, turn } of turns.stored(store.digest(head.id))) {
    if (turn.replaced !== undefined) versions.push({ ...turn.replaced, number, turn })
  }
  return versions.sort((a, b) => a.id < b.id ? -1 : 1)
}

/** Returns the versions of the messages on the thread's path, the oldest first. */
export async function currentVersions (head: ThreadHead, parts: ThreadParts): Promise<CurrentVersion[]> {
  const path = pathOf(head)
  const all = await versionsOf(head, parts)
  const starts = new Set(all.length === 0 ? [] : (await parts.turns.list(head)).map(({ at }) => at))
  return all.flatMap((version) => {
    const before = version.follows === -1 ? -1 : positionOf(path, version.follows)
    return before !== undefined && starts.has(before + 1) ? [{ ...version, at: before + 1 }] : []
  })
}

/** Returns the operations that remove versions. */
async function remove (head: ThreadHead, versions: readonly Version[], { store, turns }: ThreadParts): Promise<Kept> {
  if (versions.length === 0) return NOTHING
  const gone = versions.flatMap(({ spans }) => spans)
  const thread = store.digest(head.id)
  const ops: Op[] = []
  for await (const { number } of turns.stored(thread)) if (holds(gone, number)) ops.push({ type: 'del', key: turnKey(thread, number) })
  return { ops, gone }
}

/** Returns these versions, and all versions of the messages that they contain. */
function withInner (versions: readonly Version[], all: readonly Version[]): Version[] {
  const found = new Set(versions)
  for (const { spans } of found) for (const each of all) if (holds(spans, each.follows)) found.add(each)
  return [...found]
}

/** Returns the versions to remove because a limit is exceeded. The newest version always stays. */
function surplusOf (all: readonly Version[]): Version[] {
  const dropped = new Set<Version>()
  const kept = () => all.filter((version) => !dropped.has(version))
  const drop = (version: Version) => withInner([version], all).forEach((each) => dropped.add(each))
  for (const version of all) {
    if (kept().filter(({ follows }) => follows === version.follows).length > MOST_OF_MESSAGE) drop(version)
  }
  const isTooMuch = () => kept().length > MOST_OF_THREAD || kept().slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES
  for (const version of all.slice(0, -1)) if (isTooMuch() && !dropped.has(version)) drop(version)
  return [...dropped]
}

/** Makes a version from the turn at a position and all messages after it. */
async function replaceAt (head: ThreadHead, at: number, follows: number, { store, clock, reader }: ThreadParts): Promise<Version> {
  const spans = slicePath(pathOf(head), at)
  const [[number]] = spans
  let [bytes, messageCount] = [0, 0]
  for await (const record of reader.records(head.id, at)) {
    bytes += jsonBytes(record)
    messageCount += isStoredAnswer(record) ? record.count : 1
  }
  const [message] = await reader.messages(head.id, { from: at, limit: 1 })
  const turn = await store.get<StoredTurn>(turnKey(store.digest(head.id), number))
  const text = excerpt(ownText(message, ' '), TEXT)
  return { id: newId(), replacedAt: clock.now(), follows, spans, bytes, messageCount, text, number, turn: turn! }
}

const recordOf = ({ number, turn, ...replaced }: Version): ReplacedTurn => replaced

/**
 * Returns the operations that keep the turn at position `at`, and all after it, as a version, because a write replaces that turn. Versions
 * that followed a message that the write removes then follow the last message before the write. `at` is undefined if no turn is replaced.
 */
export async function keepReplaced (head: ThreadHead, plan: WritePlan, at: number | undefined, parts: ThreadParts): Promise<Kept> {
  if (at === undefined && (plan.gone.length === 0 || !hasReplaced(head))) return NOTHING
  const { turns } = parts
  const follows = plan.from === 0 ? -1 : numberAt(plan.path, plan.from - 1)
  const all = await versionsOf(head, parts)
  const moved = all.filter((version) => holds(plan.gone, version.follows)).map((version) => ({ ...version, follows }))
  const replaced = at === undefined ? [] : [await replaceAt(head, at, follows, parts)]
  const { ops, gone } = await remove(head, surplusOf([...all, ...replaced]), parts)
  return { ops: [...[...moved, ...replaced].map((each) => turns.mark(head.id, each.number, each.turn, recordOf(each))), ...ops], gone }
}

/**
 * Returns the operations that remove the versions of the messages that a client's PUT has changed, because the client might want to get rid
 * of their content, and that keep the other versions. `put` are the turns that the thread gets.
 */
export async function keepStanding (head: ThreadHead, put: readonly UserTurn[], plan: WritePlan, parts: ThreadParts): Promise<Kept> {
  const all = await versionsOf(head, parts)
  if (all.length === 0) return NOTHING
  const { turns } = parts
  const now = await turns.list(head)
  const turnOf = new Map((await currentVersions(head, parts)).map(({ id, at }) => [id, now.findIndex((turn) => turn.at === at)]))
  const same = now.findIndex(({ own }, n) => put[n]?.own !== own)
  const standing = all.filter(({ id }) => same === -1 ? turnOf.has(id) : (turnOf.get(id) ?? same) < same)
  const kept = withInner(standing, all)
  const { ops, gone } = await remove(head, all.filter((version) => !kept.includes(version)), parts)
  const moved = standing.map((version) => {
    const { at } = put[turnOf.get(version.id)!]
    const follows = at === 0 ? -1 : numberAt(plan.path, at - 1)
    return turns.mark(head.id, version.number, version.turn, { ...recordOf(version), follows })
  })
  return { ops: [...moved, ...ops], gone }
}

/** Returns the operations that let a thread go back to a version. The turns that the version replaces become a version. */
export async function exchange (head: ThreadHead, version: CurrentVersion, parts: ThreadParts): Promise<Kept> {
  const { turns } = parts
  const now = await replaceAt(head, version.at, version.follows, parts)
  const others = (await versionsOf(head, parts)).filter(({ id }) => id !== version.id)
  const { ops, gone } = await remove(head, surplusOf([...others, now]), parts)
  const marks = [turns.mark(head.id, now.number, now.turn, recordOf(now)), turns.mark(head.id, version.number, version.turn)]
  return { ops: [...marks, ...ops], gone }
}
