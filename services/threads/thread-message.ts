import { createError } from '@fastify/error'
import { canonicalJson } from '../lib/canonical-json.ts'

export const BadMessages = createError('ERR_INVALID_MESSAGES', '%s', 400)

/** A message as its client gave it, or as a run made it: a UIMessage (`parts`) or a ModelMessage (`content`). */
export interface ThreadMessage {
  role: string
  [field: string]: unknown
}

const ROLES = ['system', 'user', 'assistant', 'tool']

/** Throws BadMessages (400) unless all have a role and something that can be read as a message later. */
export function checkMessages (messages: ThreadMessage[]) {
  for (const [at, { role, parts, content }] of messages.entries()) {
    if (!ROLES.includes(role)) throw new BadMessages(`messages[${at}].role must be one of ${ROLES.join(', ')}.`)
    const isMessage = parts === undefined ? typeof content === 'string' || isParts(content) : isParts(parts)
    if (!isMessage) {
      throw new BadMessages(`messages[${at}] must have "parts" (a UIMessage), or "content" that is a text or an array of parts.`)
    }
  }
}

const isParts = (value: unknown) =>
  Array.isArray(value) && value.every((part) => typeof part === 'object' && part !== null && typeof part.type === 'string')

/** The parts of a message, in either shape; a text is one part. */
export function partsOf ({ parts, content }: ThreadMessage): any[] {
  const list = parts ?? content
  if (typeof list === 'string') return [{ type: 'text', text: list }]
  return Array.isArray(list) ? list : []
}

/** What is said in a message, without its files, thoughts and tools. */
export const textOf = (message: ThreadMessage, separator = ''): string =>
  partsOf(message).flatMap((part) => part?.type === 'text' && typeof part.text === 'string' ? [part.text] : []).join(separator)

/** The one text for what a user's message says: a text and its one part are the same, ids and metadata say nothing. */
export function essence (message: ThreadMessage): string {
  const [only, ...more] = partsOf(message)
  // What most messages are, and the same as the rest would make of it.
  if (more.length === 0 && only?.type === 'text' && typeof only.text === 'string') {
    return `[{"text":${JSON.stringify(only.text)},"type":"text"}]`
  }
  const parts = partsOf(message).map((part) => part?.type === 'text' ? { type: 'text', text: part.text } : part)
  return canonicalJson(parts)
}

/** What the assistant said last, as a client may keep it: all of an answer, or what follows its last tool call. No blanks. */
export function tellings (messages: ThreadMessage[]): string[] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const answers = messages.slice(last + 1).filter(({ role }) => role === 'assistant')
  const whole = answers.map((message) => textOf(message)).join('')
  const parts = answers.flatMap(partsOf)
  const end = parts.slice(parts.findLastIndex((part) => /^(tool-|dynamic-tool|step-start)/.test(part?.type)) + 1)
  return [...new Set([whole, textOf({ role: 'assistant', parts: end })].map((text) => text.replace(/\s+/g, '')))]
}

/** The beginning of a text on one line, cut between words where it can be. */
export function opening (text: string, most: number): string {
  const line = text.slice(0, most * 4).toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line.length <= most) return line
  const cut = line.slice(0, most)
  const blank = cut.lastIndexOf(' ')
  return `${(blank > most / 2 ? cut.slice(0, blank) : cut).toWellFormed().trimEnd()}…`
}
