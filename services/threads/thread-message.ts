import { MESSAGE_ROLES } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import { PROMPT_OPENING, SKILL_OPENING } from '../contracts/model-texts.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import type { Steer } from '../../schemas/steering.ts'
import type { ThreadMessage } from './stored-answer.ts'

export type { RawMessage, ThreadMessage } from './stored-answer.ts'

export const BadMessage = defineError('ERR_INVALID_MESSAGES', '%s')

/**
 * Returns the most helpful issue of a failed validation of a union: the one with the longest path, because its alternative is most likely
 * the intended one.
 */
export function deepestIssue (issues: ReadonlyArray<{ path: readonly PropertyKey[], message: string }>) {
  return issues.toSorted((a, b) => b.path.length - a.path.length)[0]
}

/** Throws BadMessage (400) unless every message has a known role and well-formed content. */
export function checkMessages (messages: ThreadMessage[]) {
  for (const [at, { role, parts, content }] of messages.entries()) {
    if (!MESSAGE_ROLES.includes(role)) throw new BadMessage(`messages[${at}].role must be one of ${MESSAGE_ROLES.join(', ')}.`)
    const isMessage = parts === undefined ? typeof content === 'string' || isParts(content) : isParts(parts)
    if (!isMessage) {
      throw new BadMessage(`messages[${at}] must have "parts" (a UIMessage), or "content" that is a text or an array of parts.`)
    }
  }
}

const isParts = (value: unknown) =>
  Array.isArray(value) && value.every((part) => typeof part === 'object' && part !== null && typeof part.type === 'string')

/** Returns the parts of a message of either format. A plain text counts as one part; a message without parts and content gives []. */
export function partsOf ({ parts, content }: ThreadMessage): any[] {
  const list = parts ?? content
  if (typeof list === 'string') return [{ type: 'text', text: list }]
  return Array.isArray(list) ? list : []
}

/** Returns the text of a message, without files, reasoning and tool parts. */
export const textOf = (message: ThreadMessage, separator = ''): string =>
  partsOf(message).flatMap((part) => part?.type === 'text' && typeof part.text === 'string' ? [part.text] : []).join(separator)

/** Whether a part of the user's message is a choice of the user: the text of a prompt, or the name of a skill. */
const isChosen = (part: any): boolean =>
  part?.type === 'text' && typeof part.text === 'string' && [PROMPT_OPENING, SKILL_OPENING].some((opening) => part.text.startsWith(opening))

/** Whether the user has chosen a prompt or a skill for a message. */
export const hasChosen = (message: ThreadMessage): boolean => message.role === 'user' && partsOf(message).some(isChosen)

/**
 * Returns the parts of a user message after the chosen prompt or skill, because clients do not have the choice in their copy; all parts if
 * there are no others.
 */
function ownParts (message: ThreadMessage): any[] {
  const parts = partsOf(message)
  const own = message.role === 'user' ? parts.slice(parts.findLastIndex(isChosen) + 1) : parts
  return own.length === 0 ? parts : own
}

/** Returns the text that the user wrote in a message; if there is none, the names of the chosen prompt and skill, as `/name`. */
export function ownText (message: ThreadMessage, separator = ''): string {
  const parts = ownParts(message).filter((part) => !isChosen(part))
  const text = textOf({ role: 'user', parts }, separator)
  return text.trim() === '' ? partsOf(message).filter(isChosen).map(nameOfChosen).join(' ') : text
}

const nameOfChosen = ({ text }: { text: string }): string => {
  const [, name] = /^[^"]*("(?:[^"\\]|\\.)*")/.exec(text) ?? []
  return name === undefined ? '' : `/${JSON.parse(name)}`
}

/**
 * Returns the content of a user message in a canonical form for comparison. A UIMessage and a ModelMessage with the same content have the
 * same form, and a text equals a single text part. White space, ids, metadata and parts that only chats have are ignored.
 */
export function canonicalContent (message: ThreadMessage): string {
  const parts = ownParts(message)
  const [only, ...more] = parts
  // A fast path for the most frequent form, with the same result.
  if (more.length === 0 && only?.type === 'text' && typeof only.text === 'string') {
    return `[{"text":${JSON.stringify(withoutBlanks(only.text))},"type":"text"}]`
  }
  return canonicalJson(parts.flatMap((part) => {
    if (part?.type === 'text') return [{ type: 'text', text: withoutBlanks(String(part.text)) }]
    if (part?.type === 'file' || part?.type === 'image') return [{ type: 'file', data: dataOf(part) }]
    return typeof part?.type === 'string' && part.type.startsWith('data-') ? [] : [part]
  }))
}

/** Returns a text with each run of white space replaced by one blank, because clients trim texts and change line breaks. */
const withoutBlanks = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Returns the content of a file part: the Base64 data of a `data:` URL, or any other URL. */
function dataOf ({ url, data = url, image = data }: { url?: unknown, data?: unknown, image?: unknown }): unknown {
  return typeof image === 'string' ? image.replace(/^data:[^,]*;base64,/i, '') : image
}

/** Marks a message that the user sent during an answer (see steer-messages.ts). */
export type SteerMark = Pick<Steer, 'id' | 'state' | 'step'>

/** Returns the mark of a message that the user sent to a run; undefined for other messages. */
export function markOf ({ role, parts, steer, metadata }: ThreadMessage): SteerMark | undefined {
  if (role !== 'user') return undefined
  const mark = parts === undefined ? steer : (metadata as { steer?: unknown } | null | undefined)?.steer
  return typeof (mark as Partial<SteerMark> | null | undefined)?.id === 'string' ? mark as SteerMark : undefined
}

/** Whether a message is a user message that asks for an answer, not a steering message. */
export const beginsTurn = (message: ThreadMessage): boolean => message.role === 'user' && markOf(message) === undefined

/**
 * Groups messages into turns: the user's message, its index, and the messages up to the next turn. Messages before the first turn are left
 * out.
 */
export function turnsIn (messages: readonly ThreadMessage[]): Array<{ at: number, message: ThreadMessage, answer: ThreadMessage[] }> {
  const starts = messages.flatMap((message, at) => beginsTurn(message) ? [at] : [])
  return starts.map((at, n) => ({ at, message: messages[at], answer: messages.slice(at + 1, starts[n + 1]) }))
}

/** Marks the text of the second version of an answer, which follows the first version. */
export const REVISION_MARK = { agent: { isRevision: true } }

/**
 * Returns the text of an answer in the ways in which clients keep it: the whole text, and the part after the last tool call, in its first
 * and in its second version. All white space is removed.
 */
export function answerTexts (answer: readonly ThreadMessage[]): [whole: string, first: string, second: string] {
  const messages = answer.filter(({ role }) => role === 'assistant')
  const parts = messages.flatMap(partsOf)
  const end = parts.slice(parts.findLastIndex((part) => /^(tool-|dynamic-tool|step-start)/.test(part?.type)) + 1)
  const isRevision = (part: any) => part?.providerOptions?.agent?.isRevision === true
  const [first, second] = [false, true].map((wanted) =>
    textOf({ role: 'assistant', parts: end.filter((part) => isRevision(part) === wanted) }))
  const texts = [messages.map((message) => textOf(message)).join(''), first, second === '' ? first : second]
  // Mostly, the three texts are the same.
  const plain = new Map([...new Set(texts)].map((text) => [text, text.replace(/\s+/g, '')]))
  return texts.map((text) => plain.get(text)!) as [string, string, string]
}

/** Returns the beginning of a text on one line, at most `limit` characters and an ellipsis, cut between words if possible. */
export function excerpt (text: string, limit: number): string {
  const line = text.slice(0, limit * 4).toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line.length <= limit) return line
  const cut = line.slice(0, limit)
  const blank = cut.lastIndexOf(' ')
  return `${(blank > limit / 2 ? cut.slice(0, blank) : cut).toWellFormed().trimEnd()}…`
}

/**
 * Returns a chat's message without attempts at steps that broke off: for each `data-retry` part, the parts from the last `step-start`
 * before it are removed. Returns the message itself if there is no such part.
 */
export function dropTries<M extends { role: string }> (message: M): M {
  const { parts } = message as { parts?: unknown }
  if (!Array.isArray(parts) || !parts.some((part) => part?.type === 'data-retry')) return message
  const kept: Array<{ type?: string }> = []
  for (const part of parts) {
    if (part?.type !== 'data-retry') kept.push(part)
    else kept.length = Math.max(kept.findLastIndex((each) => each?.type === 'step-start'), 0)
  }
  return { ...message, parts: kept }
}
