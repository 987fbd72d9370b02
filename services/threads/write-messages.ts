import { isDeepStrictEqual } from 'node:util'
import { attachmentsIn, changeUses } from '../attachments/index.ts'
import { messageKey, type Op, type Store, summaryKey, turnKey, unlessDamaged } from '../store/index.ts'
import type { Summary } from './compaction/items.ts'
import {
  holds,
  joinPaths,
  lengthOf,
  numberAt,
  numbersIn,
  pathFields,
  pathOf,
  planWrite,
  slicePath,
  type Span,
  type WritePlan
} from './message-path.ts'
import { type CurrentVersion, exchange, keepReplaced, keepStanding, type ThreadParts } from './replaced-turns.ts'
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
  const plan = planWrite(thread, { from, length: fresh.length, keepFrom: replacedAt })
  const { begin, path } = plan
  const last = keep > 0 ? await turns.get(thread, keep - 1) : undefined
  const answered = last && { ...last, found: await foundOf(thread, last, write, parts) }
  const plainTurns = await turns.read(fresh, { before: answered?.found, from })
  const { kept, newTurns } = withSteering({ from, fresh, last: answered, plainTurns, steeredAt }, parts)
  const versions = write.isPut
    ? await keepStanding(thread, newTurns, plan, parts)
    : await keepReplaced(thread, plan, replacedAt, parts)
  const gone = [...plan.gone, ...versions.gone]
  const written = fresh.flatMap(writtenForm)
  const after: ThreadHead = {
    ...headOfMessages(thread, from, written, parts),
    ...pathFields(path, begin + fresh.length),
    more: (thread.more ?? 0) - await moreFrom(thread, from, parts) + written.length - fresh.length || undefined,
    turns: keep + newTurns.length,
    ...([kept, ...newTurns].some((turn) => turn?.steered !== undefined) && { steered: true })
  }
  const ops: Op[] = fresh.map((message, n) => ({ type: 'put', key: messageKey(digest, begin + n), value: storedForm(message) }))
  ops.push(...numbersIn(gone).map((number): Op => ({ type: 'del', key: messageKey(digest, number) })))
  ops.push(...await removeTurns(thread, { keep, isKept: replacedAt !== undefined }, parts), ...versions.ops)
  if (kept !== undefined && !isDeepStrictEqual(kept, last)) ops.push(...turns.put(thread, path, kept, last))
  for (const [n, turn] of newTurns.entries()) ops.push(...turns.put(thread, path, { ...turn, sentAt: saidAt(turn, n) }))
  ops.push(...await changedUses(digest, { plan, gone, fresh }, parts), ...await changedFrom(thread, from, parts))
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
 * Returns the operations that remove the turns after the first `keep` from the index of requests, and remove their records unless `isKept`.
 */
async function removeTurns (
  thread: ThreadHead,
  { keep, isKept }: { keep: number, isKept: boolean },
  { store, turns }: ThreadParts
): Promise<Op[]> {
  if (keep >= thread.turns) return []
  const replaced = await turns.list(thread, keep)
  const path = pathOf(thread)
  const keys = isKept ? [] : replaced.map(({ at }) => turnKey(store.digest(thread.id), numberAt(path, at)))
  return [...keys.map((key): Op => ({ type: 'del', key })), ...thread.minted ? turns.lose(thread.id, replaced) : []]
}

/** Returns the operations that update the index of the messages that refer to attachments. */
async function changedUses (
  thread: string,
  { plan, gone, fresh }: { plan: WritePlan, gone: Span[], fresh: ThreadMessage[] },
  { store }: ThreadParts
): Promise<Op[]> {
  const named = fresh.map(attachmentsIn)
  const overwritten: Span[] = plan.isOver ? [[plan.begin, plan.begin + fresh.length]] : []
  if (gone.length === 0 && overwritten.length === 0 && named.every((digests) => digests.length === 0)) return []
  return changeUses(store, thread, { from: plan.begin, named, gone: [...gone, ...overwritten] })
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
export async function goBack (head: ThreadHead, version: CurrentVersion, parts: ThreadParts): Promise<Op[]> {
  const { store, turns, reader } = parts
  const { asked, minted, ...thread } = head
  const { at, spans } = version
  const digest = store.digest(head.id)
  const path = joinPaths(slicePath(pathOf(head), 0, at), spans)
  const { ops, gone } = await exchange(head, version, parts)
  const written = (await reader.inSpans(head.id, spans)).flatMap(writtenForm)
  let count = 0
  for await (const { number } of turns.stored(digest)) if (holds(path, number)) count++
  const after: ThreadHead = {
    ...headOfMessages(thread, at, written, parts),
    ...pathFields(path, head.end!),
    more: (head.more ?? 0) - await moreFrom(head, at, parts) + written.length - lengthOf(spans) || undefined,
    turns: count
  }
  ops.push(...numbersIn(gone).map((number): Op => ({ type: 'del', key: messageKey(digest, number) })))
  if (gone.length > 0) ops.push(...await changeUses(store, digest, { gone }))
  return [...ops, ...await changedFrom(head, at, parts), ...headOps(store, head, after)]
}
