import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { jsonOfFixed } from '../../lib/json.ts'
import {
  dropOldest,
  isSummarised,
  itemsOf,
  messagesIn,
  prune,
  tokensOfAll,
  oldestRuns,
  saidIn,
  withSummaries,
  type Item,
  type Summary
} from './items.ts'
import { cutWords, tokensInAll } from './user-words-kept.ts'
import { itemOf, type UnreadHistory } from './unread-history.ts'
import { type Ask, tokensInSame, tokensOf } from '../../models/index.ts'
import { chainsOf, refusalsIn, shortened, summarise, summaryNote, unitsIn, unitsOf } from './units.ts'

export type { Summary } from './items.ts'

/**
 * The result of a compaction: the estimated tokens before and after, and the numbers of tool outputs left out, messages summarised and
 * messages dropped.
 */
export interface Compaction {
  before: number
  after: number
  outputs: number
  summarised: number
  dropped: number
}

export interface CompactorParts {
  /**
   * Returns the model's context window in tokens. The result can be an estimate if a conversation of `tokens` tokens fits into it easily.
   */
  contextWindow: (id: string, tokens: number) => Promise<number>
  ask: Ask
  /** Returns the context window, in tokens, of the model that `ask` uses. */
  askedWindow: (tokens: number) => Promise<number>
  /** Load and store the summaries of the conversation. */
  load: () => Promise<Summary[]>
  keep: (summaries: Summary[]) => Promise<unknown>
  /** Called with each compaction that differs from the previous one. */
  onCompaction: (compaction: Compaction) => void
}

export interface Conversation {
  /** The messages before the conversation, which always stay. */
  opening: LanguageModelV4Prompt
  messages: LanguageModelV4Prompt
  /** The index of the user's latest message that begins a turn. User messages after it are steering messages. */
  latest: number
  tools: object[]
  /** The part of the thread before the messages, if it was not read. */
  older?: UnreadHistory
  /** The positions of the messages in the thread. If a thread message became several prompt messages, only the first has a position. */
  places?: ReadonlyMap<LanguageModelV4Message, number>
}

/** Shares of the context window. A conversation above FULL is compacted, to TARGET if possible, and at least to HARD_LIMIT. */
const FULL = 0.7
const TARGET = 0.5
const HARD_LIMIT = 0.9
/** The next token budget, as a share of the prompt that the provider refused as too long. */
const REFUSED_SHARE = 0.6
/** Messages with fewer tokens than this are not summarised. */
const MIN_SUMMARY_TOKENS = 200
/** The tokens that are reserved for a new summary, and the largest share of the budget that can be reserved. */
const RESERVE_TOKENS = 3_000
const RESERVE = 0.15
/** The characters that the summarising model gets: SHOWN_PER_TOKEN for each token of its context window, at most MAX_SHOWN. */
const SHOWN_PER_TOKEN = 2
const MAX_SHOWN = 300_000
/**
 * The limits for the user's own words that are kept beside a summary: a share of the budget that is left for the conversation, and a number
 * of tokens.
 */
const OWN_SHARE = 0.4
const MAX_OWN = 6_000
/** The number of summaries that are kept of one conversation, the newest ones. */
const MAX_SUMMARIES = 8

export type Compactor = ReturnType<typeof createCompactor>

/**
 * Makes the conversation of a run fit the context window of its model. It first leaves out old tool outputs, then summarises old messages
 * with the model of the role `fast`, and drops messages that still do not fit. The opening, the user's latest message with later steering,
 * and the newest step stay. Calls and their results stay together. Each pass visits every message once and yields to the event loop between
 * messages.
 */
export function createCompactor ({ contextWindow, ask, askedWindow, load, keep, onCompaction }: CompactorParts) {
  const budgets = new Map<string, number>()
  let summaries: Summary[] | undefined
  let mayAsk = true
  let reported = '0 0 0'
  let sent = 0

  /**
   * Summarises the oldest items and stores the summaries. Stops if no useful summary can be made. Returns all valid summaries, old and new.
   */
  async function summariseOld (
    items: Item[],
    { room, words }: { room: number, words: number },
    known: Summary[],
    { chainAt, placeOf }: Names
  ): Promise<Summary[]> {
    let all = known
    for (const old of oldestRuns(items, room)) {
      const { run, place } = wholeMessages(old, placeOf)
      const tokens = tokensOfAll(run)
      const fresh = run.filter(({ summary }) => summary === undefined)
      const earlier = run.flatMap(({ summary }) => summary ?? [])
      if (!mayAsk || fresh.length === 0 || tokens < MIN_SUMMARY_TOKENS) continue
      const maxCharacters = Math.min(MAX_SHOWN, SHOWN_PER_TOKEN * await askedWindow(tokens))
      const units = fresh.flatMap(({ raw }) => raw)
      const text = await summarise(units, { ask, maxCharacters, earlier: earlier.map((summary) => summary.text) })
      const { from } = run[0]
      const { to } = run.at(-1)!
      const refused = [...earlier.flatMap((summary) => summary.refused), ...refusalsIn(units)]
      const before = earlier.reduce((sum, summary) => sum + (summary.tokens ?? 0), 0) + units.reduce((sum, unit) => sum + unit.tokens, 0)
      const said = cutWords(run.flatMap(saidIn), words)
      const summary = text === undefined
        ? undefined
        : { from, to, chain: chainAt(to)!, text, refused, said, ...(from === 0 && place !== undefined && { at: place, tokens: before }) }
      if (summary === undefined || summaryNote(summary).tokens >= tokens) {
        // A model that gave no summary, or one that is longer than the original, is not asked again in this run.
        mayAsk = false
        break
      }
      summaries = all = [...all.filter((other) => other.to <= from || other.from >= to), summary].slice(-MAX_SUMMARIES)
      await keep(all)
    }
    return all
  }

  return {
    /**
     * Returns the prompt for a call of the model `id`. `tooLong`: the provider has just refused the previous prompt as too long. The result
     * is then undefined if no shorter prompt can be made.
     */
    async compact (
      id: string,
      { opening, messages, latest, tools, older, places }: Conversation,
      tooLong: boolean
    ): Promise<LanguageModelV4Prompt | undefined> {
      const units = await unitsOf(messages)
      const offset = older?.units ?? 0
      const fixed = opening.reduce((sum, message) => sum + tokensOf(message), tokensInSame(jsonOfFixed(tools)))
      let items = await itemsOf(units, unitsIn(messages, latest), offset)
      let left = 0
      if (older !== undefined) {
        summaries ??= await load()
        const { item, gap } = itemOf(older, summaries)
        items = [item, ...items]
        left = gap
      }
      let total = fixed + tokensOfAll(items)
      const before = total + (older?.tokens ?? 0)
      const window = await contextWindow(id, total)
      if (tooLong) budgets.set(id, sent * REFUSED_SHARE)
      const budget = budgets.get(id) ?? window * FULL
      const target = budget * TARGET / FULL
      const words = Math.max(0, Math.min(MAX_OWN, OWN_SHARE * (budget - fixed)))
      const last = sent
      sent = total
      if (total <= budget && older === undefined) return [...opening, ...messages]

      // Items are left out in blocks, so that the prompts of successive calls have the same beginning until the next block. Provider caches
      // need that.
      const inBlocks = (excess: number) => Math.ceil(excess / (budget - target)) * (budget - target)
      if (total > budget) {
        const whole = items
        const chains = await chainsOf(units, older?.chain)
        const chainAt = (unit: number): string | undefined => unit === offset ? older?.chain : chains[unit - offset - 1]
        summaries ??= (await load()).map((summary) => chainAt(summary.to) === summary.chain ? summary : withoutPlace(summary))
        const shorten = async (known: Summary[]) => {
          items = withSummaries(whole, known, chainAt)
          total = fixed + tokensOfAll(items)
          if (total <= budget) return
          items = await prune(items, inBlocks(total - budget))
          total = fixed + tokensOfAll(items)
        }
        await shorten(summaries)
        if (total > budget) {
          const free = items.filter(({ isProtected }) => !isProtected)
          const reserved = Math.min(RESERVE_TOKENS, RESERVE * budget) + Math.min(words, tokensInAll(free.flatMap(saidIn)))
          const room = Math.max(target - (total - tokensOfAll(free)) - reserved, 0)
          await shorten(await summariseOld(items, { room, words }, summaries, {
            chainAt,
            placeOf: (unit) => unit === offset ? older?.at : places?.get(units[unit - offset]?.messages[0])
          }))
        }
      }
      const outputs =
        items.filter(({ shown, raw, summary }) => summary === undefined && shown !== raw[0] && shown.tokens < raw[0].tokens).length
      const summarised = messagesIn(items.filter(isSummarised))
      const hard = budgets.has(id) ? budget : window * HARD_LIMIT
      if (total > hard) {
        const rest = await dropOldest(items, inBlocks(total - hard), words)
        items = rest.items
        left += rest.messages
        total = fixed + tokensOfAll(items)
      }
      left += messagesIn(items.filter(({ isUnknown }) => isUnknown))
      const newest = items.at(-1)!
      if (total > hard) {
        const { tokens } = newest.shown
        newest.shown = shortened(newest.shown, Math.max(tokens - (total - hard), 0))
        total += newest.shown.tokens - tokens
      }

      sent = total
      if (tooLong && sent >= last) return undefined
      const report = `${outputs} ${summarised} ${left}`
      if (report !== reported) onCompaction({ before, after: sent, outputs, summarised, dropped: left })
      reported = report
      return [...opening, ...items.flatMap(({ shown }) => shown.messages)]
    }
  }
}

interface Names {
  /** Returns the digest (see `chainsOf`) of all units before a unit. A unit is a user message, or a model message with its tool results. */
  chainAt: (unit: number) => string | undefined
  /**
   * Returns the position of the thread message that begins with a unit; undefined if no message begins there, or its position is unknown.
   */
  placeOf: (unit: number) => number | undefined
}

/**
 * Shortens a sequence of old items at the beginning of a conversation until it ends at the boundary of a thread message, so that the thread
 * can later be read from that boundary on. Returns all items if no boundary is known.
 */
function wholeMessages (old: Item[], placeOf: Names['placeOf']): { run: Item[], place?: number } {
  if (old[0].from !== 0) return { run: old }
  for (let count = old.length; count > 0; count--) {
    const place = placeOf(old[count - 1].to)
    if (place !== undefined) return count > 1 || old[0].summary === undefined ? { run: old.slice(0, count), place } : { run: old }
  }
  return { run: old }
}

const withoutPlace = ({ at, tokens, ...summary }: Summary): Summary => summary
