import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { Clock } from '../../lib/clock.ts'
import { askStructured, type ContextWindows, type Registry, withOwnMetadata } from '../../models/index.ts'
import type { Meter } from '../../usage/index.ts'
import type { Compactor, CompactorParts } from './compactor.ts'

/** The time limit of a summary, milliseconds. If it passes, the run continues without the summary. */
const SUMMARY_MS = 30_000

interface OpenCompactor extends Pick<CompactorParts, 'load' | 'keep' | 'onCompaction'> {
  registry: Registry & ContextWindows
  clock: Clock
  signal: AbortSignal
  meter: Meter
}

/**
 * Opens the compactor of one run. Its prompts do not contain data that other models attached to their answers. The module of the compactor
 * is loaded at its first use.
 */
export async function openCompactor ({ registry, clock, signal, meter, ...parts }: OpenCompactor): Promise<Compactor> {
  const { createCompactor } = await import('./compactor.ts')
  const compactor = createCompactor({
    ...parts,
    contextWindow: (id, tokens) => registry.contextWindow(id, tokens, signal),
    ask: (question) => askStructured({ load: () => registry.model('fast'), limitMs: SUMMARY_MS, signal, clock, meter, ...question }),
    askedWindow: (tokens) => registry.contextWindow(registry.roles().fast, tokens, signal)
  })
  return {
    async compact (id, conversation, tooLong) {
      const messages = withOwnMetadata(registry.origin(id), conversation.messages)
      const places = new Map<LanguageModelV4Message, number>()
      for (const [n, message] of conversation.messages.entries()) {
        const place = conversation.places?.get(message)
        if (place !== undefined) places.set(messages[n], place)
      }
      const prompt = await compactor.compact(id, { ...conversation, messages, ...(conversation.places && { places }) }, tooLong)
      return prompt?.filter(({ content }) => content.length > 0)
    }
  }
}
