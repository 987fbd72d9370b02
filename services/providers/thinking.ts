import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'

/**
 * Models that bind each block of thinking to the system prompt, tools and messages before it. Only they know
 * `blockBinding`; others refuse it. They always think, so naming it turns nothing on.
 * Source: @ai-sdk/anthropic 4.0.105, docs/05-anthropic.mdx, "Thinking Binding Controls".
 */
const BINDS_THINKING = /(?:^|\/)claude-(?:fable-5[.-][12]|opus-5[.-]5|sonnet-5[.-]5)(?![\d.])/

/** Thinking whose conversation has changed since is left out by the provider; without this the call fails with 400. */
const BLOCK_BINDING = { prefixMismatchBehavior: 'drop_block' }

type Thinking = { type?: string, blockBinding?: unknown }

/** The options of a call of an Anthropic model, with what lets thinking survive a changed conversation where the model knows it. */
export function withBlockBinding<T extends LanguageModelV4CallOptions> (modelId: string, options: T): T {
  const { thinking, ...anthropic } = (options.providerOptions?.anthropic ?? {}) as { thinking?: Thinking }
  // The other types of thinking take no further settings.
  const isTaken = thinking?.type === undefined || thinking.type === 'adaptive'
  if (!BINDS_THINKING.test(modelId) || !isTaken) return options
  return {
    ...options,
    providerOptions: {
      ...options.providerOptions,
      anthropic: { ...anthropic, thinking: { blockBinding: BLOCK_BINDING, ...thinking } }
    } as SharedV4ProviderOptions
  }
}
