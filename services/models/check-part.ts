import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** A malformed part of a model's answer. Not every provider SDK validates what the provider's server sends. */
export class UnreadablePart extends Error {
  readonly code = 'ERR_ANSWER_UNREADABLE'
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Returns why an answer ends at a part that reports an error or is not readable. */
export const failureOf = (part: LanguageModelV4StreamPart): unknown =>
  isReadable(part) && part.type === 'error' ? part.error : new UnreadablePart('A part of the answer cannot be read.')

/** Whether the part has the fields that are used. An empty tool name is accepted and handled like an unknown tool. */
export function isReadable (part: LanguageModelV4StreamPart): boolean {
  switch (part?.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
      return isText(part.delta) && isText(part.id)
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
      return isText(part.id)
    case 'tool-input-start':
      return isId(part.id) && isText(part.toolName)
    case 'tool-call':
      return isId(part.toolCallId) && isText(part.toolName) && isText(part.input)
    default:
      return isText(part?.type)
  }
}
