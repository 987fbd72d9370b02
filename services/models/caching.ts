import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'

type Options = LanguageModelV4CallOptions

const ANTHROPIC = /^anthropic\//

/** True for a structured call: such a call is made once, so caching its prompt would cost more and save nothing. */
const isMadeOnce = ({ responseFormat }: Options): boolean => responseFormat?.type === 'json'

/** Asks the gateway to set the cache points that the provider of a model needs. The call's own options take precedence. */
export function withGatewayCaching (modelId: string, options: Options): Options {
  if (isMadeOnce(options)) return options
  const { providerOptions } = options
  return {
    ...ANTHROPIC.test(modelId) ? withSteadyToolChoice(options) : options,
    providerOptions: { ...providerOptions, gateway: { caching: 'auto', ...providerOptions?.gateway } }
  }
}

/**
 * Replaces the tool choice `none` by `auto`. Anthropic's cache does not serve messages if the tool choice has changed, so `none` in the
 * last call of a run would have the whole conversation processed anew. Instead, the last message says that no tool can be called, and a
 * call that the model makes anyway is not executed. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
const withSteadyToolChoice = (options: Options): Options =>
  options.toolChoice?.type === 'none' ? { ...options, toolChoice: { type: 'auto' } } : options

/** Joins the system messages at the beginning, for providers that accept only one. */
export function withOneSystemMessage<T extends Pick<Options, 'prompt'>> (options: T): T {
  const { prompt } = options
  const others = prompt.findIndex(({ role }) => role !== 'system')
  const count = others === -1 ? prompt.length : others
  if (count < 2) return options
  const content = prompt.slice(0, count).map(({ content }) => content).join('\n\n')
  const joined: LanguageModelV4Prompt = [{ role: 'system', content }, ...prompt.slice(count)]
  return { ...options, prompt: joined }
}

/**
 * Anthropic caches the prompt up to a marked message for five minutes. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
const MARK = { type: 'ephemeral' }
/**
 * The number of messages at the end of the prompt that are marked, so that the next call finds this prompt in the cache. A call can have
 * four marks.
 */
const MARKED_MESSAGES = 2

/**
 * Marks the points up to which Anthropic caches a prompt: the first system message and the last two messages. The first system message
 * changes least often, and the tools are cached with it.
 */
export function withCachePoints (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  if (isMadeOnce(options)) return options
  const { prompt } = options
  const system = prompt.findIndex(({ role }) => role === 'system')
  const isMarked = ({ role }: LanguageModelV4Prompt[number], index: number) =>
    index === system || (role !== 'system' && index >= prompt.length - MARKED_MESSAGES)
  return {
    ...withSteadyToolChoice(options),
    prompt: prompt.map((message, index) => isMarked(message, index) ? marked(message) : message)
  }
}

const marked = (message: LanguageModelV4Prompt[number]): LanguageModelV4Prompt[number] => ({
  ...message,
  providerOptions: { ...message.providerOptions, anthropic: { cacheControl: MARK, ...message.providerOptions?.anthropic } }
})
