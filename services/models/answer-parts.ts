import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { isSameJson } from '../lib/json.ts'

/** The finish reasons that the SDK knows. The SDK turns any other reason of a provider into `other`. */
const KNOWN: ReadonlySet<string> = new Set<LanguageModelV4FinishReason['unified']>(['stop', 'length', 'content-filter', 'tool-calls'])

/**
 * Creates the function that corrects the parts of one answer, for any provider. A tool call that the provider repeats with the same id,
 * name and input is dropped, so that the call is executed once. If a call begins with the id of an earlier call, its parts are held back
 * until it is known whether the call is a repetition. At the end of the answer, texts that are still open are ended, and an unknown finish
 * reason becomes `stop` or `tool-calls`.
 */
export function createAnswerParts () {
  const ended = new Map<string, LanguageModelV4ToolCall[]>()
  const held = new Map<string, LanguageModelV4StreamPart[]>()
  /** The ids of the texts that have begun and not ended. */
  const openTexts = new Set<string>()
  let hasCalls = false

  function readCall (call: LanguageModelV4ToolCall): LanguageModelV4StreamPart[] {
    const { toolCallId: id, toolName, input } = call
    const earlier = ended.get(id) ?? []
    const waiting = held.get(id) ?? []
    held.delete(id)
    if (earlier.some((other) => other.toolName === toolName && isSameJson(other.input, input))) return []
    ended.set(id, [...earlier, call])
    hasCalls = true
    return [...waiting, call]
  }

  /** Returns the parts that are still held back, without those that repeat the beginning of an earlier call. */
  function readHeld (): LanguageModelV4StreamPart[] {
    return [...held].flatMap(([id, parts]) => {
      const input = parts.map((part) => part.type === 'tool-input-delta' ? part.delta : '').join('')
      return ended.get(id)?.some((other) => other.input.startsWith(input)) ? [] : parts
    })
  }

  function read (part: LanguageModelV4StreamPart): LanguageModelV4StreamPart[] {
    switch (part.type) {
      case 'tool-input-start':
        if (!ended.has(part.id) || part.providerExecuted) return [part]
        held.set(part.id, [part])
        return []
      case 'tool-input-delta':
      case 'tool-input-end': {
        const waiting = held.get(part.id)
        waiting?.push(part)
        return waiting === undefined ? [part] : []
      }
      case 'tool-call':
        return part.providerExecuted ? [part] : readCall(part)
      case 'text-delta':
        openTexts.add(part.id)
        return [part]
      case 'text-end':
        openTexts.delete(part.id)
        return [part]
      case 'finish': {
        const { unified, raw } = part.finishReason ?? {}
        const finishReason = KNOWN.has(unified) ? part.finishReason : { unified: hasCalls ? 'tool-calls' as const : 'stop' as const, raw }
        return [...readHeld(), ...[...openTexts].map((id) => ({ type: 'text-end' as const, id })), { ...part, finishReason }]
      }
      default:
        return [part]
    }
  }

  /** True if a part continues a text that has begun, as most parts do. */
  const isMoreText = (part: LanguageModelV4StreamPart) => part.type === 'text-delta' && openTexts.has(part.id)

  return {
    mend: (parts: readonly LanguageModelV4StreamPart[]): readonly LanguageModelV4StreamPart[] =>
      parts.every(isMoreText) ? parts : parts.flatMap(read)
  }
}
