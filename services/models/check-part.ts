import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** A malformed part of a model's answer. Not every provider SDK validates what the provider's server sends. */
export class UnreadablePart extends Error {
  readonly code = 'ERR_ANSWER_UNREADABLE'
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * Throws UnreadablePart unless the part has the fields that are used, and an Error for the finish of an answer that broke off. An
 * empty tool name is accepted and handled like an unknown tool.
 */
export function checkPart (part: LanguageModelV4StreamPart): void {
  // The SDK's packages for particular providers end a stream like this when the provider's last event is missing.
  if (part?.type === 'finish' && part.finishReason?.unified === 'interrupted') {
    throw new Error("The model's answer broke off before it was finished.")
  }
  if (!isReadable(part)) throw new UnreadablePart('A part of the answer cannot be read.')
}

function isReadable (part: LanguageModelV4StreamPart): boolean {
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
