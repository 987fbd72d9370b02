import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** Settings of the SDK's packages that make a model reason. */
const REASONING = ['effort', 'reasoning', 'reasoningEffort', 'reasoningSummary', 'thinking', 'thinkingConfig']

/**
 * Returns the model with `providerOptions` of config.json added to each call; the call's own options win. A call that asks for
 * no reasoning gets none of the configured settings for reasoning.
 */
export function withProviderOptions (model: LanguageModelV4, configured: SharedV4ProviderOptions | undefined): LanguageModelV4 {
  if (configured === undefined) return model
  const extended = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const merged: SharedV4ProviderOptions = { ...options.providerOptions }
    for (const [name, settings] of Object.entries(configured)) {
      const used = Object.entries(settings).filter(([setting]) => options.reasoning !== 'none' || !REASONING.includes(setting))
      merged[name] = { ...Object.fromEntries(used), ...merged[name] }
    }
    return { ...options, providerOptions: merged }
  }
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(extended(options)),
    doStream: (options) => model.doStream(extended(options))
  }
}
