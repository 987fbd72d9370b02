import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { dropOldest, itemsOf, messagesIn, prune, tokensOfAll, tooOld, withSummaries, type Item, type Summary } from './items.ts'
import { shortened } from './prune.ts'
import { refusalsIn, summarise, summaryNote, type Ask } from './summarise.ts'
import { tokensIn, tokensOf } from './tokens.ts'
import { chainsOf, unitsOf } from './units.ts'

export type { Summary } from './items.ts'

/** What was done to make a conversation fit: tokens as estimated; outputs left out, messages summed up and left out. */
export interface Compaction { before: number, after: number, outputs: number, summarised: number, dropped: number }

export interface RoomParts {
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

export type Room = ReturnType<typeof createRoom>

/**
 * Makes the conversation of a run fit its model: old outputs of tools are left out first, then what is old is summed up
 * by the role `fast`, and what still does not fit is left out. The system prompt, the user's latest message with what
 * they said since, and the newest step stay; calls and their results stay together.
 */
export function createRoom ({ contextWindow, ask, askedWindow, load, keep, say }: RoomParts) {
  const budgets = new Map<string, number>()
  let summaries: Summary[] | undefined
  let prunedTo = 0
  let mayAsk = true
  let told = '0 0 0'
  let sent = 0

  /** The items with their old ones summed up; the same where no summary of any use can be had. */
  async function summedUp (items: Item[], room: number, chains: string[]): Promise<Item[]> {
    let result = items
    for (const run of tooOld(items, room)) {
      const fresh = run.filter(({ summary }) => summary === undefined)
      const earlier = run.flatMap(({ summary }) => summary ?? [])
      if (!mayAsk || fresh.length === 0 || tokensOfAll(run) < WORTH_TOKENS) continue
      const most = Math.min(SHOWN, SHOWN_A_TOKEN * await askedWindow(tokensOfAll(run)))
      const text = await summarise(fresh.flatMap(({ raw }) => raw), { ask, most, earlier: earlier.map((summary) => summary.text) })
      const { from } = run[0]
      const { to } = run.at(-1)!
      const refused = [...earlier.flatMap((summary) => summary.refused), ...refusalsIn(fresh.flatMap(({ raw }) => raw))]
      const summary = text === undefined ? undefined : { from, to, chain: chains[to - 1], text, refused }
      if (summary === undefined || summaryNote(summary).tokens >= tokensOfAll(run)) {
        // Who gives none, or a longer one than what it is of, is not asked again in this run.
        mayAsk = false
        break
      }
      summaries = [...summaries!.filter((other) => other.to <= from || other.from >= to), summary].slice(-KEPT)
      result = withSummaries(result, [summary], chains)
      await keep(summaries)
    }
    return result
  }

  return {
    /**
     * The prompt of a call of the model `id`. `tooLong` says that the provider has just refused what this gave; undefined
     * when nothing more can be left out then.
     */
    async fit (id: string, { system, messages, latest, tools }: Conversation, tooLong: boolean): Promise<LanguageModelV4Prompt | undefined> {
      const units = unitsOf(messages)
      const fixed = tokensOf(system) + tokensIn(JSON.stringify(tools))
      let items = itemsOf(units, unitsOf(messages.slice(0, latest)).length)
      const total = () => fixed + tokensOfAll(items)
      const before = total()
      const window = await contextWindow(id, before)
      if (tooLong) budgets.set(id, sent * HARDER)
      const budget = budgets.get(id) ?? window * FULL
      const wanted = budget * WANTED / FULL
      const last = sent
      sent = before
      if (before <= budget) return [system, ...messages]

      prunedTo = prune(items, prunedTo, () => 0)
      if (total() > budget) prunedTo = prune(items, prunedTo, () => total() - wanted)
      const outputs = items.filter(({ shown, raw }) => shown !== raw[0] && shown.tokens < raw[0].tokens).length
      if (total() > budget) {
        const chains = chainsOf(units)
        summaries ??= await load()
        items = withSummaries(items, summaries, chains)
        const free = items.filter(({ isProtected }) => !isProtected)
        const room = wanted - (total() - tokensOfAll(free)) - Math.min(RESERVE_TOKENS, RESERVE * budget)
        if (total() > budget) items = await summedUp(items, Math.max(room, 0), chains)
      }
      const summarised = messagesIn(items.filter(({ summary }) => summary !== undefined))
      const hard = budgets.has(id) ? budget : window * MOST
      let count = 0
      if (total() > hard) ({ items, messages: count } = dropOldest(items, total() - hard))
      const newest = items.at(-1)!
      if (total() > hard) newest.shown = shortened(newest.shown, Math.max(newest.shown.tokens - (total() - hard), 0))

      sent = total()
      if (tooLong && sent >= last) return undefined
      const done = `${outputs} ${summarised} ${count}`
      if (done !== told) say({ before, after: sent, outputs, summarised, dropped: count })
      told = done
      return [system, ...items.flatMap(({ shown }) => shown.messages)]
    }
  }
}
