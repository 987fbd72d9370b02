import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { Clock } from '../../lib/clock.ts'
import type { Registry } from '../../providers/registry.ts'
import type { ContextWindows } from '../../providers/context-windows.ts'
import { ownedBy } from '../provenance.ts'
import type { Compactor, CompactorParts } from './compactor.ts'
import { askStructured } from '../structured-call.ts'

/** What makes a summary has this long; then the run goes on without. Milliseconds. */
const SUMMARY_MS = 30_000

export interface OpenCompactor extends Pick<CompactorParts, 'load' | 'keep' | 'say'> {
  registry: Registry & ContextWindows
  clock: Clock
  signal: AbortSignal
}

/**
 * What makes the conversation of one run fit its models, and leaves out of it what other models have attached to their
 * answers; loaded when first needed.
 */
export async function openCompactor ({ registry, clock, signal, ...parts }: OpenCompactor): Promise<Compactor> {
  const { createCompactor } = await import('./compactor.ts')
  const room = createCompactor({
    ...parts,
    contextWindow: (id, tokens) => registry.contextWindow(id, tokens, signal),
    ask: (question) => askStructured({ load: () => registry.model('fast'), limitMs: SUMMARY_MS, signal, clock, ...question }),
    askedWindow: (tokens) => registry.contextWindow(registry.roles().fast, tokens, signal)
  })
  return {
    async compact (id, conversation, tooLong) {
      const messages = ownedBy(id, conversation.messages)
      const places = new Map<LanguageModelV4Message, number>()
      for (const [n, message] of conversation.messages.entries()) {
        const place = conversation.places?.get(message)
        if (place !== undefined) places.set(messages[n], place)
      }
      const prompt = await room.compact(id, { ...conversation, messages, ...(conversation.places && { places }) }, tooLong)
      return prompt?.filter(({ content }) => content.length > 0)
    }
  }
}
