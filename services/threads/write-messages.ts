import { isDeepStrictEqual } from 'node:util'
import { attachmentsIn, changeUses } from '../attachments/index.ts'
import { messageKey, type Op, type Store, summaryKey, unlessDamaged } from '../store/index.ts'
import type { Summary } from './compaction/items.ts'
import {
  exchange,
  keepReplaced,
  keepStanding,
  removeNumbers,
  type ThreadParts,
  type Version,
  type VersionChange
} from './replaced-turns.ts'
import { searchAgain } from './search/due-threads.ts'
import { isStoredAnswer, storedForm, writtenForm } from './stored-answer.ts'
import { firstWords, headOps, lastWords, type ThreadHead } from './thread-head.ts'
import { beginsTurn, type ThreadMessage } from './thread-message.ts'
import type { Steered, UserTurn } from './turns.ts'

/** A write of messages to a thread. */
interface Write {
  /** The number of turns that stay. */
  keep: number
  /** The position of the first new message. */
  from: number
  fresh: ThreadMessage[]
  saidAt: (turn: UserTurn, n: number) => number
  /** The times of steering messages, by id. */
  steeredAt?: ReadonlyMap<string, number>
  /** The position of the turn that is replaced and kept as a version. */
  replacedAt?: number
  /** Set if a client replaces all messages of the thread. */
  isPut?: true
}

/**
 * Returns the operations that write `fresh` at position `from` of the thread, in place of all later messages. The first `keep` turns stay.
 * `saidAt` returns the time of each turn in `fresh`, epoch milliseconds, or 0 if unknown.
 */
export async function writeMessages (
  before: ThreadHead | undefined,
  thread: ThreadHead,
  write: Write,
  parts: ThreadParts
): Promise<Op[]> {
  const { store, turns } = parts
  const { keep, from, fresh, saidAt, steeredAt = new Map(), replacedAt } = write
  const digest = store.digest(thread.id)
  const last = keep > 0 ? await turns.get(thread, keep - 1) : undefined
  const answered = last && { ...last, found: await foundOf(thread, last, write, parts) }
  const plainTurns = await turns.read(fresh, { before: answered?.found, from })
  const { kept, newTurns } = withSteering({ from, fresh, last: answered, plainTurns, steeredAt }, parts)
  const versions = write.isPut
    ? await keepStanding(thread, newTurns, parts)
    : await keepReplaced(thread, from, replacedAt, parts)
  const written = fresh.flatMap(writtenForm)
  const after: ThreadHead = {
    ...headOfMessages(thread, from, written, parts),
    messageCount: from + fresh.length,
    hasVersions: versions.hasVersions,
    more: (thread.more ?? 0) - await moreFrom(thread, from, parts) + written.length - fresh.length || undefined,
    turns: keep + newTurns.length,
    ...([kept, ...newTurns].some((turn) => turn?.steered !== undefined) && { steered: true })
  }
  const ops = await removeFrom(thread, from, versions, fresh, parts)
  if (thread.minted && keep < thread.turns) ops.push(...turns.lose(thread.id, await turns.list(thread, keep)))
  ops.push(...fresh.map((message, n): Op => ({ type: 'put', key: messageKey(digest, from + n), value: storedForm(message) })))
  if (kept !== undefined && !isDeepStrictEqual(kept, last)) ops.push(...turns.put(thread, kept, last))
  for (const [n, turn] of newTurns.entries()) ops.push(...turns.put(thread, { ...turn, sentAt: saidAt(turn, n) }))
  ops.push(...await changedFrom(thread, from, parts))
  return [...ops, ...headOps(store, before, after)]
}

/** Returns the head of a thread with the current time and with excerpts of the messages that are written from a position on. */
const headOfMessages = (thread: ThreadHead, from: number, written: ThreadMessage[], { clock }: ThreadParts): ThreadHead => ({
  ...thread,
  updatedAt: clock.now(),
  words: from === 0 ? firstWords(written) : thread.words || firstWords(written),
  lastMessage: lastWords(written) || (from === 0 ? '' : thread.lastMessage)
})

/**
 * Returns the operations that change versions and remove the messages of a thread from position `from` on, with the index of the messages
 * that refer to attachments. `fresh` are the messages that take their place.
 */
async function removeFrom (
  { id, messageCount }: ThreadHead,
  from: number,
  { ops, gone, moved }: VersionChange,
  fresh: ThreadMessage[],
  { store }: ThreadParts
): Promise<Op[]> {
  const thread = store.digest(id)
  const all = from < messageCount ? [...gone, [from, messageCount] as const] : gone
  const named = fresh.map(attachmentsIn)
  const uses = all.length > 0 || named.some((digests) => digests.length > 0)
    ? await changeUses(store, thread, { from, named, gone: all, moved })
    : []
  return [...ops, ...all.flatMap((span) => removeNumbers(thread, span)), ...uses]
}

/** Returns the operations that mark the thread for indexing and update its summaries, after its messages changed from a position on. */
async function changedFrom (thread: ThreadHead, from: number, { store }: ThreadParts): Promise<Op[]> {
  const digest = store.digest(thread.id)
  const removes = from < thread.messageCount
  return [searchAgain(digest, { from, removes }), ...removes ? await clearSummaryPositions(digest, from, store) : []]
}

/** Returns how many more messages than records there are from a position on. */
async function moreFrom ({ id, messageCount, more }: ThreadHead, from: number, { reader }: ThreadParts): Promise<number> {
  let found = 0
  if (more === undefined || from >= messageCount) return found
  for await (const record of reader.records(id, from)) if (isStoredAnswer(record)) found += record.count - 1
  return found
}

/**
 * Returns the digests by which the last turn that stays is found when its answer ends with `fresh`; the previous digests if its answer does
 * not change.
 */
async function foundOf (
  thread: ThreadHead,
  last: UserTurn,
  { keep, from, fresh }: Write,
  { turns, reader }: ThreadParts
): Promise<string[]> {
  const next = fresh.findIndex(beginsTurn)
  const end = next === -1 ? fresh : fresh.slice(0, next)
  const isCut = from < ((await turns.get(thread, keep))?.at ?? thread.messageCount)
  if (end.length === 0 && !isCut) return last.found
  const begin = last.at + 1
  const answer = from > begin ? await reader.messages(thread.id, { from: begin, limit: from - begin }) : []
  const before = keep > 1 ? (await turns.get(thread, keep - 2))?.found : undefined
  return turns.follow(before ?? [], last.own, [...answer, ...end])
}

/**
 * Returns the new turns, and the last turn that stays, with the index entries of the steering messages during their answers. `steeredAt`
 * has the times of known steering messages, by id.
 */
function withSteering ({ from, fresh, last, plainTurns, steeredAt }: {
  from: number,
  fresh: ThreadMessage[],
  last: UserTurn | undefined,
  plainTurns: UserTurn[],
  steeredAt: ReadonlyMap<string, number>
}, { turns, clock }: ThreadParts): { kept?: UserTurn, newTurns: UserTurn[] } {
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

/** Returns the operations that remove the position from each summary that ends after position `from`, because the messages there change. */
async function clearSummaryPositions (thread: string, from: number, store: Pick<Store, 'get'>): Promise<Op[]> {
  const summaries = await unlessDamaged(store.get<Summary[]>(summaryKey(thread))) ?? []
  if (!summaries.some(({ at = 0 }) => at > from)) return []
  return [{
    type: 'put',
    key: summaryKey(thread),
    value: summaries.map(({ at, tokens, ...summary }) => at !== undefined && at <= from ? { ...summary, at, tokens } : summary)
  }]
}

/** Returns the operations that let a thread go back to a version. The turns that the version replaces are kept as a version. */
export async function goBack (head: ThreadHead, version: Version, parts: ThreadParts): Promise<Op[]> {
  const { asked, minted, ...thread } = head
  const { at } = version
  const { change, back, records, turns } = await exchange(head, version, parts)
  const written = (await parts.reader.resolve(head.id, records)).flatMap(writtenForm)
  const after: ThreadHead = {
    ...headOfMessages(thread, at, written, parts),
    messageCount: at + records.length,
    hasVersions: change.hasVersions,
    more: (head.more ?? 0) - await moreFrom(head, at, parts) + written.length - records.length || undefined,
    turns
  }
  const removed = await removeFrom(head, at, change, [], parts)
  return [...removed, ...back, ...await changedFrom(head, at, parts), ...headOps(parts.store, head, after)]
}
