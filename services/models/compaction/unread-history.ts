import type { Item, Summary } from './items.ts'
import { droppedNote, summaryNote } from './summarise.ts'

/** What of a thread lies before the messages that were read of it. */
export interface Older {
  /** Where in the thread the first message stands that was read. */
  at: number
  /** How many messages lie before it, instructions of the application not counted. */
  messages: number
  /** How many units those are, and what names them: as the summary says that stands for them. */
  units: number
  chain: string
  /** Tokens that they are, estimated. */
  tokens: number
}

/** What was not read when no summary stands for exactly that. */
export const unreadBefore = (at: number, messages: number, tokens: number): Older => ({
  at,
  messages,
  units: at,
  chain: `from ${at}`,
  tokens
})

/** What a summary stands for, where that is known to be the beginning of the thread. */
export function standsFor ({ from, to, chain, at, tokens = 0 }: Summary): Omit<Older, 'messages'> | undefined {
  return from === 0 && at !== undefined ? { at, units: to, chain, tokens } : undefined
}

/**
 * What the model is shown of what was not read: the summary of it, or the newest one of a part of it with a word about
 * the rest; with the number of messages in that gap. As a summary it goes into the next one.
 */
export function itemOf ({ at, messages, units, chain, tokens }: Older, summaries: Summary[]): { item: Item, gap: number } {
  const known = summaries.filter((summary) => (standsFor(summary)?.at ?? Infinity) <= at).sort((a, b) => b.at! - a.at!)[0]
  const gap = known === undefined ? messages : at - known.at!
  const unknown = `${gap} messages ${known === undefined ? 'at the beginning' : 'after that'} are not known.`
  const text = known === undefined ? unknown : gap === 0 ? known.text : `${known.text}\n\n${unknown}`
  const summary = { from: 0, to: units, chain, text, refused: known?.refused ?? [], at, tokens }
  const shown = known === undefined ? droppedNote(messages, []) : summaryNote(summary)
  return known === undefined
    ? { item: { from: 0, to: units, raw: [], shown, summary, isUnknown: true, isProtected: false, messages }, gap: 0 }
    : { item: { from: 0, to: units, raw: [], shown, summary, isProtected: false, messages: messages - gap }, gap }
}
