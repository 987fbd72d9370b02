import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { Conversation } from '../models/compaction/compactor.ts'
import { jsonBytes } from '../http/pages.ts'
import { itemTokens } from '../models/compaction/token-estimate.ts'
import { standsFor, unreadBefore, type Older } from '../models/compaction/unread-history.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { partsOf, type ThreadMessage, type ThreadRepository } from '../threads/thread-repository.ts'
import type { RawMessage } from './raw-message.ts'

/** Which messages of its thread a request's messages are: the first `lead` ones, then those from position `from` on. */
export interface History {
  lead: number
  from: number
  /** What lies between the two. */
  older?: Older
}

/** All of a thread, from its first message on. */
export const WHOLE: History = { lead: 0, from: 0 }

/** What tells which part of its thread a run's prompt is. */
export type Placed = Pick<Conversation, 'older' | 'places'>

/** The place of each message of a prompt in the thread, from its place in the request. */
export function placed (origins: ReadonlyMap<LanguageModelV4Message, number>, history: History | undefined): Placed {
  if (history === undefined) return {}
  const places = new Map<LanguageModelV4Message, number>()
  for (const [message, at] of origins) places.set(message, placeIn(history, at))
  return { places, ...(history.older && { older: history.older }) }
}

/** Where in the thread the `at`-th message of a request stands. */
export const placeIn = ({ lead, from }: History, at: number): number => at < lead ? at : at - lead + from

/** Tokens that every model reads: as few need no question which one it is. */
const ANY_WINDOW = 4_000
/** For a model without limits. */
const LARGEST_WINDOW = 1_000_000
/** Bytes: pictures cost few tokens. */
const MOST_BYTES = 16 * 1024 * 1024
/** System messages at the beginning of a thread that are looked for. */
const MOST_INSTRUCTIONS = 20

/**
 * What of a thread a model with that window can be told: its newest messages, back to what a summary stands for, or as
 * many as the window holds, and the instructions that it begins with. The rest is not read.
 */
export async function readHistory (
  id: string,
  { threads, window }: { threads: ThreadRepository, window: () => Promise<number> }
): Promise<History & { messages: RawMessage[] }> {
  const summary = (await threads.summaries(id)).flatMap((each) => standsFor(each) ?? []).sort((a, b) => b.at - a.at)[0]
  const end = summary?.at ?? 0
  const found: ThreadMessage[] = []
  let from: number | undefined
  let most: number | undefined
  let tokens = 0
  let bytes = 0
  for await (const { at, message } of threads.backwards(id)) {
    if (at < end) {
      from ??= end
      break
    }
    const cost = tokensOf(message)
    if (most === undefined && tokens + cost > ANY_WINDOW) most = Math.min(await window(), LARGEST_WINDOW)
    bytes += typeof message.content === 'string' ? message.content.length : jsonBytes(message)
    if (found.length > 0 && (tokens + cost > (most ?? Infinity) || bytes > MOST_BYTES)) break
    tokens += cost
    found.push(message)
    from = at
    if (at === end) break
    await yieldToEventLoop()
  }
  const messages = found.reverse() as RawMessage[]
  if (from === undefined || from === 0) return { ...WHOLE, messages }
  const instructions: RawMessage[] = []
  while (instructions.length < Math.min(from, MOST_INSTRUCTIONS)) {
    const [message] = await threads.messages(id, { from: instructions.length, limit: 1 })
    if (message?.role !== 'system') break
    instructions.push(message)
  }
  const lead = instructions.length
  const older = from - lead
  return {
    messages: [...instructions, ...messages],
    lead,
    from,
    older: from === end
      ? { ...summary, messages: older }
      : unreadBefore(from, older, Math.round(older * tokens / Math.max(messages.length, 1)))
  }
}

/** About how many tokens a message is at least: its outputs of tools may be left out. */
function tokensOf (message: ThreadMessage): number {
  let tokens = 0
  for (const part of partsOf(message)) tokens += itemTokens(part)
  return tokens
}
