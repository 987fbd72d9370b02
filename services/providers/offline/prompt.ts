import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { COMMENT_OPENING, NOTE_OPENING } from '../../models/note-opening.ts'

/** A tool call made for the last user message, with its result once there is one. */
export interface MadeCall {
  toolName: string
  input: unknown
  output?: LanguageModelV4ToolResultOutput
}

/** Whether a message is a request of the user. The service's own notes and comments on a task have the user's role too. */
function isRequest (message: LanguageModelV4Message): boolean {
  if (message.role !== 'user') return false
  const [first] = message.content
  return first?.type !== 'text' || ![NOTE_OPENING, COMMENT_OPENING].some((opening) => first.text.startsWith(opening))
}

/** Returns the text of the last user message; '' when there is none. */
export function lastRequest (prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(isRequest)
  return message === undefined || message.role !== 'user'
    ? ''
    : message.content.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n')
}

/** Returns the last text of the model; '' when there is none. */
export function lastAnswer (prompt: LanguageModelV4Prompt): string {
  const texts = prompt.map((message) =>
    message.role === 'assistant' ? message.content.flatMap((part) => part.type === 'text' ? [part.text] : []).join('') : ''
  )
  return texts.findLast((text) => text !== '') ?? ''
}

/** Returns the tool calls since the last user message, in order. */
export function callsMade (prompt: LanguageModelV4Prompt): MadeCall[] {
  const calls = new Map<string, MadeCall>()
  const since = prompt.findLastIndex(isRequest)
  for (const message of prompt.slice(since + 1)) {
    if (message.role !== 'assistant' && message.role !== 'tool') continue
    for (const part of message.content) {
      if (part.type === 'tool-call') calls.set(part.toolCallId, { toolName: part.toolName, input: parsed(part.input) })
      const call = part.type === 'tool-result' ? calls.get(part.toolCallId) : undefined
      if (part.type === 'tool-result' && call) call.output = part.output
    }
  }
  return [...calls.values()]
}

/** Returns the number of the model's answers in this conversation. */
export function answersGiven (prompt: LanguageModelV4Prompt): number {
  return prompt.filter((message) => message.role === 'assistant').length
}

function parsed (input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}
