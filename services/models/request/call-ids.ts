import { createHash } from 'node:crypto'
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'

/** The form of call ids that every provider takes. Mistral's servers and templates take no other. */
const PORTABLE = /^[a-zA-Z0-9]{9}$/
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const isPortableId = (id: string): boolean => PORTABLE.test(id)

/** Returns the id of a call in the form that every provider takes. The same id always gives the same result. */
function portableId (id: string): string {
  if (isPortableId(id)) return id
  return [...createHash('sha256').update(id).digest().subarray(0, 9)].map((byte) => LETTERS[byte % LETTERS.length]).join('')
}

/** Returns the messages with call ids in the form that every provider takes, except for the ids in `kept`. */
export function withPortableIds (messages: LanguageModelV4Prompt, kept: ReadonlySet<string> = new Set()): LanguageModelV4Prompt {
  const idOf = (id: string) => kept.has(id) ? id : portableId(id)
  return messages.map((message): LanguageModelV4Message => {
    if (message.role === 'assistant') {
      const content = message.content.map((part) => 'toolCallId' in part ? { ...part, toolCallId: idOf(part.toolCallId) } : part)
      return { ...message, content }
    }
    if (message.role !== 'tool') return message
    return {
      ...message,
      content: message.content.map((part) => part.type === 'tool-result' ? { ...part, toolCallId: idOf(part.toolCallId) } : part)
    }
  })
}
