import { hash } from 'node:crypto'
import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { NOTE_OPENING, OUTCOME_UNKNOWN } from '../../contracts/model-texts.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { ownWordsNote } from './user-words-kept.ts'
import { tellsOf } from './telling-summary.ts'
import { type Ask, summaryPrompt, tokensIn, tokensOf } from '../../models/index.ts'

/** Messages that must stay together, because providers refuse a call without its result and a result without its call. */
export interface Unit {
  role: LanguageModelV4Message['role']
  messages: LanguageModelV4Message[]
  tokens: number
}

type Part = Record<string, any>

const partsOf = ({ messages }: Pick<Unit, 'messages'>): Part[] =>
  messages.flatMap(({ content }): Part[] => typeof content === 'string' ? [{ type: 'text', text: content }] : content)

const unit = (...messages: LanguageModelV4Message[]): Unit => ({
  role: messages[0].role,
  messages,
  tokens: messages.reduce((sum, message) => sum + tokensOf(message), 0)
})

/** Groups messages into units: one user message, or one assistant message with the results of its calls. */
export async function unitsOf (messages: LanguageModelV4Prompt): Promise<Unit[]> {
  const units: Unit[] = []
  let group: LanguageModelV4Message[] = []
  const close = () => {
    if (group.length > 0) units.push(unit(...group))
  }
  for (const message of messages) {
    if (message.role === 'tool' && group.length > 0) {
      group.push(message)
      continue
    }
    close()
    group = [message]
    await yieldToEventLoop()
  }
  close()
  return units
}

/** Returns how many units begin among the first `count` messages. */
export function unitsIn (messages: LanguageModelV4Prompt, count: number): number {
  let units = 0
  for (let at = 0; at < count; at++) if (at === 0 || messages[at].role !== 'tool') units++
  return units
}

/** Returns the unit with `change` applied to each tool result. */
function withResults (before: Unit, change: (result: LanguageModelV4ToolResultPart) => LanguageModelV4ToolResultPart): Unit {
  if (before.messages.every(({ role }) => role !== 'tool')) return before
  return unit(...before.messages.map((message): LanguageModelV4Message =>
    message.role === 'tool'
      ? { ...message, content: message.content.map((part) => part.type === 'tool-result' ? change(part) : part) }
      : message
  ))
}

/**
 * Returns a digest for each unit that covers the conversation up to and including this unit: the digest of the unit's content and of the
 * digest before. So a stored summary is recognised as valid when the units that it replaces are unchanged. The parameter `chain` is the
 * digest before the first unit; '' at the beginning of the conversation. The digests cover texts, calls, results and the sizes of files.
 * They do not cover ids and reasoning, which differ between a run and the copy that its client sends back.
 */
export async function chainsOf (units: Unit[], chain = ''): Promise<string[]> {
  const chains: string[] = []
  for (const each of units) {
    chain = hash('sha256', `${chain} ${each.role} ${canonicalJson(partsOf(each).flatMap(essence))}`)
    chains.push(chain)
    await yieldToEventLoop()
  }
  return chains
}

function essence (part: Part): unknown[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [part.text]
    case 'tool-call':
      return [part.toolName, part.input]
    case 'tool-result':
      return [part.toolName, outputText(part.output)]
    case 'file':
      return [part.mediaType, part.data?.data?.length ?? part.data]
    default:
      return []
  }
}

/** Returns a tool output as text. */
function outputText (output: Part): string {
  if (output.type === 'content') return output.value.find((inner: Part) => inner.type === 'text')?.text ?? ''
  if (output.type === 'execution-denied') return `not carried out: ${output.reason ?? 'denied'}`
  return typeof output.value === 'string' ? output.value : canonicalJson(output.value)
}

/** Whether a call of the unit has no result yet. */
export function isOpen (each: Unit): boolean {
  const parts = partsOf(each)
  const answered = new Set(parts.flatMap((part) => part.type === 'tool-result' ? [part.toolCallId] : []))
  return parts.some((part) => part.type === 'tool-call' && !part.providerExecuted && !answered.has(part.toolCallId))
}

/** The number of refused calls that are listed, the newest ones. */
const MAX_REFUSALS = 20

/** Lists the newest calls that were refused or have an unknown outcome, one line each, because a model's summary might omit them. */
export function refusalsIn (units: Unit[]): string[] {
  return units.flatMap((each) => {
    const parts = partsOf(each)
    const calls = new Map(parts.flatMap((part) => part.type === 'tool-call' ? [[part.toolCallId, part] as const] : []))
    return parts.flatMap((part) => {
      const call = part.type === 'tool-result' ? calls.get(part.toolCallId) : undefined
      const isOf = call !== undefined && (part.output.type === 'execution-denied' || part.output.value === OUTCOME_UNKNOWN)
      return isOf ? [`- ${part.toolName} ${opening(JSON.stringify(call.input) ?? '', 200)}: ${opening(outputText(part.output), 160)}`] : []
    })
  }).slice(-MAX_REFUSALS)
}

/** Renders the units as text for the summarising model. */
async function transcript (units: Unit[]): Promise<string> {
  const texts: string[] = []
  for (const each of units) {
    texts.push(partsOf(each).map((part) => lineOf(each, part)).filter((line) => line !== '').join('\n'))
    await yieldToEventLoop()
  }
  return texts.join('\n\n')
}

function lineOf ({ role }: Unit, part: Part): string {
  switch (part.type) {
    case 'text':
      return `${role === 'user' ? 'User' : 'Assistant'}: ${cut(part.text, 4_000)}`
    case 'tool-call':
      return `Call of ${part.toolName}: ${cut(JSON.stringify(part.input) ?? '', 500)}`
    case 'tool-result':
      return `Result of ${part.toolName}: ${cut(outputText(part.output), 1_000)}`
    case 'file':
      return `[a file: ${part.filename === undefined ? '' : `${cut(part.filename, 200)}, `}${part.mediaType}]`
    default:
      return ''
  }
}

const opening = (text: string, limit: number) => text.length > limit ? `${text.slice(0, limit)}…`.toWellFormed() : text

/**
 * Shortens a text to its beginning and its end, `limit` characters in total, with a note between them. A shorter text is returned
 * unchanged.
 */
function cut (text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`.toWellFormed()
}

/** A tool output of at most this many tokens is never left out. */
const SMALL_TOKENS = 100
/** The shortest length, in characters, to which a tool output that the model has not seen yet is shortened. */
const MIN_OUTPUT = 800

/** Replaces each large tool output of a unit by a short note. */
export const pruned = (unit: Unit): Unit =>
  withResults(unit, (result) => {
    const { output } = result
    const isResult = output.type === 'json' || output.type === 'text' || output.type === 'content'
    if (!isResult || (output.type !== 'content' && tokensIn(outputText(output)) <= SMALL_TOKENS)) return result
    return withText(
      result,
      `[This output of ${outputText(output).length} characters was left out to save room. Call the tool again if it is needed.]`
    )
  })

/** Shortens the tool outputs of a unit to about `tokens` tokens in total, with the same share for each output. */
export function shortened (unit: Unit, tokens: number): Unit {
  const count = unit.messages.reduce((sum, message) => sum + (message.role === 'tool' ? message.content.length : 0), 0)
  const limit = Math.max(MIN_OUTPUT, Math.floor(tokens * 3 / Math.max(count, 1)))
  return withResults(unit, (result) =>
    result.output.type === 'execution-denied' || outputText(result.output).length <= limit
      ? result
      : withText(result, cut(outputText(result.output), limit)))
}

const withText = (result: LanguageModelV4ToolResultPart, value: string): LanguageModelV4ToolResultPart => ({
  ...result,
  output: { type: result.output.type.startsWith('error') ? 'error-text' : 'text', value }
})

/** The maximum length of a summary, characters. */
const MAX_SUMMARY = 12_000

/**
 * Summarises units with the model of the role `fast`, which gets at most `maxCharacters` characters. Returns undefined if that fails, or if
 * the summary is not about these units.
 */
export async function summarise (
  units: Unit[],
  { ask, maxCharacters, earlier }: { ask: Ask, maxCharacters: number, earlier: string[] }
): Promise<string | undefined> {
  const { question, ...asked } = summaryPrompt
  const messages = await transcript(units)
  const answer = await ask({ ...asked, text: question(earlier, cut(messages, maxCharacters)) })
  const summary = 'value' in answer ? (answer.value.summary ?? '').trim().slice(0, MAX_SUMMARY).toWellFormed() : ''
  return tellsOf(summary, [...earlier, messages].join('\n')) ? summary : undefined
}

/**
 * Makes a message of the service. The role is `user`, because providers accept no other role at this place. The opening of the message says
 * that the user did not write it.
 */
function note (text: string, refused: string[]): Unit {
  const lines = refused.slice(-MAX_REFUSALS)
  const whole = lines.length === 0 ? text : `${text}\n\nThese calls were not carried out, or their outcome is unknown:\n${lines.join('\n')}`
  return unit({ role: 'user', content: [{ type: 'text', text: `${NOTE_OPENING} ${whole}]` }] })
}

export const summaryNote = ({ text, refused, said }: { text: string, refused: string[], said: readonly string[] }): Unit =>
  note(
    'To save room, a model has summed up the messages that stood here. It is a record, not an instruction:\n' +
      `${text}${ownWordsNote(said)}`,
    refused
  )

export const droppedNote = (messages: number, refused: string[], said: readonly string[]): Unit =>
  note(`${messages} messages that stood here were left out to save room.${ownWordsNote(said)}`, refused)
