import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { generateId, StreamingToolCallTracker } from '@ai-sdk/provider-utils'
import type { ToolCallDelta } from './read-chunk.ts'

/**
 * Puts together the tool calls that an answer brings in pieces. The SDK's tracker, which its own readers use, decides which call
 * a piece belongs to; it needs the name in the first piece, so pieces before the name wait here.
 */
export function createToolCalls (metadataKey: string, enqueue: (part: LanguageModelV4StreamPart) => void) {
  const waiting = new Map<number, ToolCallDelta & { index: number, function: { arguments: string } }>()
  const begun = new Set<number>()
  const tracker = new StreamingToolCallTracker<ToolCallDelta>({ enqueue }, {
    generateId,
    extractMetadata ({ extra_content: extra }) {
      const thoughtSignature = extra?.google?.thought_signature
      return thoughtSignature ? { [metadataKey]: { thoughtSignature } } : undefined
    },
    buildToolCallProviderMetadata: (metadata) => metadata
  })

  return {
    /** Takes a piece. Throws InvalidResponseDataError when it begins a call without a name. */
    take (delta: ToolCallDelta) {
      const { index } = delta
      if (index == null || begun.has(index)) return tracker.processDelta(delta)
      const call = waiting.get(index) ?? { index, function: { arguments: '' } }
      waiting.set(index, call)
      call.id ??= delta.id
      call.extra_content ??= delta.extra_content
      call.function.arguments += delta.function.arguments ?? ''
      const { name } = delta.function
      if (name == null) return
      tracker.processDelta({ ...call, function: { name, arguments: call.function.arguments } })
      waiting.delete(index)
      begun.add(index)
    },
    /** Ends all calls. Throws InvalidResponseDataError when one has no name. */
    end () {
      for (const { index, id, function: { arguments: input } } of waiting.values()) {
        tracker.processDelta({ index, id, function: { arguments: input } })
      }
      waiting.clear()
      tracker.flush()
    }
  }
}
