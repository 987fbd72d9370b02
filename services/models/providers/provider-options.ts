import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'

type Settings = SharedV4ProviderOptions[string]

/** Settings of the SDK's packages that say how much a model reasons. */
const EFFORT = ['effort', 'reasoning', 'reasoningEffort', 'thinkingBudget', 'thinkingLevel']
/** Settings of the SDK's packages that make a model reason. */
const REASONING = ['effort', 'reasoning', 'reasoningEffort', 'reasoningSummary', 'thinking', 'thinkingConfig']

/**
 * Returns the model with `providerOptions` of config.json added to each call; the call's own options win. A call with an effort
 * of its own gets no configured one, and a call that asks for no reasoning gets none of the configured settings for reasoning.
 */
export function withProviderOptions (model: LanguageModelV4, configured: SharedV4ProviderOptions | undefined): LanguageModelV4 {
  if (configured === undefined) return model
  const extended = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const merged: SharedV4ProviderOptions = { ...options.providerOptions }
    for (const [name, settings] of Object.entries(configured)) {
      merged[name] = { ...usedBy(options.reasoning, settings), ...merged[name] }
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

/** Returns the settings for a call with this effort: with a configured effort, the packages would ignore that of the call. */
function usedBy (effort: LanguageModelV4CallOptions['reasoning'], settings: Settings): Settings {
  if (effort === undefined || effort === 'provider-default') return settings
  if (effort === 'none') return without(REASONING, settings)
  const { thinking, thinkingConfig, ...others } = settings
  return {
    ...without(EFFORT, others),
    ...(isObject(thinking) && (thinking.type === undefined || thinking.type === 'adaptive') && { thinking }),
    ...(isObject(thinkingConfig) && { thinkingConfig: without(EFFORT, thinkingConfig) })
  }
}

const without = (names: readonly string[], settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)))

const isObject = (value: unknown): value is Settings => typeof value === 'object' && value !== null
