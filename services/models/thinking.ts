import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'

/**
 * Models that bind each block of thinking to the system prompt, tools and messages before it. Other models refuse the
 * option `blockBinding`. These models always think, so the option does not switch thinking on.
 * Source: @ai-sdk/anthropic 4.0.105, docs/05-anthropic.mdx, "Thinking Binding Controls".
 */
const BINDS_THINKING = /(?:^|\/)claude-(?:fable-5[.-][12]|opus-5[.-]5|sonnet-5[.-]5)(?![\d.])/

/** Makes the provider drop thinking whose conversation has changed since; without it such a call fails with 400. */
const BLOCK_BINDING = { prefixMismatchBehavior: 'drop_block' }

type Thinking = { type?: string, blockBinding?: unknown }

/** Adds `blockBinding` to the options of a call when the model supports it, so that the call accepts a changed conversation. */
export function withBlockBinding<T extends LanguageModelV4CallOptions> (modelId: string, options: T): T {
  const { thinking, ...anthropic } = (options.providerOptions?.anthropic ?? {}) as { thinking?: Thinking }
  // Only adaptive thinking accepts further settings.
  const acceptsSettings = thinking?.type === undefined || thinking.type === 'adaptive'
  // With a setting for thinking, the SDK would not apply `reasoning`.
  const isWithoutThinking = options.reasoning === 'none' &&
    !options.prompt.some(({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'reasoning'))
  if (!BINDS_THINKING.test(modelId) || !acceptsSettings || isWithoutThinking) return options
  return {
    ...options,
    providerOptions: {
      ...options.providerOptions,
      anthropic: { ...anthropic, thinking: { blockBinding: BLOCK_BINDING, ...thinking } }
    } as SharedV4ProviderOptions
  }
}
