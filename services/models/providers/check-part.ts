import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** A malformed part of a model's answer. Not every provider SDK validates what the provider's server sends. */
class UnreadablePart extends Error {
  readonly code = 'ERR_ANSWER_UNREADABLE'
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

// The SDK's packages for particular providers end a stream like this when the provider's last event is missing.
const isBrokenOff = (part: LanguageModelV4StreamPart) => part.type === 'finish' && part.finishReason?.unified === 'interrupted'

/** Whether the answer fails at this part: it reports an error, is not readable, or says that the answer broke off. */
export const isFailure = (part: LanguageModelV4StreamPart): boolean => !isReadable(part) || part.type === 'error' || isBrokenOff(part)

/** Returns the failure of an answer that fails at this part. */
export function failureOf (part: LanguageModelV4StreamPart): unknown {
  if (!isReadable(part)) return new UnreadablePart('A part of the answer cannot be read.')
  return part.type === 'error' ? part.error : new Error("The model's answer broke off before it was finished.")
}

/** Whether the part has the fields that are used. An empty tool name is accepted and handled like an unknown tool. */
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
