import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RunContext } from '../run-log/run-events.ts'

/**
 * Returns the messages before a conversation, which stay the same in every step of a run: the system messages. Each is kept apart, so
 * that a provider's cache holds the first ones also when a later one changes.
 */
export const openingOf = ({ system }: Pick<RunContext, 'system'>, ...more: string[]): LanguageModelV4Prompt =>
  [system, more].flat().map((content): LanguageModelV4Message => ({ role: 'system', content }))
