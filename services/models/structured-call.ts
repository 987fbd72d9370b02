import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { TSchema } from '@sinclair/typebox'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import type { Role } from '../contracts/model-role.ts'
import type { CallSettings } from './providers/registry.ts'
import { type BudgetError, isBudgetError, type Meter } from '../usage/index.ts'
import { generateWithin } from './whole-call.ts'

/** A question to a model that answers with structured data. */
interface StructuredQuestion<V> {
  /** The name of the response format, by which the offline model recognises the question. */
  name: string
  /** The schema that the model gets. */
  asked: TSchema
  /** Reads an answer about `text`; undefined when it cannot be read at all. */
  read: (answer: string, text: string) => V | undefined
  instructions: string
  text: string
  /** An earlier message of the same author, such as the conversation that the text continues. */
  earlier?: string
  /** Default: MAX_ANSWER_TOKENS. */
  maxAnswerTokens?: number
}

/** Asks the model of role `fast`; `More` is what the question says beside its words. */
export type Ask<More = object> = <V>(question: StructuredQuestion<V> & More) => Promise<{ value: V } | NoAnswer>

interface StructuredCall<V> extends StructuredQuestion<V> {
  /** `settings` are the user's for the role of the model. */
  load: () => Promise<{ id: string, model: LanguageModelV4, settings?: CallSettings }>
  /** The role in which the call is counted; `fast` by default. */
  role?: Role
  meter: Meter
  limitMs: number
  signal: AbortSignal
  clock: Clock
}

const userMessage = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })

/** Characters of an answer that are read; models that ignore its maximum length may send megabytes. */
const MAX_ANSWER_CHARACTERS = 512 * 1024
/** The maximum length of an answer, tokens. */
const MAX_ANSWER_TOKENS = 2_000

/** An answer that is missing: why, in words, and the error when a budget forbids the call. */
export interface NoAnswer {
  problem: string
  /** `unavailable` if the provider refused the call or could not be reached. */
  kind?: 'budget' | 'unavailable' | 'slow' | 'unreadable'
  refused?: BudgetError
}

/**
 * Asks a model for data that matches a schema, for the service itself (the answers of runs: services/runs/answers/). A failure, a
 * timeout after `limitMs` milliseconds or an invalid answer resolves to a `problem` in words, as does a call that a budget forbids
 * (`refused`); rejects only with the signal's reason.
 */
export async function askStructured<V> ({
  load,
  role = 'fast',
  meter,
  name,
  asked,
  read,
  instructions,
  text,
  earlier,
  maxAnswerTokens = MAX_ANSWER_TOKENS,
  limitMs,
  signal,
  clock
}: StructuredCall<V>): Promise<{ value: V } | NoAnswer> {
  try {
    const answer = await generateWithin({
      load,
      options: (settings) => ({
        prompt: [
          { role: 'system', content: instructions },
          ...(earlier === undefined ? [] : [userMessage(earlier)]),
          userMessage(text)
        ],
        responseFormat: { type: 'json', name, schema: asked as never },
        maxOutputTokens: Math.min(maxAnswerTokens, settings?.maxOutputTokens ?? maxAnswerTokens),
        // The answer is short and the caller waits; tokens of reasoning would count against the limit.
        reasoning: 'none'
      }),
      role,
      meter,
      limitMs,
      signal,
      clock
    })
    if (answer.length > MAX_ANSWER_CHARACTERS) return { problem: 'was too long', kind: 'unreadable' }
    const value = read(answer, text)
    return value === undefined ? { problem: 'could not be read', kind: 'unreadable' } : { value }
  } catch (error) {
    signal.throwIfAborted()
    if (isBudgetError(error)) return { problem: 'was not made, because a budget is used up', kind: 'budget', refused: error }
    return abortKind(error) === 'timeout' ? { problem: 'took too long', kind: 'slow' } : { problem: 'failed', kind: 'unavailable' }
  }
}
