import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { dropOldest, isSummed, itemsOf, messagesIn, prune, tokensOfAll, tooOld, withSummaries, type Item, type Summary } from './items.ts'
import { itemOf, type Older } from './unread-history.ts'
import { shortened } from './prune-outputs.ts'
import { refusalsIn, summarise, summaryNote, type Ask } from './summarise.ts'
import { tokensIn, tokensOf } from './token-estimate.ts'
import { chainsOf, unitsIn, unitsOf } from './units.ts'

export type { Summary } from './items.ts'

/** What was done to make a conversation fit: tokens as estimated; outputs left out, messages summed up and left out. */
export interface Compaction {
  before: number
  after: number
  outputs: number
  summarised: number
  dropped: number
}

export interface CompactorParts {
  /** Tokens that the model reads at once; may be a guess where a conversation of so many fits easily. */
  contextWindow: (id: string, tokens: number) => Promise<number>
  ask: Ask
  /** Tokens that the one who is asked reads at once. */
  askedWindow: (tokens: number) => Promise<number>
  /** Summaries that were made before, and where to keep those there are now. */
  load: () => Promise<Summary[]>
  keep: (summaries: Summary[]) => Promise<unknown>
  /** Told what was done whenever it is something else than the last time. */
  say: (compaction: Compaction) => void
}

export interface Conversation {
  system: LanguageModelV4Message
  messages: LanguageModelV4Prompt
  /** Where among the messages the user's latest stands. What the user says behind it is steering. */
  latest: number
  tools: unknown[]
  /** What of the thread lies before the messages. */
  older?: Older
  /** Where in the thread messages stand; of each message there the first that the model is told of it. */
  places?: ReadonlyMap<LanguageModelV4Message, number>
}

/** Shares of the model's window: beyond the first a conversation is made smaller, to the second where that can be had, and to the third at least. */
const FULL = 0.7
const WANTED = 0.5
const MOST = 0.9
/** Of what a provider has found too long. */
const HARDER = 0.6
/** Less than this is not worth a summary. */
const WORTH_TOKENS = 200
/** Kept free for a new summary, and the share of the budget that this is at most. */
const RESERVE_TOKENS = 3_000
const RESERVE = 0.15
/** Characters shown to the model that sums up: so many for each token it reads at once, and never more than these. */
const SHOWN_A_TOKEN = 2
const SHOWN = 300_000
/** Summaries of one conversation; the newest are kept. */
const KEPT = 8

export type Compactor = ReturnType<typeof createCompactor>

/**
 * Makes the conversation of a run fit its model: old outputs of tools are left out first, then what is old is summed up
 * by the role `fast`, and what still does not fit is left out. The system prompt, the user's latest message with what
 * they said since, and the newest step stay; calls and their results stay together. Each pass takes every message once,
 * and lets the event loop go on between them.
 */
export function createCompactor ({ contextWindow, ask, askedWindow, load, keep, say }: CompactorParts) {
  const budgets = new Map<string, number>()
  let summaries: Summary[] | undefined
  let prunedTo = 0
  let mayAsk = true
  let told = '0 0 0'
  let sent = 0

  /** The items with their old ones summed up; the same where no summary of any use can be had. */
  async function summedUp (items: Item[], room: number, { chainAt, placeOf }: Names): Promise<Item[]> {
    let result = items
    for (const old of tooOld(items, room)) {
      const { run, place } = wholeMessages(old, placeOf)
      const tokens = tokensOfAll(run)
      const fresh = run.filter(({ summary }) => summary === undefined)
      const earlier = run.flatMap(({ summary }) => summary ?? [])
      if (!mayAsk || fresh.length === 0 || tokens < WORTH_TOKENS) continue
      const most = Math.min(SHOWN, SHOWN_A_TOKEN * await askedWindow(tokens))
      const units = fresh.flatMap(({ raw }) => raw)
      const text = await summarise(units, { ask, most, earlier: earlier.map((summary) => summary.text) })
      const { from } = run[0]
      const { to } = run.at(-1)!
      const refused = [...earlier.flatMap((summary) => summary.refused), ...refusalsIn(units)]
      const before = earlier.reduce((sum, summary) => sum + (summary.tokens ?? 0), 0) + units.reduce((sum, unit) => sum + unit.tokens, 0)
      const summary = text === undefined
        ? undefined
        : { from, to, chain: chainAt(to)!, text, refused, ...(from === 0 && place !== undefined && { at: place, tokens: before }) }
      if (summary === undefined || summaryNote(summary).tokens >= tokens) {
        // Who gives none, or a longer one than what it is of, is not asked again in this run.
        mayAsk = false
        break
      }
      summaries = [...summaries!.filter((other) => other.to <= from || other.from >= to), summary].slice(-KEPT)
      result = withSummaries(result, [summary], chainAt)
      await keep(summaries)
    }
    return result
  }

  return {
    /**
     * The prompt of a call of the model `id`. `tooLong` says that the provider has just refused what this gave; undefined
     * when nothing more can be left out then.
     */
    async compact (
      id: string,
      { system, messages, latest, tools, older, places }: Conversation,
      tooLong: boolean
    ): Promise<LanguageModelV4Prompt | undefined> {
      const units = await unitsOf(messages)
      const offset = older?.units ?? 0
      const fixed = tokensOf(system) + tokensIn(JSON.stringify(tools))
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
      if (tooLong) budgets.set(id, sent * HARDER)
      const budget = budgets.get(id) ?? window * FULL
      const wanted = budget * WANTED / FULL
      const last = sent
      sent = total
      if (total <= budget && older === undefined) return [system, ...messages]

      if (total > budget) {
        const { saved } = await prune(items, { from: 0, to: prunedTo, excess: 0 })
        total -= saved
      }
      if (total > budget) {
        const { to, saved } = await prune(items, { from: prunedTo, to: prunedTo, excess: total - wanted })
        prunedTo = to
        total -= saved
      }
      const outputs =
        items.filter(({ shown, raw, summary }) => summary === undefined && shown !== raw[0] && shown.tokens < raw[0].tokens).length
      if (total > budget) {
        const chains = await chainsOf(units, older?.chain)
        const chainAt = (unit: number): string | undefined => unit === offset ? older?.chain : chains[unit - offset - 1]
        if (summaries === undefined) {
          summaries = (await load()).map((summary) => chainAt(summary.to) === summary.chain ? summary : withoutPlace(summary))
        }
        items = withSummaries(items, summaries, chainAt)
        total = fixed + tokensOfAll(items)
        const free = tokensOfAll(items.filter(({ isProtected }) => !isProtected))
        const room = wanted - (total - free) - Math.min(RESERVE_TOKENS, RESERVE * budget)
        if (total > budget) {
          items = await summedUp(items, Math.max(room, 0), {
            chainAt,
            placeOf: (unit) => unit === offset ? older?.at : places?.get(units[unit - offset]?.messages[0])
          })
        }
        total = fixed + tokensOfAll(items)
      }
      const summarised = messagesIn(items.filter(isSummed))
      const hard = budgets.has(id) ? budget : window * MOST
      if (total > hard) {
        const rest = await dropOldest(items, total - hard)
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
      const done = `${outputs} ${summarised} ${left}`
      if (done !== told) say({ before, after: sent, outputs, summarised, dropped: left })
      told = done
      return [system, ...items.flatMap(({ shown }) => shown.messages)]
    }
  }
}

interface Names {
  /** Names the units before one. */
  chainAt: (unit: number) => string | undefined
  /** Where in the thread the message stands that begins with a unit; undefined when it begins with another, or nobody knows. */
  placeOf: (unit: number) => number | undefined
}

/**
 * The old items of a conversation's beginning without those of its last message that is only in part among them: then the
 * thread may be read from behind what they are of. All of them where that cannot be known.
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
