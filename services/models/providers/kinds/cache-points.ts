import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { isMadeOnce, withSteadyToolChoice } from '../../caching.ts'

/** Anthropic keeps what precedes a mark for five minutes. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching */
const MARK = { type: 'ephemeral' }
/** The last messages that are marked: the next call finds the end of this one among them. Four marks are allowed in a call. */
const MARKED_MESSAGES = 2

/**
 * Marks the points up to which Anthropic caches a prompt: the end of the first system message, which changes least and includes the
 * tools, and the last two messages.
 */
export function withCachePoints (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  if (isMadeOnce(options)) return options
  const { prompt } = options
  const system = prompt.findIndex(({ role }) => role === 'system')
  return {
    ...withSteadyToolChoice(options),
    prompt: prompt.map((message, index) => index === system || index >= prompt.length - MARKED_MESSAGES ? marked(message) : message)
  }
}

const marked = (message: LanguageModelV4Prompt[number]): LanguageModelV4Prompt[number] => ({
  ...message,
  providerOptions: { ...message.providerOptions, anthropic: { cacheControl: MARK, ...message.providerOptions?.anthropic } }
})
