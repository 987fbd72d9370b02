import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'

type Options = LanguageModelV4CallOptions

const ANTHROPIC = /^anthropic\//

/** True for a structured call: it is made once, so storing it in a cache would only cost. */
const isMadeOnce = ({ responseFormat }: Options): boolean => responseFormat?.type === 'json'

/** Asks the gateway to place the marks that a model's provider needs for its cache; the call's own options win. */
export function withGatewayCaching (modelId: string, options: Options): Options {
  if (isMadeOnce(options)) return options
  const { providerOptions } = options
  return {
    ...ANTHROPIC.test(modelId) ? withSteadyToolChoice(options) : options,
    providerOptions: { ...providerOptions, gateway: { caching: 'auto', ...providerOptions?.gateway } }
  }
}

/**
 * Lets the model choose in every call. Anthropic's cache does not serve messages if the tool choice differs, so `none` in the last call of
 * a run would have the whole conversation read anew. Instead the last message says that no tool may be called, and a call that the model
 * makes anyway is not executed. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
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

/** Anthropic keeps what precedes a mark for five minutes. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching */
const MARK = { type: 'ephemeral' }
/** The number of last messages that are marked, so that the next call finds the end of this one among them. A call may have four marks. */
const MARKED_MESSAGES = 2

/**
 * Marks the points up to which Anthropic caches a prompt: the end of the first system message, which changes least and includes the
 * tools, and the last two messages.
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
