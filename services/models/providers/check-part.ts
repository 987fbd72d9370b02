import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** A malformed part of a model's answer. Not every provider SDK validates what the provider's server sends. */
class UnreadablePart extends Error {
  readonly code = 'ERR_ANSWER_UNREADABLE'
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const BROKE_OFF = "The model's answer broke off before it was finished."

/** Finish reasons of servers for an answer that failed on their side or on the way. */
const BROKEN = new RegExp(
  String.raw`^(?:(?:network|model|server|internal|engine|provider|upstream)[_ -])?(?:error|failure)$|` +
    String.raw`^(?:abort|cancel|cancell)(?:ed)?$|^timed?[_ -]?out$|^(?:failed|interrupted)$`,
  'i'
)

/**
 * True if a finish reason says that the answer is incomplete because of a failure, not because of the output limit. `unified` is the reason
 * of the AI SDK: `interrupted` if the provider's last event is missing. `raw` is the provider's own text.
 */
export const isBrokenEnd = (reason: { unified?: string, raw?: string } | undefined): boolean =>
  reason?.unified === 'interrupted' || reason?.unified === 'error' || BROKEN.test(reason?.raw ?? '')

const isBrokenOff = (part: LanguageModelV4StreamPart) => part.type === 'finish' && isBrokenEnd(part.finishReason)

/** True if the answer fails at this part: it reports an error, cannot be read, or says that the answer broke off. */
export const isFailure = (part: LanguageModelV4StreamPart): boolean => !isReadable(part) || part.type === 'error' || isBrokenOff(part)

/** Returns the failure of an answer that fails at this part. */
export function failureOf (part: LanguageModelV4StreamPart): unknown {
  if (!isReadable(part)) return new UnreadablePart('A part of the answer cannot be read.')
  return part.type === 'error' ? part.error : new Error(BROKE_OFF)
}

/** True if the part has the fields that the service uses. An empty tool name is accepted and handled like an unknown tool. */
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
