import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** A part of a model's answer that is none: providers' servers send what they like, and not every SDK looks at it. */
export class UnreadablePart extends Error {
  readonly code = 'ERR_ANSWER_UNREADABLE'
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Throws UnreadablePart unless the part has what is made use of. A call of a tool that has no name is one of no tool, as any other odd name. */
export function checkPart (part: LanguageModelV4StreamPart): void {
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
