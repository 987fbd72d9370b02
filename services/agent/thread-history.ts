import type { LanguageModelV4Message } from '@ai-sdk/provider'
import {
  type Conversation,
  coveredHistory,
  partsOf,
  type RawMessage,
  type ThreadMessage,
  type ThreadRepository,
  unreadBefore
} from '../threads/index.ts'
import { jsonBytes } from '../lib/json.ts'
import { itemTokens } from '../models/index.ts'
import { type History, type ThreadRun, WHOLE_THREAD } from '../runs/index.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'

/** The positions of the prompt's messages in the thread of the run. */
export type ThreadPlacement = Pick<Conversation, 'older' | 'places'>

/** Returns the positions in the thread of a prompt's messages, given their positions in the request (`origins`). */
export function threadPlacement (origins: ReadonlyMap<LanguageModelV4Message, number>, history: History | undefined): ThreadPlacement {
  if (history === undefined) return {}
  const places = new Map<LanguageModelV4Message, number>()
  for (const [message, at] of origins) places.set(message, threadPosition(history, at))
  return { places, ...(history.older && { older: history.older }) }
}

/** Returns the position in the thread of the message that is at position `at` of a request. */
export const threadPosition = ({ lead, from }: History, at: number): number => at < lead ? at : at - lead + from

/** A number of tokens that fits into the context window of every model. Up to it, the window is not looked up. */
const ANY_WINDOW = 4_000
/** The most tokens that are read for a model without a known limit. */
const LARGEST_WINDOW = 1_000_000
/** The most bytes of messages that are read. Images have many bytes and few tokens. */
const MAX_BYTES = 16 * 1024 * 1024
/** The most system messages that are read from the beginning of a thread. */
const MAX_INSTRUCTIONS = 20

/**
 * Reads the part of a thread that fits a context window of `window` tokens: the newest messages, back to those that a summary covers or
 * until the window is full, and the instructions at the beginning. Other messages, and messages from position `before` on, are not read.
 */
export async function readHistory (
  id: string,
  { threads, window, before }: { threads: ThreadRepository, window: () => Promise<number>, before?: number }
): Promise<History & { messages: RawMessage[] }> {
  const summary = (await threads.summaries(id)).flatMap((each) => coveredHistory(each) ?? [])
    .filter(({ at }) => before === undefined || at < before)
    .sort((a, b) => b.at - a.at)[0]
  const end = summary?.at ?? 0
  const found: ThreadMessage[] = []
  let from: number | undefined
  let maxTokens: number | undefined
  let tokens = 0
  let bytes = 0
  for await (const { at, message } of threads.backwards(id, before)) {
    if (at < end) {
      from ??= end
      break
    }
    const cost = tokensOf(message)
    if (maxTokens === undefined && tokens + cost > ANY_WINDOW) maxTokens = Math.min(await window(), LARGEST_WINDOW)
    bytes += jsonBytes(message)
    if (found.length > 0 && (tokens + cost > (maxTokens ?? Infinity) || bytes > MAX_BYTES)) break
    tokens += cost
    found.push(message)
    from = at
    if (at === end) break
    await yieldToEventLoop()
  }
  const messages = found.reverse() as RawMessage[]
  if (from === undefined || from === 0) return { ...WHOLE_THREAD, messages }
  const instructions: RawMessage[] = []
  while (instructions.length < Math.min(from, MAX_INSTRUCTIONS)) {
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

/** Returns the messages with which a run began, as they are stored in the thread. */
export async function readBeginning (
  { threadId, answerAt, history }: Pick<ThreadRun, 'threadId' | 'answerAt' | 'history'>,
  { threads, window }: { threads: ThreadRepository, window: () => Promise<number> }
): Promise<History & { messages: RawMessage[] }> {
  if (history === undefined) return readHistory(threadId, { threads, window, before: answerAt })
  const lead = history.lead === 0 ? [] : await threads.messages(threadId, { limit: history.lead })
  const rest = await threads.messages(threadId, { from: history.from, limit: answerAt - history.from })
  return { ...history, messages: [...lead, ...rest] as RawMessage[] }
}

/** Estimates the least number of tokens of a message: the tokens that remain after compaction has left out its tool outputs. */
function tokensOf (message: ThreadMessage): number {
  let tokens = 0
  for (const part of partsOf(message)) tokens += itemTokens(part)
  return tokens
}
